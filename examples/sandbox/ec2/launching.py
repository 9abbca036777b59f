"""RunInstances: the launch itself, once per client token."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from typing import Any

from sandbox.calls import CallLog
from sandbox.ec2 import backend, capacity, launch
from sandbox.ec2.errors import Ec2Error, would_have_succeeded
from sandbox.ec2.lifecycle import Lifecycle
from sandbox.ec2.machines import Facts
from sandbox.ec2.records import CODES, Record
from sandbox.ec2.rules import Place, Rules
from sandbox.ec2.wire import Reply, Request


@dataclass(frozen=True)
class _Launched:
    """A RunInstances call that was carried out, for its repetition."""

    asked: dict[str, str]
    reply: Reply
    instance_ids: tuple[str, ...]


class Launching:
    """Launches, and remembers the client tokens."""

    def __init__(self, lifecycle: Lifecycle, rules: Rules, log: CallLog) -> None:
        self._lifecycle = lifecycle
        self._rules = rules
        self._log = log
        self._tokens: dict[tuple[str, str, str], _Launched] = {}
        self._launching = threading.Lock()

    def forget(self) -> None:
        """Forget the client tokens."""
        self._tokens.clear()

    def run_instances(self, request: Request) -> Reply:
        wanted = launch.check(request)
        if request.flag("DryRun"):
            raise would_have_succeeded()
        with self._launching:
            key, asked = _token_scope(request, wanted), request.without("ClientToken", "Action")
            if key and (before := self._tokens.get(key)):
                if before.asked != asked:
                    raise Ec2Error(
                        "IdempotentParameterMismatch",
                        "Arguments on this idempotent request are inconsistent with arguments "
                        "used in previous request(s).",
                    )
                return self._repeated(before)
            count, place = capacity.admit(wanted, self._rules, self._lifecycle.living)
            parameters = wanted.parameters | {"MinCount": str(count), "MaxCount": str(count)}
            if not place.subnet:
                parameters["Placement.AvailabilityZone"] = place.zone
            reply = backend.ask(request, parameters)
            if reply.status != 200:
                return reply
            instance_ids = tuple(
                re.findall(r"<instanceId>(i-[0-9a-f]+)</instanceId>", _text(reply))
            )
            if key:
                self._tokens[key] = _Launched(asked, reply, instance_ids)
            self._take_over(request, wanted, place, instance_ids)
            return reply

    def _take_over(
        self, request: Request, wanted: launch.Launch, place: Place, instance_ids: tuple[str, ...]
    ) -> None:
        models = backend.models(request.region)
        records = []
        for instance_id in instance_ids:
            model = models.get_instance(instance_id)
            if not model.security_groups:
                model.security_groups = list(model.nics[0].group_set)
            facts = Facts(
                instance_id,
                place.instance_type,
                str(wanted.image.architecture),
                request.region,
                str(model.placement.zone),
                int(model.ami_launch_index),
                wanted.image.id,
                str(wanted.image.name),
                str(model.private_ip),
            )
            place_there = replace(place, subnet=str(model.subnet_id), zone=facts.zone)
            boot = self._rules.boot_of(place_there)
            records.append(
                Record(
                    model,
                    request.region,
                    place_there,
                    facts,
                    wanted.user_data,
                    wanted.shutdown_behaviour,
                    boot,
                    self._log.clock(),
                )
            )
        self._give_profile(models, request, instance_ids)
        self._lifecycle.launched(records)

    @staticmethod
    def _give_profile(models: Any, request: Request, instance_ids: tuple[str, ...]) -> None:
        """moto gives the instance profile to the first instance only."""
        name, arn = request.text("IamInstanceProfile.Name"), request.text("IamInstanceProfile.Arn")
        if name or arn:
            for instance_id in instance_ids[1:]:
                models.associate_iam_instance_profile(instance_id, name or None, arn or None)

    def _repeated(self, before: _Launched) -> Reply:
        """The same reservation again, with the states of now."""
        states = iter([self._lifecycle.records[i].state for i in before.instance_ids])

        def now(_: re.Match[str]) -> str:
            name = next(states)
            return f"<instanceState><code>{CODES[name]}</code><name>{name}</name></instanceState>"

        text = re.sub(r"<instanceState>.*?</instanceState>", now, _text(before.reply), flags=re.S)
        return Reply(200, text.encode(), before.reply.headers)


def _token_scope(request: Request, wanted: launch.Launch) -> tuple[str, str, str] | None:
    """A token counts in a zone when the request names a subnet or a zone, else in the region."""
    token = request.text("ClientToken")
    return (
        (request.region, wanted.place.zone if wanted.named_zone else "", token) if token else None
    )


def _text(reply: Reply) -> str:
    return reply.body.decode()
