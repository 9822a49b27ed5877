"""Organisations, which own documents: their plan, their settings, and what their letters and pages show."""

from dataclasses import dataclass

from esign.core.instant import Instant

COLOUR = "#3d4657"
PLANS = ("free", "team", "business", "enterprise")


@dataclass(frozen=True, slots=True)
class Reminders:
    """When invited recipients are reminded: in days, and one last reminder some hours before expiry."""

    enabled: bool = True
    first_after_days: int = 3
    every_days: int = 4
    max: int = 5
    before_expiry_hours: int = 24


@dataclass(frozen=True, slots=True)
class Logo:
    """The SHA-256 of a picture and its size in pixels."""

    sha256: str
    width: int
    height: int

    @property
    def is_wide(self) -> bool:
        """Return whether the logo is wide enough to contain the name, which then does not stand beside it."""
        return is_wide(self.width, self.height)


def is_wide(width: int, height: int) -> bool:
    """Return whether a picture of this size is wide enough to contain the name of the organisation."""
    return width >= 2 * height


@dataclass(frozen=True, slots=True)
class Organisation:
    """An organisation; `colour` is `#rrggbb`.

    Where `plan`, `expires_in_days` or `reminders` is None, the installation's setting applies. The other limits
    in days are None where nothing is retained, deleted or limited. Signing pages may be framed by pages of
    `embed_origins`. Without a `logo`, its initials are shown.
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
    """Return whether the plan includes the API: the business plan or higher (contract 1)."""
    return PLANS.index(plan) >= PLANS.index("business")
