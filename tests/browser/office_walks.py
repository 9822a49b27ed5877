"""Ways through the office, as an owner goes them: each stops where there is something to look at, and names it.

To have a page pictured (`python -m tests.screenshots FOLDER office-…`) and looked at by axe-core (test_office_axe), add
one line to OFFICE: `"office-members": at("/members")` for a page as it is, or a function of your own that takes the
page and the office and yields the name of each stop. What the office holds stands in `furnished`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from esign.core.document import Document
from tests.browser.furnished import furnish, signed_in
from tests.browser.stage import Stage

Stops = Iterator[str]


@dataclass(frozen=True)
class Office:
    """`documents` by their titles; `state` is the browser of the owner, who is signed in."""

    stage: Stage
    documents: dict[str, Document]
    state: dict[str, Any]

    def go(self, page: Page, path: str) -> None:
        page.goto(f"{self.stage.site.base}{path}")


Walk = Callable[[Page, Office], Stops]


def an_office_of(stage: Stage) -> Office:
    return Office(stage, {one.title: one for one in furnish(stage)}, signed_in(stage))


def at(path: str) -> Walk:
    """A page that is looked at as it is."""

    def stops(page: Page, office: Office) -> Stops:
        office.go(page, path)
        yield "page"

    return stops


def of_draft(step: str) -> Walk:
    """A page of the draft that nobody has finished yet."""

    def stops(page: Page, office: Office) -> Stops:
        office.go(page, f"/documents/{office.documents['Fee proposal, Millbrook School'].id}/{step}")
        yield "page"

    return stops


OFFICE: dict[str, Walk] = {
    "office-new": at("/documents/new"),
    **{f"office-draft-{step}": of_draft(step) for step in ("edit", "review", "discard")},
    "office-members": at("/members"),
    "office-account": at("/account"),
    "office-tokens": at("/settings/tokens"),
    "office-token-new": at("/settings/tokens/new"),
    "office-organisation": at("/settings/organisation"),
    "office-defaults": at("/settings/defaults"),
    "office-usage": at("/settings/usage"),
    "office-seal": at("/settings/seal"),
    "office-webhooks": at("/settings/webhooks"),
    "office-webhook-new": at("/settings/webhooks/new"),
}
