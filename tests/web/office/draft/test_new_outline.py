"""Who does what and when, in words."""

from dataclasses import replace

import pytest

from esign.core.document.document import Recipient, Role
from esign.web.office.draft.draft_summary import write_outline
from esign.web.office.frame.words import load_words
from tests.factories import a_document


def who(name: str, role: Role = Role.SIGNER, order: int = 1) -> Recipient:
    return Recipient(f"rcp_{name}", f"{name.lower()}@example.test", name, role, order)


ADA, BO, CY = who("Ada"), who("Bo"), who("Cy")
SAID: list[tuple[tuple[Recipient, ...], str]] = [
    ((), "No one signs yet. Add a recipient with the role “Signs”."),
    ((who("Ada", Role.CC),), "No one signs yet. Add a recipient with the role “Signs”."),
    ((ADA,), "1 signer\nAda is invited as soon as you send it."),
    ((ADA, BO), "2 signers\nEveryone is invited at the same time."),
    ((ADA, who("Bo", order=2), who("Cy", order=2)), "3 signers\nInvited in this order: Ada, then Bo and Cy."),
    (
        (ADA, who("Bo", Role.VIEWER), who("Cy", Role.APPROVER, 5), who("Di", Role.CC)),
        "1 signer · 1 approver · 1 viewer · 1 gets a copy\nInvited in this order: Ada and Bo, then Cy.",
    ),
    (
        (who("Vi", Role.VIEWER), who("Ada", order=2)),
        "1 signer · 1 viewer\nEveryone is invited at the same time.",
    ),
    ((ADA, who("Vi", Role.VIEWER, 2)), "1 signer · 1 viewer\nAda is invited as soon as you send it."),
    (
        (*(who(name) for name in ("Ada", "Bo", "Cy", "Di", "Ed")), who("Flo", order=2)),
        "6 signers\nInvited in this order: Ada, Bo, Cy and 2 others, then Flo.",
    ),
    (
        tuple(who(f"P{n}", order=n) for n in range(1, 13)),
        "12 signers\nInvited in this order: P1, then P2, then P3, then P4, and so on.",
    ),
]


@pytest.mark.parametrize(("people", "said"), SAID)
def test_a_sentence_says_who_does_what(people: tuple[Recipient, ...], said: str) -> None:
    outline = write_outline(replace(a_document(), recipients=people), load_words("en"))
    assert outline.replace("\u2068", "").replace("\u2069", "") == said
