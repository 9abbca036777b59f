"""What start and stop were asked to do: inputs, checked, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner_fleet.provisioning.identity import Caller
from runner_fleet.provisioning.inputs import InputReader, is_http_url, shown

REPOSITORY = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}"
REGION = r"[a-z]{2,}(-[a-z]+)+-[0-9]+"

LARGEST_COUNT = 200
"""Instances of one start: as many as one filter of DescribeInstances may name (EC2 API reference,
Filter)."""

_TAG_LIMIT = 50  # tags a resource may have (EC2 user guide, tag restrictions)
_OWN_TAGS = 6  # those of identity.Fleet.tags, and Name


@dataclass(frozen=True)
class GitHubAccess:
    """Where the runners are registered, and the token that may do it."""

    repository: str
    token: str = field(repr=False)
    api_url: str
    server_url: str


@dataclass(frozen=True)
class StartOptions:
    caller: Caller
    github: GitHubAccess
    region: str
    image_id: str  # ami-…, "latest" or "resolve:ssm:…"
    image_name: str
    image_owner: str
    instance_type: str
    count: int
    subnet_id: str
    security_group_ids: tuple[str, ...]
    instance_profile: str
    root_size: int | None  # GiB
    tags: dict[str, str]
    home: str
    extra_labels: tuple[str, ...]
    timeout: int  # seconds, for all runners together
    max_lifetime: int  # minutes
    pre_script: str = field(repr=False)


@dataclass(frozen=True)
class StopOptions:
    github: GitHubAccess | None  # None: it cannot be used, for a reason in `problems`
    region: str
    mapping: dict[str, str]  # instance id to label
    fleet_id: str
    wait: bool
    problems: tuple[str, ...]  # with other inputs; what can be stopped is stopped all the same

    @property
    def nothing_to_stop(self) -> bool:
        return not self.mapping and not self.fleet_id


def start_options(inputs: Mapping[str, str], environ: Mapping[str, str]) -> StartOptions:
    """Raises one `InputError` with everything that is wrong."""
    read = InputReader(inputs)
    image_id = read.matching(
        "aws_image_id",
        r"ami-[0-9a-f]{8,17}|latest|resolve:ssm:[A-Za-z0-9_.:/-]+",
        "an image id (ami-0123456789abcdef0), 'latest' or 'resolve:ssm:/name/of/parameter'",
        default="latest" if read.text("aws_image_name") else "",
    )
    image_name = read.text("aws_image_name")
    if image_id == "latest" and not image_name:
        read.problem(
            "aws_image_name", "is required with aws_image_id 'latest': how its name begins"
        )
    elif not image_id and not read.problems:
        read.problem("aws_image_id", "is required (or aws_image_name, for the newest of that name)")
    options = StartOptions(
        caller=Caller.read(environ),
        github=_github(read, environ),
        region=_region(read, environ),
        image_id=image_id,
        image_name=image_name,
        image_owner=read.matching(
            "aws_image_owner",
            r"[0-9]{12}|self|amazon|aws-marketplace|aws-backup-vault",
            "an account id of 12 digits, or one of self, amazon, aws-marketplace",
            default="amazon",
        ),
        instance_type=_instance_type(read),
        count=read.integer("instance_count", 1, maximum=LARGEST_COUNT),
        subnet_id=read.matching(
            "aws_subnet_id", r"subnet-[0-9a-f]{8,17}", "a subnet id (subnet-0123456789abcdef0)"
        ),
        security_group_ids=read.words(
            "aws_security_group_id",
            r"sg-[0-9a-f]{8,17}",
            "a security group id (sg-0123456789abcdef0)",
        ),
        instance_profile=_instance_profile(read),
        root_size=read.integer(
            "aws_root_device_size", 0, absent="leave it out for the image's size"
        )
        or None,
        tags=read.tags("aws_tags"),
        home=read.matching(
            "aws_home_dir",
            r"(?!.*/\.\.(/|$))/[A-Za-z0-9._/@-]*",
            "an absolute path like /home/ubuntu",
        ),
        extra_labels=read.labels("extra_gh_labels"),
        timeout=read.integer("gh_timeout", 1200),
        max_lifetime=read.integer("max_lifetime_minutes", 360),
        # Typed on Windows; bash would take the carriage returns for text.
        pre_script=read.text("pre_runner_script").replace("\r\n", "\n"),
    )
    _check_aws(read, environ)
    if len(options.tags) > _TAG_LIMIT - _OWN_TAGS:
        read.problem("aws_tags", f"{len(options.tags)} tags; {_TAG_LIMIT - _OWN_TAGS} are allowed")
    read.finish()
    return options


def stop_options(inputs: Mapping[str, str], environ: Mapping[str, str]) -> StopOptions:
    """Raises `InputError` only for what makes stopping impossible.

    Everything else that is wrong must not keep an instance alive that the good inputs name: it is
    noted in `problems`, to be reported when the rest is done.
    """
    read = InputReader(inputs)
    mapping = read.mapping("instance_mapping")
    fleet_id = read.matching("fleet_id", r"[A-Za-z0-9._-]{1,256}", "a fleet_id of start-runner")
    wait = read.boolean("wait")
    if not mapping and not fleet_id:
        read.finish()
        return StopOptions(None, "", {}, "", wait, ())
    before = len(read.problems)
    github = _github(read, environ)
    usable = len(read.problems) == before
    region = _region(read, environ)
    _check_aws(read, environ)
    if not region:
        read.finish()
    return StopOptions(
        github=github if usable else None,
        region=region,
        mapping=mapping,
        fleet_id=fleet_id,
        wait=wait,
        problems=tuple(read.problems),
    )


def _github(read: InputReader, environ: Mapping[str, str]) -> GitHubAccess:
    repository = read.matching(
        "repo", REPOSITORY, "a repository as owner/name", environ.get("GITHUB_REPOSITORY", "")
    )
    if not repository and not read.text("repo"):
        read.problem("repo", "is required outside of GitHub Actions: a repository as owner/name")
    token = environ.get("GH_PAT", "").strip()
    if not token:
        read.problem(
            "GH_PAT",
            "the environment variable is empty: give the step 'env: GH_PAT: ${{ secrets.GH_PAT }}' "
            "with a token that may administrate the repository. Workflows of forks get no secrets",
        )
    elif not token.isprintable() or " " in token:
        read.problem("GH_PAT", "the token holds white space or control characters: copy it anew")
    return GitHubAccess(
        repository=repository,
        token=token,
        api_url=_url(read, environ, "GITHUB_API_URL") or "https://api.github.com",
        server_url=_url(read, environ, "GITHUB_SERVER_URL") or "https://github.com",
    )


def _url(read: InputReader, environ: Mapping[str, str], name: str) -> str:
    url = environ.get(name, "")
    if url and not is_http_url(url):
        read.problem(name, f"{shown(url)} is not a URL like https://github.example.com")
    return url


def _check_aws(read: InputReader, environ: Mapping[str, str]) -> None:
    """What botocore would choke on, with the value in its message."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        value = environ.get(name, "")
        if not value.isprintable() or value != value.strip():
            read.problem(name, "the value holds white space or control characters: set it anew")
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EC2"):
        _url(read, environ, name)


def _region(read: InputReader, environ: Mapping[str, str]) -> str:
    """Empty when the input is wrong: another region is not what was meant."""
    name = "aws_region_name"
    default = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not read.text(name, default):
        read.problem(name, "is required, as AWS_REGION is not set either")
    region = read.matching(name, REGION, "a region like us-east-1", default)
    return region if region == read.text(name, default) else ""


def _instance_type(read: InputReader) -> str:
    name = "aws_instance_type"
    if not read.text(name):
        read.problem(name, "is required, for instance g4dn.xlarge")
    return read.matching(name, r"[a-z][a-z0-9-]*\.[a-z0-9-]+", "an instance type like g4dn.xlarge")


def _instance_profile(read: InputReader) -> str:
    name = "aws_iam_role"
    value = read.text(name)
    if value.startswith("arn:") and ":instance-profile/" not in value:
        read.problem(name, "takes an instance profile's name or ARN; this ARN is of something else")
    return read.matching(
        name, r"arn:[\w-]+:iam::[0-9]{12}:[\w+=,.@/-]+|[\w+=,.@-]{1,128}", "an instance profile"
    )
