"""Who owns documents: an organisation, its plan, and what its letters and pages show."""

from dataclasses import dataclass

from esign.core.instant import Instant

COLOUR = "#3d4657"
PLANS = ("free", "team", "business", "enterprise")


@dataclass(frozen=True, slots=True)
class Reminders:
    """When invited recipients are reminded: days, and the hours before expiry of one last reminder."""

    enabled: bool = True
    first_after_days: int = 3
    every_days: int = 4
    max: int = 5
    before_expiry_hours: int = 24


@dataclass(frozen=True, slots=True)
class Logo:
    """Which picture it is, and its size in pixels."""

    sha256: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Organisation:
    """`colour` is `#rrggbb`; where `plan`, `expires_in_days` or `reminders` is None the installation's own counts.

    The other days are None where nothing is kept, deleted or limited. Signing pages may stand in pages of
    `embed_origins`. Without a `logo` its initials stand for it.
    """

    id: str
    name: str
    locale: str
    time_zone: str
    created_at: Instant
    plan: str | None = None
    colour: str = COLOUR
    reply_to: str | None = None
    expires_in_days: int | None = None
    reminders: Reminders | None = None
    retain_completed_days: int | None = None
    delete_closed_after_days: int | None = None
    max_key_lifetime_days: int | None = None
    embed_origins: tuple[str, ...] = ()
    logo: Logo | None = None


def may_use_api(plan: str) -> bool:
    """API access begins with the business plan (contract 1)."""
    return PLANS.index(plan) >= PLANS.index("business")
