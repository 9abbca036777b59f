"""What goes wrong with launches and boots, by instance type, subnet, zone, region or market."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where a launch goes."""

    instance_type: str
    subnet: str
    zone: str
    market: str = "on-demand"  # or spot


@dataclass
class _Rule:
    instance_type: str | None
    subnet: str | None
    zone: str | None
    region: str | None
    market: str | None

    def matches(self, place: Place) -> bool:
        return (
            self.instance_type in (None, place.instance_type)
            and self.subnet in (None, place.subnet)
            and self.zone in (None, place.zone)
            and (self.region is None or place.zone.startswith(self.region))
            and self.market in (None, place.market)
        )


@dataclass
class Refusal(_Rule):
    code: str
    message: str | None
    times: int | None


@dataclass
class Capacity(_Rule):
    slots: int


@dataclass
class Price(_Rule):
    usd: float | None


@dataclass
class Boot(_Rule):
    """How an instance comes up. Times in seconds."""

    delay: float = 0.0
    never: bool = False
    stays: str = "running"
    dies_after: float | None = None
    reason: str = "Server.InternalError"
    times: int | None = None


USUAL = Boot(None, None, None, None, None)


@dataclass
class Rules:
    """The rules in force. A later boot rule goes before an earlier one."""

    refusals: list[Refusal] = field(default_factory=list)
    capacities: list[Capacity] = field(default_factory=list)
    prices: list[Price] = field(default_factory=list)
    boots: list[Boot] = field(default_factory=list)
    termination_delay: float = 0.0  # seconds an instance stays `shutting-down` at least

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def refuse(
        self,
        instance_type: str | None = None,
        subnet: str | None = None,
        zone: str | None = None,
        code: str = "InsufficientInstanceCapacity",
        times: int | None = None,
        message: str | None = None,
        region: str | None = None,
        market: str | None = None,
    ) -> None:
        """RunInstances answers `code`, `times` times (None: for ever).

        Note that botocore sends a call again after a 5xx: one refused launch is then up to three
        refused calls.
        """
        with self._lock:
            rule = Refusal(instance_type, subnet, zone, region, market, code, message, times)
            self.refusals.append(rule)

    def capacity(
        self,
        slots: int,
        instance_type: str | None = None,
        subnet: str | None = None,
        zone: str | None = None,
        region: str | None = None,
        market: str | None = None,
    ) -> None:
        """At most `slots` instances live there at a time; RunInstances launches what fits."""
        with self._lock:
            self.capacities.append(Capacity(instance_type, subnet, zone, region, market, slots))

    def price(
        self,
        usd: float | None,
        instance_type: str | None = None,
        zone: str | None = None,
        region: str | None = None,
        market: str | None = None,
    ) -> None:
        """An instance costs `usd` an hour; None: there is no price. A later rule goes first."""
        with self._lock:
            self.prices.insert(0, Price(instance_type, None, zone, region, market, usd))

    def boot(
        self,
        instance_type: str | None = None,
        subnet: str | None = None,
        delay: float = 0.0,
        never: bool = False,
        dies_after: float | None = None,
        reason: str = "Server.InternalError",
        zone: str | None = None,
        stays: str = "running",
        times: int | None = None,
        region: str | None = None,
        market: str | None = None,
    ) -> None:
        """How instances launched from now on come up (`times` of them; None: all).

        They are `pending` for `delay` seconds. With `never` the user data never runs, and they
        stay `running` (or `pending`: `stays`). With `dies_after` they are terminated that many
        seconds after they ran (after the launch, if they never ran), for `reason`.
        """
        rule = Boot(
            instance_type, subnet, zone, region, market,
            delay, never, stays, dies_after, reason, times,
        )  # fmt: skip
        with self._lock:
            self.boots.insert(0, rule)

    def clear(self) -> None:
        with self._lock:
            self.refusals.clear()
            self.capacities.clear()
            self.prices.clear()
            self.boots.clear()
            self.termination_delay = 0.0

    def refusal(self, place: Place) -> Refusal | None:
        """The refusal that strikes a launch, counted down."""
        with self._lock:
            for rule in self.refusals:
                if rule.matches(place) and rule.times != 0:
                    if rule.times is not None:
                        rule.times -= 1
                    return rule
        return None

    def slots(self, place: Place) -> list[Capacity]:
        with self._lock:
            return [rule for rule in self.capacities if rule.matches(place)]

    def price_of(self, place: Place) -> Price | None:
        with self._lock:
            return next((rule for rule in self.prices if rule.matches(place)), None)

    def boot_of(self, place: Place) -> Boot:
        """How the next instance at the place comes up, counted down."""
        with self._lock:
            for rule in self.boots:
                if rule.matches(place) and rule.times != 0:
                    if rule.times is not None:
                        rule.times -= 1
                    return rule
        return USUAL
