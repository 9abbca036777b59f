"""What happens on an instance: who runs the job, with which labels, for how long."""

from __future__ import annotations

from dataclasses import dataclass, field

from runner_fleet.provisioning.inputs import InputReader


@dataclass(frozen=True)
class BootOptions:
    home: str
    extra_labels: tuple[str, ...]
    max_lifetime: int  # minutes
    pre_script: str = field(repr=False)


def boot_options(read: InputReader) -> BootOptions:
    return BootOptions(
        home=read.matching(
            "aws_home_dir",
            # Whether it fits the image is known later: see user_data.
            r"(?!.*[/\\]\.\.([/\\]|$))(/[A-Za-z0-9._/@-]*|[A-Za-z]:\\[A-Za-z0-9._\\@-]*)",
            "an absolute path like /home/ubuntu (or C:\\runners, for a Windows image)",
        ),
        extra_labels=read.labels("extra_gh_labels"),
        max_lifetime=read.integer("max_lifetime_minutes", 360),
        # Typed on Windows; bash would take the carriage returns for text.
        pre_script=read.text("pre_runner_script").replace("\r\n", "\n"),
    )
