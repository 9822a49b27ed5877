"""Who does what and when, in words."""

from dataclasses import replace

import pytest

from esign.core.document.document import Recipient, Role
from esign.web.office.draft.draft_summary import write_outline
from tests.factories import a_document


def who(name: str, role: Role = Role.SIGNER, order: int = 1) -> Recipient:
    return Recipient(f"rcp_{name}", f"{name.lower()}@example.test", name, role, order)


ADA, BO, CY = who("Ada"), who("Bo"), who("Cy")
SAID: list[tuple[tuple[Recipient, ...], str]] = [
    ((), "No one signs yet. Add a recipient with the role “Signs”."),
    ((who("Ada", Role.CC),), "No one signs yet. Add a recipient with the role “Signs”."),
    ((ADA,), "One signs. Ada is invited at once."),
    ((ADA, BO), "Two sign. All are invited at once."),
    ((ADA, who("Bo", order=2), who("Cy", order=2)), "Three sign. Ada is invited first, then Bo and Cy."),
    (
        (ADA, who("Bo", Role.VIEWER), who("Cy", Role.APPROVER, 5), who("Di", Role.CC)),
        "One signs, one approves, one views, one gets a copy. Ada and Bo are invited first, then Cy.",
    ),
    ((who("Vi", Role.VIEWER), who("Ada", order=2)), "One signs, one views. All are invited at once."),
    ((ADA, who("Vi", Role.VIEWER, 2)), "One signs, one views. Ada is invited at once."),
    (
        (*(who(name) for name in ("Ada", "Bo", "Cy", "Di", "Ed")), who("Flo", order=2)),
        "Six sign. Ada, Bo, Cy and 2 more are invited first, then Flo.",
    ),
    (
        tuple(who(f"P{n}", order=n) for n in range(1, 13)),
        "12 sign. P1 is invited first, then P2, then P3, then P4, and so on.",
    ),
]


@pytest.mark.parametrize(("people", "said"), SAID)
def test_a_sentence_says_who_does_what(people: tuple[Recipient, ...], said: str) -> None:
    assert (
        write_outline(replace(a_document(), recipients=people)).replace("\u2068", "").replace("\u2069", "")
        == said
    )
