"""The script a Windows instance boots with: parsed, and read, for it cannot run here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runner_fleet.errors import InputError
from runner_fleet.github import RunnerArchive
from runner_fleet.provisioning.identity import Fleet
from runner_fleet.provisioning.user_data import LIMIT, Boot, user_data
from runner_fleet.provisioning.windows import literal

from tests.powershell import assigned, commands, errors, function, nodes, parse, text
from tests.runner_fleet.provisioning.fleet import FLEET, TOKEN

ARCHIVES = (
    RunnerArchive("x64", "https://example.com/linux-x64.tar.gz", "1" * 64),
    RunnerArchive("x64", "https://example.com/win-x64.zip", "2" * 64, "win"),
    RunnerArchive("arm64", "https://example.com/win-arm64.zip", "3" * 64, "win"),
)
SOURCE = Path(user_data.__code__.co_filename).with_name("boot.ps1")


def script(fleet: Fleet = FLEET, **values: object) -> str:
    """What EC2Launch takes out of the user data."""
    url = "https://github.com/octo-org/gpu-tests"
    boot = Boot(url=url, archives=ARCHIVES, windows=True, **values)  # type: ignore[arg-type]
    data = user_data(boot, fleet, TOKEN).decode()
    found = re.fullmatch(
        r"<powershell>\n(.*)</powershell>\n<persist>false</persist>\n", data, re.DOTALL
    )
    assert found
    return found[1]


def test_the_grammar_understands_all_of_it() -> None:
    assert errors(parse(script(pre_script="Write-Host 'it''s'\n"))) == []
    assert errors(parse(SOURCE.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("what", "instead"),
    [("try {\nStart-Fleet", "try \nStart-Fleet"), ("'Stop'", "'Stop"), (") {\n", " {\n")],
)
def test_the_grammar_notices_what_is_broken(what: str, instead: str) -> None:
    good = script()
    assert what in good
    assert errors(parse(good.replace(what, instead, 1)))


def test_it_carries_what_the_instance_needs() -> None:
    found = script(
        extra_labels=("gpu", "big box"),
        home="D:\\ci",
        run_as_root=True,
        runner_directory="D:\\runner",
        proxy=(("http_proxy", "http://proxy:3128"), ("no_proxy", "10.0.0.1")),
        market="spot",
        idle_timeout=15,
        max_lifetime=90,
        jit_config="eyJhIjoiYiJ9",
        remove_token="REMOVEREMOVE",
    )
    values = assigned(parse(found.partition("$ErrorActionPreference")[0]))
    assert values == {
        "FLEET_URL": "https://github.com/octo-org/gpu-tests",
        "FLEET_TOKEN": TOKEN,
        "FLEET_JIT_CONFIG": "eyJhIjoiYiJ9",
        "FLEET_REMOVE_TOKEN": "REMOVEREMOVE",
        "FLEET_LABELS": "runner-aaaaaaa1 runner-aaaaaaa2",
        "FLEET_COMMON_LABELS": "runner-aaaaaaa3,gpu,big box",
        "FLEET_RUNNER_GROUP": "",
        "FLEET_ARCHIVE_X64": f"https://example.com/win-x64.zip {'2' * 64}",
        "FLEET_ARCHIVE_ARM64": f"https://example.com/win-arm64.zip {'3' * 64}",
        "FLEET_RUNNER_DIRECTORY": "D:\\runner",
        "FLEET_HOME": "D:\\ci",
        "FLEET_RUN_AS_ROOT": "true",
        "FLEET_PROXY": "http_proxy=http://proxy:3128\nno_proxy=10.0.0.1",
        "FLEET_MARKET": "spot",
        "FLEET_IDLE_TIMEOUT": "15",
        "FLEET_MAX_LIFETIME": "90",
        "FLEET_PRE_SCRIPT": "",
    }


def test_every_value_is_used_and_no_other() -> None:
    header, _, body = script().partition("$ErrorActionPreference")
    given = set(re.findall(r"^\$(FLEET_\w+)", header, re.MULTILINE))
    used = {name for name in re.findall(r"\$(\w+)", body) if name.startswith("FLEET_")}
    assert given == used


@pytest.mark.parametrize(
    "value",
    [
        "it's 'quoted' ''twice''",
        "\"$HOME\" `n $(Stop-Computer) @'\n'@ # no comment \\ %PATH% !x!",
        "  indented\n\n# kept\n\ttabs\n",
        "typographic \u2018quotes\u2019 and \u201cothers\u201d; \u00fcml\u00e4ut \U0001f600",
        "</powershell><persist>true</persist>",
        "<Script>format c:</script>",
        "carriage\r\nreturn and \x00 nothing",
        "'",
        "",
    ],
)
def test_a_value_arrives_unchanged_whatever_it_holds(value: str) -> None:
    found = parse(f"$value = {literal(value)}\n")
    assert errors(found) == []
    assert assigned(found) == {"value": value}
    assert assigned(parse(script(pre_script=value)))["FLEET_PRE_SCRIPT"] == value


def test_tags_of_ec2launch_stand_only_where_they_mean_something() -> None:
    body = script(pre_script="</powershell>", extra_labels=("<detach>true</detach>",))
    assert not re.search(r"</?(powershell|script|persist|detach)", body, re.IGNORECASE)


def test_what_is_taken_out_of_the_source_means_nothing() -> None:
    source = SOURCE.read_text(encoding="utf-8")
    assert source.isascii()
    assert "\r" not in source
    tree = parse(source)
    kinds = ("string_literal", "expandable_string_literal", "expandable_here_string_literal")
    strings = [text(each) for kind in kinds for each in nodes(tree, kind)]
    assert len(strings) > 100
    assert [each for each in strings if "\n" in each] == []
    assert commands(parse(script())) == commands(tree)


def test_the_end_is_arranged_before_anything_can_fail_and_registering_comes_last() -> None:
    tree = parse(script())
    order = commands(function(tree, "Start-Fleet"))
    assert order[0] == "Limit-Lifetime"
    assert [name for name in order if name not in ("New-Item", "Out-Null", "Invoke-Again")] == [
        *("Limit-Lifetime", "Use-Proxy", "Find-Instance", "Install-Runner", "Invoke-PreScript"),
        *("New-RunnerUser", "Register-Runner", "Deny-Registration", "Say", "Start-Runner"),
        "Wait-Runner",
    ]
    # A task for both: the maximum lifetime, and the first start after this one.
    arranged = text(function(tree, "Limit-Lifetime"))
    assert "New-ScheduledTaskTrigger -Once -At (Get-Date).AddMinutes([int]$FLEET_MAX_LIFETIME)" in (
        arranged
    )
    assert "New-ScheduledTaskTrigger -AtStartup" in arranged
    assert "-Argument '/s /t 0 /f'" in arranged


def test_whatever_happens_it_powers_off() -> None:
    (last,) = [
        each
        for each in nodes(parse(script()), "try_statement")
        if commands(each)[:1] == ["Start-Fleet"]
    ]
    (end,) = [each for each in last.children if each.type == "finally_clause"]
    assert commands(end) == ["Say", "Stop-Instance"]
    stop = text(function(parse(script()), "Stop-Instance"))
    assert "'shutdown.exe /a >nul 2>&1 & shutdown.exe /s /t 0 /f'" in stop


def test_the_runner_is_ephemeral_and_has_no_label_that_nobody_asked_for() -> None:
    register = function(parse(script()), "Register-Runner")
    flags = re.findall(r"'(--[\w-]+)'", text(register))
    assert flags == [
        *("--unattended", "--ephemeral", "--replace", "--disableupdate", "--no-default-labels"),
    ]
    given = dict(re.findall(r"\$env:ACTIONS_RUNNER_INPUT_(\w+) = (\$[\w.]+)", text(register)))
    assert given == {
        "URL": "$FLEET_URL",
        "TOKEN": "$FLEET_TOKEN",
        "NAME": "$fleet.name",
        "LABELS": "$fleet.labels",
        "RUNNERGROUP": "$FLEET_RUNNER_GROUP",
    }
    # Its own later programs do not see them.
    assert commands(register) == ["Invoke-Program", "Remove-Item"]
    assert "Remove-Item Env:ACTIONS_RUNNER_INPUT_*" in text(register)


def test_the_job_runs_as_an_ordinary_user_whose_password_is_written_nowhere() -> None:
    tree = parse(script())
    groups = re.findall(r"S-1-5-32-\d+", text(function(tree, "New-RunnerUser")))
    assert groups == ["S-1-5-32-545", "S-1-5-32-559"]  # Users, Performance Log Users
    assert "S-1-5-32-544" not in script()  # Administrators
    uses = [line for line in script().splitlines() if "$fleet.password" in line]
    assert uses == [
        "$fleet.password = 'aA1!' + [Convert]::ToBase64String($bytes)",
        "$secret = ConvertTo-SecureString $fleet.password -AsPlainText -Force",
        "$task.Password = $fleet.password",
    ]


def test_no_token_gets_on_the_console() -> None:
    tree = parse(script())
    write = text(function(tree, "Write-Console"))
    assert "foreach ($secret in $FLEET_TOKEN, $FLEET_REMOVE_TOKEN, $FLEET_JIT_CONFIG)" in write
    masked = write.index("$line = $line.Replace($secret, '***')")
    assert masked < write.index("Write-Host $line") < write.index("WriteLine($line)")
    # Nothing else writes there, and nobody hands it the token.
    (only,) = [
        each
        for each in nodes(tree, "function_statement")
        if any(name in ("Write-Host", "Write-Output") for name in commands(each))
    ]
    assert text(nodes(only, "function_name")[0]) == "Write-Console"
    said = [text(each) for each in nodes(tree, "command") if commands(each)[:1] == ["Say"]]
    assert len(said) >= 10
    assert [line for line in said if re.search("TOKEN|JIT_CONFIG|password", line)] == []


def test_a_runner_without_a_job_is_taken_off_the_list() -> None:
    tree = parse(script())
    wait = function(tree, "Wait-Runner")
    assert 'if (($notice -or $idle) -and -not (Test-Path "$directory\\_diag\\Worker_*")) {' in (
        text(wait)
    )
    assert 'Say "no job came within $minutes minutes"' in text(wait)
    assert 'Say "spot interruption notice: $($notice.action) at $($notice.time)"' in text(wait)
    assert commands(wait).count("Unregister-Runner") == 1
    remove = text(function(tree, "Unregister-Runner"))
    assert remove.index("Stop-ScheduledTask") < remove.index("@('remove')")


def test_a_job_may_run_as_long_as_the_instance_lives() -> None:
    start = text(function(parse(script()), "Start-Runner"))
    assert "$forever = [TimeSpan]::Zero" in start
    assert "-ExecutionTimeLimit $forever -Priority 4" in start


def test_errors_have_the_codes_of_the_console_contract() -> None:
    assert set(re.findall(r"(?:Fail|\$code =|' \{|default \{) '([\w-]+)'", script())) == {
        *("no-metadata", "no-user", "no-egress", "bad-digest", "no-runner-for-architecture"),
        *("no-runner", "disk-full", "pre-script-failed", "user-data-failed", "token-rejected"),
        *("name-taken", "runner-too-old", "registration-failed", "registration-removed"),
    }
    assert text(function(parse(script()), "Fail")).count('Say "error [$code]: $text"') == 1


def test_two_hundred_labels_leave_room_for_a_script() -> None:
    labels = tuple(f"runner-{number:08}" for number in range(200))
    fleet = Fleet("77-1-start-x", "o/r", FLEET.caller, labels, "runner-shared00")
    assert len(script(fleet).encode()) < LIMIT - 1024


def test_a_just_in_time_configuration_leaves_room_for_a_script() -> None:
    # A 2048-bit key in JSON, twice in base64, is most of its size.
    assert len(script(jit_config="x" * 4600).encode()) < LIMIT - 256


def test_more_than_ec2_takes_is_refused() -> None:
    with pytest.raises(InputError, match=r"the user data is .* EC2 takes 16384"):
        script(pre_script="#" * 16384)


@pytest.mark.parametrize(
    ("windows", "home", "message"),
    [
        (True, "/home/ubuntu", "'/home/ubuntu' is no path of the image's system, Windows: give"),
        (False, "C:\\ci", "'C:\\ci' is no path of the image's system, Linux: give"),
    ],
)
def test_a_home_of_the_other_system_is_refused(windows: bool, home: str, message: str) -> None:
    boot = Boot(url="u", archives=ARCHIVES, home=home, windows=windows)
    with pytest.raises(InputError) as caught:
        user_data(boot, FLEET, TOKEN)
    assert str(caught.value).startswith(f"aws_home_dir: {message}")


def test_what_only_linux_images_have_is_refused() -> None:
    boot = Boot(
        url="u", archives=ARCHIVES, windows=True, runner_directory="/opt/r", extra="#cloud-config"
    )
    with pytest.raises(InputError) as caught:
        user_data(boot, FLEET, TOKEN)
    assert list(caught.value.lines) == [
        (
            "runner_directory: '/opt/r' is no path of the image's system, Windows: give one like "
            "C:\\runners, or leave it out"
        ),
        "aws_user_data_extra: is for cloud-init, which Windows images do not have",
    ]
