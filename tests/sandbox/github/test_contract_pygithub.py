"""PyGithub, used as people use it, must understand every reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import github as pygithub
import pytest
from github import Auth, Github
from sandbox.github import Job, Runner, Simulator

OWNER = "octo-org"
REPO = f"{OWNER}/gpu-tests"


@pytest.fixture
def client(served: Simulator) -> Iterator[Github]:
    with Github(
        auth=Auth.Token("admin"),
        base_url=served.url,
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
    ) as made:
        yield made


@pytest.fixture
def runner(served: Simulator) -> Runner:
    return served.add_runner(REPO, "node-1", ["gpu"], default_labels=True)


@pytest.fixture
def job(served: Simulator, runner: Runner) -> Job:
    job = served.queue_job(REPO, None, "test", ["gpu"])
    served.acquire_job(job.id)
    return served.finish_job(job.id)


def ask(client: Github, method: str, path: str, body: Any = None) -> Any:
    """What PyGithub has no method for goes through its requester."""
    _, data = client.requester.requestJsonAndCheck(method, path, input=body)
    return data


class TestRunners:
    def test_the_list_is_followed_over_its_pages(self, client: Github, served: Simulator) -> None:
        for number in range(70):
            served.add_runner(REPO, f"node-{number}", ["gpu"])
        found = client.get_repo(REPO).get_self_hosted_runners()
        assert (found.totalCount, len(list(found))) == (70, 70)

    def test_the_list_of_an_organization(self, client: Github, served: Simulator) -> None:
        for number in range(3):
            served.add_runner(OWNER, f"node-{number}", ["gpu"])
        client.per_page = 2
        organization = client.get_organization(OWNER)
        assert [one.name for one in organization.get_self_hosted_runners()] == [
            "node-0",
            "node-1",
            "node-2",
        ]

    def test_get_and_delete(self, client: Github, runner: Runner) -> None:
        repository = client.get_repo(REPO)
        found = repository.get_self_hosted_runner(runner.id)
        assert (found.name, found.os, found.status, found.busy) == (
            "node-1",
            "Linux",
            "online",
            False,
        )
        assert [(label["name"], label["type"]) for label in found.labels] == [
            ("self-hosted", "read-only"),
            ("Linux", "read-only"),
            ("X64", "read-only"),
            ("gpu", "custom"),
        ]
        assert repository.remove_self_hosted_runner(runner.id) is True
        assert repository.remove_self_hosted_runner(runner.id) is False

    def test_tokens_and_jit_of_an_organization(self, client: Github) -> None:
        organization = client.get_organization(OWNER)
        registration = organization.create_self_hosted_runner_registration_token()
        removal = organization.create_self_hosted_runner_remove_token()
        assert registration.token != removal.token
        assert registration.expires_at.utcoffset() is not None
        made = organization.create_self_hosted_runner_jitconfig("jit", 1, ["gpu"])
        assert made.runner.name == "jit"

    def test_tokens_and_jit_of_a_repository(self, client: Github) -> None:
        runners = f"/repos/{REPO}/actions/runners"
        assert ask(client, "POST", f"{runners}/registration-token")["token"]
        assert ask(client, "POST", f"{runners}/remove-token")["token"]
        body = {"name": "jit", "runner_group_id": 1, "labels": ["gpu"]}
        assert ask(client, "POST", f"{runners}/generate-jitconfig", body)["encoded_jit_config"]
        with pytest.raises(pygithub.GithubException, match="already exists") as caught:
            ask(client, "POST", f"{runners}/generate-jitconfig", body)
        assert caught.value.status == 409

    def test_labels(self, client: Github, runner: Runner) -> None:
        labels = f"/repos/{REPO}/actions/runners/{runner.id}/labels"
        assert ask(client, "POST", labels, {"labels": ["lease"]})["total_count"] == 5
        assert ask(client, "DELETE", f"{labels}/lease")["total_count"] == 4
        with pytest.raises(pygithub.UnknownObjectException):
            ask(client, "DELETE", f"{labels}/lease")


class TestRest:
    def test_repository_user_and_limits(self, client: Github) -> None:
        repository = client.get_repo(REPO)
        assert repository.permissions.admin
        assert repository.default_branch == "main"
        assert client.get_user().login == "octocat"
        assert client.get_rate_limit().resources.core.limit == 5000
        # The repository and the user were charged for; asking for the limit was not.
        assert client.rate_limiting == (4998, 5000)

    def test_runs_and_jobs(self, client: Github, job: Job) -> None:
        repository = client.get_repo(REPO)
        (run,) = repository.get_workflow_runs(status="completed")
        assert (run.id, run.conclusion, run.head_commit.sha) == (
            job.run_id,
            "success",
            run.head_sha,
        )
        (found,) = run.jobs("all")
        assert (found.id, found.runner_name, found.labels) == (job.id, "node-1", ["gpu"])
        assert [step.conclusion for step in found.steps] == ["success"]
        assert run.rerun()
        assert repository.get_workflow_run(run.id).run_attempt == 2
        assert run.cancel()

    def test_variables(self, client: Github) -> None:
        repository = client.get_repo(REPO)
        made = repository.create_variable("lease", "1")
        assert made.edit("2")
        assert [(one.name, one.value) for one in repository.get_variables()] == [("LEASE", "2")]
        assert repository.delete_variable("LEASE")

    def test_refs_and_commits(self, client: Github) -> None:
        repository = client.get_repo(REPO)
        head = repository.get_git_ref("heads/main")
        ref = repository.create_git_ref("refs/leases/a", head.object.sha)
        parent = repository.get_git_commit(head.object.sha)
        commit = repository.create_git_commit("lease", parent.tree, [parent])
        ref.edit(commit.sha)
        assert [found.ref for found in repository.get_git_matching_refs("leases/")] == [
            "refs/leases/a"
        ]
        with pytest.raises(pygithub.GithubException, match="Reference already exists"):
            repository.create_git_ref("refs/leases/a", head.object.sha)
        ref.delete()

    def test_errors_become_the_right_exceptions(self, client: Github, served: Simulator) -> None:
        bad = Github(auth=Auth.Token("unknown"), base_url=served.url, retry=None)
        with pytest.raises(pygithub.BadCredentialsException):
            bad.get_repo(REPO)
        served.set_rate_limit_used("admin", 5000)
        with pytest.raises(pygithub.RateLimitExceededException):
            client.get_repo(REPO)
