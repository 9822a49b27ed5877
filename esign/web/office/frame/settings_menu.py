"""The pages of the settings by group, as the menu beside each of them lists them for one role."""

from collections.abc import Iterator
from dataclasses import dataclass

from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission, has_permission


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """One entry of the menu: its address, below which its further pages are, and who may see it.

    `name` is the end of the key of its words: `frame.place.members`.
    """

    path: str
    name: str
    needs: Permission

    def contains(self, path: str) -> bool:
        """Return whether the path is this page or one below it."""
        return path == self.path or path.startswith(f"{self.path}/")


READ, SETTLE, OWN = Permission.READ, Permission.SETTLE, Permission.OWN

SETTINGS: tuple[tuple[str, tuple[SettingsPage, ...]], ...] = (
    (
        "organisation",
        (
            SettingsPage("/settings/organisation", "organisation", SETTLE),
            SettingsPage("/members", "members", SETTLE),
            SettingsPage("/settings/defaults", "defaults", SETTLE),
            SettingsPage("/settings/seal", "seal", SETTLE),
            SettingsPage("/settings/plan", "plan", SETTLE),
            SettingsPage("/settings/erasure", "erasure", OWN),
        ),
    ),
    (
        "developers",
        (
            SettingsPage("/settings/tokens", "tokens", SETTLE),
            SettingsPage("/settings/webhooks", "webhooks", SETTLE),
            SettingsPage("/settings/events", "events", SETTLE),
        ),
    ),
    (
        "activity",
        (
            SettingsPage("/settings/outbox", "outbox", SETTLE),
            SettingsPage("/settings/usage", "usage", SETTLE),
            SettingsPage("/settings/audit", "audit", OWN),
        ),
    ),
    (
        "server",
        (
            SettingsPage("/server/address", "address", OWN),
            SettingsPage("/server/mail", "mail", OWN),
            SettingsPage("/server/seal", "practice", OWN),
            SettingsPage("/server/clock", "clock", OWN),
            SettingsPage("/server/status", "status", OWN),
            SettingsPage("/server/backup", "backup", OWN),
        ),
    ),
    ("you", (SettingsPage("/account", "account", READ),)),
)


@dataclass(frozen=True, slots=True)
class SettingsMenu:
    """The groups that a role sees, with their pages, and the page to which the present one belongs."""

    groups: tuple[tuple[str, tuple[SettingsPage, ...]], ...]
    current: SettingsPage


def find_menu(role: MemberRole, path: str) -> SettingsMenu | None:
    """Return the menu beside a page of the settings; None beside any other, and beside what the role may not see."""
    groups = tuple(find_groups(role))
    current = next((page for _, pages in groups for page in pages if page.contains(path)), None)
    return SettingsMenu(groups, current) if current else None


def find_groups(role: MemberRole) -> Iterator[tuple[str, tuple[SettingsPage, ...]]]:
    """Yield each group with the pages that the role may see, if there are any."""
    for name, pages in SETTINGS:
        if seen := tuple(page for page in pages if has_permission(role, page.needs)):
            yield name, seen


def find_first_page(role: MemberRole) -> str:
    """Return the address of the first page that the role may see. Everybody sees their own account."""
    return next(find_groups(role))[1][0].path
