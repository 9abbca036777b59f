"""No secret and no command of a console gets into a log."""

from __future__ import annotations

import pytest
from runner_fleet.masking import hidden, plain

KEY = "MIIEowIBAAKCAQEAq3Vt\nbm90IGEga2V5\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("clone with ghp_0123456789abcdefABCDEF0123456789abcd now", "clone with *** now"),
        ("ghs_0123456789abcdef", "***"),
        ("github_pat_11AAAAAAA0abcdefghij_0123456789", "***"),
        ("key id AKIAIOSFODNN7EXAMPLE", "key id ***"),
        ("ASIAIOSFODNN7EXAMPLE,", "***,"),
        ("> Authorization: Basic dXNlcjpwYXNzd29yZA==", "> Authorization: ***"),
        ("authorization: token-0123456789", "authorization: ***"),
        ('{"Authorization": "Bearer abcdefghijkl"}', '{"Authorization": "***"}'),
        ("curl -H 'x: bearer abc.def-ghi_jkl'", "curl -H 'x: bearer ***'"),
        ("git clone https://user:hunter2@example.com/x", "git clone https://***@example.com/x"),
        ("config.sh --token AABBCCDDEE --name n", "config.sh --token *** --name n"),
        ("+ DB_PASSWORD=correct-horse ./go", "+ DB_PASSWORD=*** ./go"),
        ('"apiKey": "0123456789abcdef"', '"apiKey": "***"'),
        (f"a\n-----BEGIN RSA PRIVATE KEY-----\n{KEY}-----END RSA PRIVATE KEY-----\nb", "a\n***\nb"),
        (f"a\n-----BEGIN PRIVATE KEY-----\n{KEY}", "a\n***"),
        (f"{KEY}-----END OPENSSH PRIVATE KEY-----\nb", "***\nb"),
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str) -> None:
    assert hidden(text, ()) == shown


@pytest.mark.parametrize(
    "text",
    [
        "runner-fleet: error [token-rejected]: the token is bad or expired",
        "curl: (28) Failed to connect to github.com port 443 after 10002 ms: Timeout was reached",
        "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
        "runner-fleet: downloading https://github.com/actions/runner/releases/v2/a.tar.gz",
    ],
)
def test_what_tells_the_cause_stays(text: str) -> None:
    assert hidden(text, ["", "short"]) == text


def test_known_secrets_are_hidden_wherever_they_stand_also_one_line_of_several() -> None:
    secrets = ["AAAAREGISTRATIONTOKEN", "first-line-of-it\nsecond-line-of-it\n"]
    text = "x=AAAAREGISTRATIONTOKENy second-line-of-it"
    assert hidden(text, secrets) == "x=***y ***"


def test_nothing_steers_the_terminal() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07a\r\nb\rc\x00\x9b2Jd\u2028e"
    assert plain(text) == "red a\nb\nc  2Jd e"
