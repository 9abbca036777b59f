"""Read inputs into values, gathering every problem instead of stopping at the first."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from runner_fleet.errors import InputError
from runner_fleet.masking import redacted
from runner_fleet.provisioning.identity import INSTANCE_ID
from runner_fleet.provisioning.input_order import in_order

LABEL_LIMIT = 256
"""Characters of a label (actions/runner, src/Runner.Listener/Configuration/Validators.cs)."""


_LARGEST_NUMBER = 1e6  # also keeps out NaN and infinity, which Python reads as JSON

_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""As Python reads bytes of the environment that are no UTF-8 (PEP 383)."""

REGION = r"[a-z]{2,}(-[a-z]+)+-[0-9]+"


class InputReader:
    """Typed access to the inputs of one action.

    A value that is wrong is noted in `problems` and read as the default, so that the rest can
    still be checked; `finish` raises them all.
    """

    def __init__(self, values: Mapping[str, str], action: str) -> None:
        """`action` is the directory of the action.yml that declares the inputs."""
        self._values = values
        self._action = action
        self.problems: list[str] = []

    def problem(self, name: str, text: str) -> None:
        self.problems.append(f"{name}: {text}")

    def wrong(self, *names: str) -> bool:
        """Whether one of these inputs has a problem: its value is the default, and says nothing."""
        return any(line.startswith(f"{name}: ") for line in self.problems for name in names)

    def report(self) -> tuple[str, ...]:
        """All problems, in the order of the inputs."""
        return tuple(in_order(self.problems, self._action))

    def finish(self) -> None:
        """Raises one `InputError` with all problems, if there are any."""
        if self.problems:
            raise InputError(*self.report())

    def text(self, name: str, default: str = "") -> str:
        value = self._values.get(name, default)
        if not _SURROGATE.search(value):
            return value
        line = f"{name}: is no text: it holds bytes that are not UTF-8"
        if line not in self.problems:  # several look at some values
            self.problems.append(line)
        return default

    def matching(self, name: str, pattern: str, hint: str, default: str = "") -> str:
        """A value that has a form; an empty one is the default."""
        value = self.text(name, default)
        if value and not re.fullmatch(pattern, value):
            self.problem(name, f"{shown(value)} is not {hint}")
            return default
        return value

    def integer(
        self, name: str, default: int, *, minimum: int = 1, maximum: int = 10**9, absent: str = ""
    ) -> int:
        """A whole number; `absent` says what leaving it out means, for whoever wrote 0."""
        value = self.text(name)
        if not value:
            return default
        if not re.fullmatch(r"[+-]?[0-9]{1,1000}", value):  # of more, Python makes no number
            self.problem(name, f"{shown(value)} is not a whole number")
            return default
        if int(value) < minimum:
            hint = f" ({absent})" if absent else ""
            self.problem(name, f"{shown(value)} is too small: at least {minimum}{hint}")
            return default
        if int(value) > maximum:
            self.problem(name, f"{shown(value)} is too large: at most {maximum}")
            return default
        return int(value)

    def boolean(self, name: str, default: bool = False) -> bool:
        value = self.text(name)
        if value.lower() in ("", "true", "false"):
            return value.lower() == "true" if value else default
        self.problem(name, f"{shown(value)} is neither true nor false")
        return default

    def words(self, name: str, pattern: str, hint: str) -> tuple[str, ...]:
        """One or several ids: separated by commas or white space, or a JSON array of strings."""
        value = self.text(name)
        if value.startswith("["):
            items = self._json(name, "a JSON array of strings")
            return self._words(name, items, pattern, hint) if isinstance(items, list) else ()
        return self._words(name, value, pattern, hint)

    def _words(self, name: str, value: object, pattern: str, hint: str) -> tuple[str, ...]:
        """The ids in a string or a list; each that has not the form is a problem."""
        if isinstance(value, list):
            found = [item if isinstance(item, str) else json.dumps(item) for item in value]
        else:
            found = re.split(r"[,\s]+", str(value).strip(", \t\r\n")) if value else []
        wrong = [item for item in found if not re.fullmatch(pattern, item)]
        for item in wrong:
            self.problem(name, f"{shown(item)} is not {hint}")
        return tuple(dict.fromkeys(item for item in found if item not in wrong))

    def by_region(self, name: str, pattern: str, hint: str) -> dict[str, tuple[str, ...]]:
        """Ids as `words` reads them, or a JSON object with such ids (or an array) for each region.

        The key "" stands for every region; without a value there is no key at all.
        """
        if not self.text(name).startswith("{"):
            found = self.words(name, pattern, hint)
            return {"": found} if found else {}
        data = self._json(name, 'a JSON object like {"us-east-1": "…"}')
        regions: dict[str, tuple[str, ...]] = {}
        for region, value in (data if isinstance(data, dict) else {}).items():
            if not re.fullmatch(REGION, region):
                self.problem(name, f"{shown(region)} is not a region like us-east-1")
            elif not isinstance(value, str | list) or not value:
                self.problem(name, f"{region}: needs a string or an array of strings")
            else:
                regions[region] = self._words(name, value, pattern, hint)
        return regions

    def numbers(self, name: str, pattern: str, hint: str) -> dict[str, float]:
        """A JSON object of names to positive numbers."""
        example = "a JSON object of numbers"
        data = self._json(name, example) if self.text(name) else {}
        if data is not None and not isinstance(data, dict):
            self.problem(name, f"is not {example}")
        numbers: dict[str, float] = {}
        for key, value in (data if isinstance(data, dict) else {}).items():
            if not re.fullmatch(pattern, key):
                self.problem(name, f"{shown(key)} is not {hint}")
            elif type(value) not in (int, float) or not 0 < value < _LARGEST_NUMBER:
                self.problem(name, f"{key}: is not a number above 0")
            else:
                numbers[key] = float(value)
        return numbers

    def one_of(self, name: str, *values: str) -> str:
        """One of some words; the first is the default."""
        value = self.text(name, values[0])
        if value not in values:
            self.problem(name, f"{shown(value)} is not one of {', '.join(values)}")
            return values[0]
        return value

    def labels(self, name: str) -> tuple[str, ...]:
        """Labels separated by commas. The runner trims each and drops empty ones, and so do we."""
        found = [label.strip() for label in self.text(name).split(",")]
        good = [label for label in found if label and self._is_label(name, label)]
        return tuple(dict.fromkeys(good))

    def _is_label(self, name: str, label: str) -> bool:
        bad = sorted(
            {char for char in label if char in "\"'`\\$" or not char.isprintable()}, key=ord
        )
        if bad:
            signs = " ".join(shown(char) for char in bad)
            self.problem(
                name, f"label {shown(label)} holds {signs}: use letters, digits, blanks and ._:-"
            )
        elif len(label) > LABEL_LIMIT:
            text = f"label {shown(label)} has {len(label)} characters; {LABEL_LIMIT} are allowed"
            self.problem(name, text)
        return not bad and len(label) <= LABEL_LIMIT

    def tags(self, name: str) -> dict[str, str]:
        """EC2 tags: a JSON list of {"Key": …, "Value": …}, or a JSON object."""
        hint = 'a JSON object, or a JSON list of {"Key": "…", "Value": "…"}'
        data = self._json(name, hint) if self.text(name) else {}
        if isinstance(data, list):
            if not all(isinstance(item, dict) and {"Key", "Value"} == set(item) for item in data):
                self.problem(name, f"is not {hint}: an item needs exactly Key and Value")
                return {}
            pairs = [(item["Key"], item["Value"]) for item in data]
        elif isinstance(data, dict):
            pairs = list(data.items())
        else:
            if data is not None:
                self.problem(name, f"is not {hint}")
            return {}
        tags: dict[str, str] = {}
        for key, value in pairs:
            if not isinstance(key, str) or not isinstance(value, str):
                self.problem(name, f"tag {shown(str(key))}: key and value must be strings")
            elif key in tags:
                self.problem(name, f"tag {shown(key)} is given twice")
            elif not (key + value).isprintable():
                self.problem(name, f"tag {shown(key)}: control characters are not allowed")
            elif not 1 <= len(key) <= 128 or len(value) > 256:
                text = f"tag {shown(key)}: a key has 1 to 128 characters, a value at most 256"
                self.problem(name, text)
            elif key.lower().startswith(("aws:", "runner-fleet:")):
                self.problem(name, f"tag {shown(key)}: this prefix is reserved")
            else:
                tags[key] = value
        return tags

    def mapping(self, name: str) -> dict[str, str]:
        """A JSON object of instance id to label, as far as it is one; empty when there is none."""
        hint = 'a JSON object like {"i-0123456789abcdef0": "runner-ab12cd34"}'
        data = self._json(name, hint) if self.text(name) else {}
        if data is None:
            return {}
        if not isinstance(data, dict):
            self.problem(name, f"is not {hint}: pass the output 'mapping' of start-runner")
            return {}
        wrong = [key for key in data if not re.fullmatch(INSTANCE_ID, key)]
        for key in wrong:
            self.problem(name, f"{shown(key)} is not an instance id (i-0123456789abcdef0)")
        return {key: str(label) for key, label in data.items() if key not in wrong}

    def url(self, environ: Mapping[str, str], name: str) -> str:
        """The URL in an environment variable; empty when it is not set."""
        url = environ.get(name, "")
        if url and not is_http_url(url):
            self.problem(name, f"{shown(url)} is not a URL like https://github.example.com")
        return url

    def _json(self, name: str, hint: str) -> Any:
        try:
            return json.loads(self.text(name), object_pairs_hook=_without_repeats)
        except ValueError as error:
            self.problem(name, f"is not {hint}: {error}")
        except RecursionError:
            self.problem(name, f"is not {hint}: it is nested too deeply")
        return None


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises ValueError for a key given twice, of which json takes the last."""
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            msg = f"{shown(key)} is given twice"
            raise ValueError(msg)
        seen[key] = value
    return seen


def shown(value: str) -> str:
    """A value as it may stand in a message: on one line, printable, and not endless."""
    value = redacted(value)  # before it is cut: a part of a secret has no form
    value = value if len(value) <= 60 else f"{value[:57]}..."
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in value)
    return f'"{text}"' if "'" in text else f"'{text}'"


def is_http_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, brackets that do not match
        return False
