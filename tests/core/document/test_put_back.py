from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from esign.core.actor import NOWHERE, Origin
from esign.core.document import audit
from esign.core.document.document import Document, MailDelivery, RecipientStatus, Role, Status
from esign.core.document.put_back import UnfitTrail, follow_trail, put_back
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Event
from esign.core.errors import Problem
from esign.core.instant import HOUR
from tests.factories import NOW, a_document, a_recipient, a_seal

SENT = RecipientStatus.SENT
JO = a_recipient("Jo Li", status=SENT, sent_at=NOW)
CY = a_recipient("Cy Co", role=Role.CC)
OUT = a_document(JO, CY, status=Status.SENT, sent_at=NOW, expires_at=NOW + HOUR)
HOME = Origin("192.0.2.7", "Browser")


def chain(*events: Event) -> list[audit.AuditEntry]:
    trail: list[audit.AuditEntry] = []
    for event in events:
        last = trail[-1].hash if trail else audit.START
        trail.append(audit.make_entry(event, OUT.id, len(trail) + 1, last, bytes(16)))
    return trail


def fact(type: str, data: Mapping[str, object] | None = None, **more: Any) -> Event:
    return Event(type, NOW + 1, recipient_id=JO.id, origin=HOME, data=data or {}, **more)


def test_acts_are_followed_as_they_happened() -> None:
    link = {"link": "email"}
    signer = replace(OUT.recipients[0], link="email")
    acted = lifecycle.complete(OUT, signer, "2026-11 words", HOME, NOW + 1)
    assert follow_trail(OUT, chain(*acted.events)) == replace(acted.document)
    new = {"email": "other@example.test", "name": "Jo Other"}
    trail = chain(
        fact("recipient.viewed", link),
        fact("recipient.corrected", detail={"old": {}, "new": new}),
        fact("recipient.sent", detail={"email": new["email"]}),
        fact("recipient.reminded"),
        fact("document.downloaded"),
        *acted.events[-2:],
    )
    (jo, _) = follow_trail(OUT, trail).recipients
    assert (jo.email, jo.name, jo.reminders_sent) == (*new.values(), 1)
    assert (jo.viewed_at, jo.completed_at, jo.origin) == (None, NOW + 1, HOME)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([], "does not say that everybody has acted"),
        ([fact("recipient.viewed")], "does not say that everybody has acted"),
        ([fact("recipient.declined")], "entry 1 (recipient.declined)"),
        ([fact("document.cancelled")], "entry 1 (document.cancelled)"),
        ([fact("recipient.soothed")], "entry 1 (recipient.soothed)"),
        ([fact("recipient.completed", {"act": "approved"})], "entry 1 (recipient.completed)"),
        ([fact("recipient.completed", {"act": "signed"})] * 2, "entry 2 (recipient.completed)"),
        ([fact("recipient.corrected")], "entry 1 (recipient.corrected)"),
        ([replace(fact("recipient.viewed"), recipient_id="rcp_other")], "entry 1 (recipient.viewed)"),
        ([fact("recipient.consented")], "entry 1 (recipient.consented)"),
    ],
)
def test_a_trail_that_cannot_lead_to_a_seal_is_unfit(events: list[Event], reason: str) -> None:
    with pytest.raises(UnfitTrail) as raised:
        follow_trail(OUT, chain(*events))
    assert reason in str(raised.value)


def test_only_a_document_that_is_out_follows() -> None:
    for status in (Status.DRAFT, Status.CANCELLED, Status.COMPLETED):
        with pytest.raises(Problem):
            follow_trail(replace(OUT, status=status), chain())


def test_nothing_is_mailed_for_what_is_put_back() -> None:
    waits: Document = replace(OUT, status=Status.SEALING)
    seal = a_seal(sealed_at=NOW + 2)
    outcome = put_back(waits, seal, 3, NOW + HOUR)
    assert outcome.jobs == () and outcome.document.completed_at == NOW + 2
    first, last = outcome.events
    assert (first.type, first.at, first.data["adopted"]) == ("document.put_back", NOW + HOUR, 3)
    assert (last.type, last.at, last.origin) == ("document.completed", NOW + HOUR, NOWHERE)
    assert last.data["sha256"] == seal.sha256 and "sealedAt" in last.data
    cy = outcome.document.recipients[1]
    assert (cy.status, cy.sent_at, cy.delivery) == (SENT, NOW + 2, MailDelivery.NONE)
