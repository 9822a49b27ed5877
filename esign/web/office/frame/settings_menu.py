"""The pages of the settings by group, as the menu beside each of them lists them for one role."""

from collections.abc import Iterator
from dataclasses import dataclass

from esign.core.people.member import MemberRole
from esign.core.people.permission import Permission, has_permission


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """One entry of the menu: its address, below which its further pages are, and who may see it."""

    path: str
    name: str
    needs: Permission

    def contains(self, path: str) -> bool:
        """Return whether the path is this page or one below it."""
        return path == self.path or path.startswith(f"{self.path}/")


READ, SETTLE, OWN = Permission.READ, Permission.SETTLE, Permission.OWN

SETTINGS: tuple[tuple[str, tuple[SettingsPage, ...]], ...] = (
    (
        "Organisation",
        (
            SettingsPage("/settings/organisation", "Organisation", SETTLE),
            SettingsPage("/members", "Members", SETTLE),
            SettingsPage("/settings/defaults", "Defaults", SETTLE),
            SettingsPage("/settings/seal", "Seal", SETTLE),
            SettingsPage("/settings/plan", "Plan and limits", SETTLE),
            SettingsPage("/settings/erasure", "Erase a person", OWN),
        ),
    ),
    (
        "Developers",
        (
            SettingsPage("/settings/tokens", "API tokens", SETTLE),
            SettingsPage("/settings/webhooks", "Webhooks", SETTLE),
            SettingsPage("/settings/events", "Events", SETTLE),
        ),
    ),
    (
        "Activity",
        (
            SettingsPage("/settings/outbox", "Outbox", SETTLE),
            SettingsPage("/settings/usage", "Usage", SETTLE),
            SettingsPage("/settings/audit", "Audit log", OWN),
        ),
    ),
    (
        "Server",
        (
            SettingsPage("/server/address", "Address", OWN),
            SettingsPage("/server/mail", "Email", OWN),
            SettingsPage("/server/seal", "Seal practice", OWN),
            SettingsPage("/server/clock", "Clock", OWN),
        ),
    ),
    ("You", (SettingsPage("/account", "Your account", READ),)),
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
