"""Every reply must fit the typed models that githubkit generates from GitHub's OpenAPI schema."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from githubkit import AppAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.exception import RequestFailed
from sandbox.github import Job, Runner, Simulator, VirtualClock, apps, groups

from tests.runner_fleet.keys import key_pair

OWNER, NAME = "octo-org", "gpu-tests"
REPO = f"{OWNER}/{NAME}"


@pytest.fixture
def client(served: Simulator) -> Iterator[GitHub[TokenAuthStrategy]]:
    made = GitHub(
        TokenAuthStrategy("admin"), base_url=served.url, auto_retry=False, http_cache=False
    )
    with made:
        yield made


@pytest.fixture
def runner(served: Simulator) -> Runner:
    return served.add_runner(REPO, "node-1", ["gpu"], default_labels=True)


@pytest.fixture
def org_runner(served: Simulator) -> Runner:
    return served.add_runner(OWNER, "node-2", ["gpu"], default_labels=True, ephemeral=True)


@pytest.fixture
def job(served: Simulator, runner: Runner) -> Job:
    """A job that has run on a runner."""
    job = served.queue_job(REPO, None, "test", ["gpu"])
    served.acquire_job(job.id)
    return served.finish_job(job.id)


def parsed(response: Any) -> Any:
    """What githubkit makes of the reply; its pydantic models raise on anything they reject."""
    return response.parsed_data


class TestRunners:
    @pytest.mark.usefixtures("runner", "org_runner")
    def test_list(self, client: Any) -> None:
        in_repo = parsed(client.rest.actions.list_self_hosted_runners_for_repo(OWNER, NAME))
        in_org = parsed(client.rest.actions.list_self_hosted_runners_for_org(OWNER))
        assert [found.name for found in in_repo.runners] == ["node-1"]
        assert [(found.name, found.ephemeral) for found in in_org.runners] == [("node-2", True)]
        assert in_repo.runners[0].labels[0].type == "read-only"

    def test_get(self, client: Any, runner: Runner, org_runner: Runner) -> None:
        actions = client.rest.actions
        in_repo = parsed(actions.get_self_hosted_runner_for_repo(OWNER, NAME, runner.id))
        in_org = parsed(actions.get_self_hosted_runner_for_org(OWNER, org_runner.id))
        assert (in_repo.version, in_org.os) == ("2.335.1", "Linux")

    def test_delete(self, client: Any, runner: Runner, org_runner: Runner) -> None:
        actions = client.rest.actions
        in_repo = actions.delete_self_hosted_runner_from_repo(OWNER, NAME, runner.id)
        in_org = actions.delete_self_hosted_runner_from_org(OWNER, org_runner.id)
        assert (in_repo.status_code, in_org.status_code) == (204, 204)

    def test_tokens(self, client: Any, served: Simulator) -> None:
        actions = client.rest.actions
        for response in (
            actions.create_registration_token_for_repo(OWNER, NAME),
            actions.create_remove_token_for_repo(OWNER, NAME),
            actions.create_registration_token_for_org(OWNER),
            actions.create_remove_token_for_org(OWNER),
        ):
            assert response.status_code == 201
            expires: datetime = parsed(response).expires_at
            assert expires - served.state.now() == timedelta(hours=1)

    def test_jit_configuration(self, client: Any) -> None:
        body = {"name": "jit", "runner_group_id": 1, "labels": ["default"]}
        actions = client.rest.actions
        in_repo = parsed(actions.generate_runner_jitconfig_for_repo(OWNER, NAME, data=body))
        in_org = parsed(actions.generate_runner_jitconfig_for_org(OWNER, data=body))
        assert in_repo.runner.os == in_org.runner.os == "unknown"

    def test_downloads(self, client: Any) -> None:
        in_repo = parsed(client.rest.actions.list_runner_applications_for_repo(OWNER, NAME))
        in_org = parsed(client.rest.actions.list_runner_applications_for_org(OWNER))
        assert in_repo == in_org
        assert ("linux", "arm64") in [(found.os, found.architecture) for found in in_repo]

    def test_latest_release(self, client: Any) -> None:
        release = parsed(client.rest.repos.get_latest_release("actions", "runner"))
        assert release.tag_name == "v2.335.1"
        assert release.assets[0].digest.startswith("sha256:")

    def test_labels_of_a_repository(self, client: Any, runner: Runner) -> None:
        actions, where = client.rest.actions, (OWNER, NAME, runner.id)
        one = {"labels": ["lease"]}
        for response in (
            actions.list_labels_for_self_hosted_runner_for_repo(*where),
            actions.add_custom_labels_to_self_hosted_runner_for_repo(*where, data=one),
            actions.set_custom_labels_for_self_hosted_runner_for_repo(*where, data=one),
            actions.remove_custom_label_from_self_hosted_runner_for_repo(*where, "lease"),
            actions.remove_all_custom_labels_from_self_hosted_runner_for_repo(*where),
        ):
            found = parsed(response)
            assert found.total_count == len(found.labels)

    def test_labels_of_an_organization(self, client: Any, org_runner: Runner) -> None:
        actions, where = client.rest.actions, (OWNER, org_runner.id)
        one = {"labels": ["lease"]}
        for response in (
            actions.list_labels_for_self_hosted_runner_for_org(*where),
            actions.add_custom_labels_to_self_hosted_runner_for_org(*where, data=one),
            actions.set_custom_labels_for_self_hosted_runner_for_org(*where, data=one),
            actions.remove_custom_label_from_self_hosted_runner_for_org(*where, "lease"),
            actions.remove_all_custom_labels_from_self_hosted_runner_for_org(*where),
        ):
            found = parsed(response)
            assert found.total_count == len(found.labels)

    def test_groups(self, client: Any, org_runner: Runner) -> None:
        actions = client.rest.actions
        groups = parsed(actions.list_self_hosted_runner_groups_for_org(OWNER))
        assert [(group.id, group.name) for group in groups.runner_groups] == [(1, "Default")]
        assert parsed(actions.get_self_hosted_runner_group_for_org(OWNER, 1)).default
        members = parsed(actions.list_self_hosted_runners_in_group_for_org(OWNER, 1))
        assert [found.id for found in members.runners] == [org_runner.id]

    def test_other_groups(self, client: Any, served: Simulator) -> None:
        added = groups.add(served.state, OWNER, "gpu", ["octo-org/other"])
        actions = client.rest.actions
        found = parsed(actions.list_self_hosted_runner_groups_for_org(OWNER)).runner_groups
        assert [group.name for group in found] == ["Default", "gpu"]
        assert found[1].visibility == "selected"
        seen = parsed(
            actions.list_self_hosted_runner_groups_for_org(OWNER, visible_to_repository=NAME)
        )
        assert [group.name for group in seen.runner_groups] == ["Default"]
        body = {"name": "jit", "runner_group_id": added.id, "labels": ["default"]}
        made = parsed(actions.generate_runner_jitconfig_for_org(OWNER, data=body))
        assert made.runner.runner_group_id == added.id


def test_an_app_finds_its_installation_and_gets_a_token(
    served: Simulator, clock: VirtualClock
) -> None:
    """githubkit signs by the real time."""
    clock.advance(seconds=time.time() - clock().timestamp())
    permissions = {"administration": "write", "metadata": "read"}
    added = apps.install(served.state, "12345", key_pair().public, OWNER, permissions)
    strategy = AppAuthStrategy("12345", key_pair().private)
    with GitHub(strategy, base_url=served.url, auto_retry=False, http_cache=False) as client:
        for response in (
            client.rest.apps.get_repo_installation(OWNER, NAME),
            client.rest.apps.get_org_installation(OWNER),
        ):
            found = parsed(response)
            assert (found.id, found.permissions.administration) == (added.id, "write")
        made = parsed(
            client.rest.apps.create_installation_access_token(added.id, repositories=[NAME])
        )
        assert [one.full_name for one in made.repositories] == [REPO]
        assert made.repository_selection == "selected"


class TestRuns:
    def test_runs(self, client: Any, job: Job) -> None:
        actions = client.rest.actions
        listed = parsed(actions.list_workflow_runs_for_repo(OWNER, NAME, status="completed"))
        assert [run.id for run in listed.workflow_runs] == [job.run_id]
        run = parsed(actions.get_workflow_run(OWNER, NAME, job.run_id))
        assert run == listed.workflow_runs[0]
        assert parsed(actions.list_workflow_runs(OWNER, NAME, "ci.yml")).total_count == 1
        assert parsed(actions.get_workflow_run_attempt(OWNER, NAME, job.run_id, 1)) == run

    def test_jobs(self, client: Any, served: Simulator, job: Job) -> None:
        served.queue_job(REPO, job.run_id, "waits", ["other"])
        actions = client.rest.actions
        for response in (
            actions.list_jobs_for_workflow_run(OWNER, NAME, job.run_id, filter_="all"),
            actions.list_jobs_for_workflow_run_attempt(OWNER, NAME, job.run_id, 1),
        ):
            done, waits = parsed(response).jobs
            assert (done.runner_name, done.conclusion) == ("node-1", "success")
            assert (waits.runner_id, waits.status) == (None, "queued")
        found = parsed(actions.get_job_for_workflow_run(OWNER, NAME, job.id))
        assert found.steps[0].conclusion == "success"

    def test_orders(self, client: Any, served: Simulator, job: Job) -> None:
        actions = client.rest.actions
        assert actions.re_run_workflow(OWNER, NAME, job.run_id).status_code == 201
        assert actions.cancel_workflow_run(OWNER, NAME, job.run_id).status_code == 202
        failed = actions.re_run_workflow_failed_jobs(OWNER, NAME, job.run_id)
        assert failed.status_code == 201
        assert actions.force_cancel_workflow_run(OWNER, NAME, job.run_id).status_code == 202
        last = served.jobs()[-1]
        again = actions.re_run_job_for_workflow_run(OWNER, NAME, last.id)
        assert (again.status_code, parsed(again) is not None) == (201, True)

    @pytest.mark.usefixtures("job")
    def test_workflow_dispatch(self, client: Any, served: Simulator) -> None:
        made = client.rest.actions.create_workflow_dispatch(OWNER, NAME, "ci.yml", ref="main")
        assert parsed(made).workflow_run_id == served.runs()[-1].id


class TestRest:
    def test_repository_user_and_rate_limit(self, client: Any) -> None:
        assert parsed(client.rest.repos.get(OWNER, NAME)).permissions.admin
        assert parsed(client.rest.orgs.get(OWNER)).login == OWNER
        assert parsed(client.rest.users.get_authenticated()).login == "octocat"
        assert parsed(client.rest.rate_limit.get()).resources.core.limit == 5000

    def test_variables(self, client: Any) -> None:
        actions = client.rest.actions
        made = actions.create_repo_variable(OWNER, NAME, name="lease", value="1")
        assert made.status_code == 201
        assert parsed(actions.get_repo_variable(OWNER, NAME, "LEASE")).value == "1"
        changed = actions.update_repo_variable(OWNER, NAME, "LEASE", value="2")
        assert changed.status_code == 204
        listed = parsed(actions.list_repo_variables(OWNER, NAME))
        assert [(one.name, one.value) for one in listed.variables] == [("LEASE", "2")]
        assert actions.delete_repo_variable(OWNER, NAME, "LEASE").status_code == 204

    def test_refs_and_commits(self, client: Any) -> None:
        git = client.rest.git
        main = parsed(git.get_ref(OWNER, NAME, "heads/main"))
        head = parsed(git.get_commit(OWNER, NAME, main.object_.sha))
        made = parsed(git.create_ref(OWNER, NAME, ref="refs/leases/a", sha=head.sha))
        assert made.ref == "refs/leases/a"
        commit = parsed(
            git.create_commit(OWNER, NAME, message="lease", tree=head.tree.sha, parents=[head.sha])
        )
        moved = parsed(git.update_ref(OWNER, NAME, "leases/a", sha=commit.sha))
        assert moved.object_.sha == commit.sha
        listed = parsed(git.list_matching_refs(OWNER, NAME, "leases/"))
        assert [found.ref for found in listed] == ["refs/leases/a"]
        assert parsed(git.get_tree(OWNER, NAME, head.tree.sha)).truncated is False
        assert git.delete_ref(OWNER, NAME, "leases/a").status_code == 204

    def test_errors_fit_their_models(self, client: Any, runner: Runner) -> None:
        actions = client.rest.actions
        where = (OWNER, NAME, runner.id)
        jit = {"name": "node-1", "runner_group_id": 1, "labels": ["a"]}
        refused: list[tuple[int, Callable[[], object]]] = [
            (404, partial(actions.list_labels_for_self_hosted_runner_for_repo, OWNER, NAME, 1)),
            (
                422,
                partial(
                    actions.remove_custom_label_from_self_hosted_runner_for_repo, *where, "linux"
                ),
            ),
            (409, partial(actions.generate_runner_jitconfig_for_repo, OWNER, NAME, data=jit)),
            (422, partial(client.rest.git.create_ref, OWNER, NAME, ref="refs/x/y", sha="0" * 40)),
        ]
        for status, call in refused:
            with pytest.raises(RequestFailed) as caught:
                call()
            assert caught.value.response.status_code == status
            assert caught.value.response.parsed_data.message

    def test_pages_are_followed(self, client: Any, served: Simulator) -> None:
        for number in range(5):
            served.add_runner(REPO, f"node-{number}", ["gpu"])
        found = client.rest.paginate(
            client.rest.actions.list_self_hosted_runners_for_repo,
            owner=OWNER,
            repo=NAME,
            per_page=2,
            map_func=lambda response: response.parsed_data.runners,
        )
        assert [runner.name for runner in found] == [f"node-{number}" for number in range(5)]
