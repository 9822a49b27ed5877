"""Who owns documents: an organisation, its plan, and what its letters and pages show."""

from dataclasses import dataclass

from esign.core.instant import Instant

PLANS = ("free", "team", "business", "enterprise")


@dataclass(frozen=True, slots=True)
class Organisation:
    """`plan` is None where the installation's own setting counts; `colour` is `#rrggbb`."""

    id: str
    name: str
    locale: str
    time_zone: str
    created_at: Instant
    plan: str | None = None
    colour: str = "#3d4657"
    reply_to: str | None = None


def may_use_api(plan: str) -> bool:
    """API access begins with the business plan (contract 1)."""
    return PLANS.index(plan) >= PLANS.index("business")
