"""What instances cost here: spot prices, of which moto knows one, and AWS's price list, of which it
knows none.
"""

from __future__ import annotations

import json
import time

from sandbox.ec2 import backend, wire
from sandbox.ec2.errors import Ec2Error
from sandbox.ec2.rules import Place, Rules
from sandbox.ec2.wire import Reply, Request

_USD_PER_CPU = 0.05  # an hour on demand; made up, as good as any
_SPOT_SHARE = 0.4  # of that


class Pricing:
    """Answers DescribeSpotPriceHistory and the Price List API's GetProducts."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def _usd(self, place: Place) -> float | None:
        """For an hour; None: there is no price."""
        rule = self._rules.price_of(place)
        if rule is not None:
            return rule.usd
        cpus = backend.instance_types()[place.instance_type]["VCpuInfo"]["DefaultVCpus"]
        share = _SPOT_SHARE if place.market == "spot" else 1.0
        return round(float(cpus) * _USD_PER_CPU * share, 6)

    def spot_prices(self, request: Request) -> Reply:
        """The prices of now, for each type and zone that offers it."""
        systems = request.listed("ProductDescription")
        if systems not in (["Linux/UNIX"], ["Windows"]):
            msg = "The sandbox has prices of Linux/UNIX or Windows, one at a time."
            raise Ec2Error("InvalidParameterValue", msg)
        models = backend.models(request.region)
        zones = sorted(zone.name for zone in models.describe_availability_zones())
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        items = [
            f"<item><instanceType>{name}</instanceType>"
            f"<productDescription>{systems[0]}</productDescription><spotPrice>{usd:.6f}</spotPrice>"
            f"<timestamp>{moment}</timestamp><availabilityZone>{zone}</availabilityZone></item>"
            for name in request.listed("InstanceType")
            for zone in zones
            if zone in backend.zones_offering(request.region, name)
            and (usd := self._usd(Place(name, "", zone, "spot"))) is not None
        ]
        return wire.answer(
            "DescribeSpotPriceHistory",
            f"<spotPriceHistorySet>{''.join(items)}</spotPriceHistorySet>",
        )

    def products(self, request: Request) -> Reply:
        """One entry of the price list, for the type and region that the filters name."""
        asked = json.loads(request.body)
        fields = {each["Field"]: each["Value"] for each in asked.get("Filters", [])}
        name, region = fields.get("instanceType", ""), fields.get("regionCode", "")
        usd = None
        if name in backend.instance_types():
            usd = self._usd(Place(name, "", region, "on-demand"))
        entry = {
            "product": {"attributes": {"instanceType": name, "regionCode": region}},
            "terms": {
                "OnDemand": {
                    "A.B": {"priceDimensions": {"A.B.C": {"pricePerUnit": {"USD": str(usd)}}}}
                }
            },
        }
        listed = [] if usd is None else [json.dumps(entry)]
        body = json.dumps({"FormatVersion": "aws_v1", "PriceList": listed})
        return Reply(200, body.encode(), [("Content-Type", "application/x-amz-json-1.1")])
