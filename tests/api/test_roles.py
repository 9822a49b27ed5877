"""The four roles over HTTP (contract 4): what each may hold, when each is asked, what each may do."""

from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY
from tests.api.site import ONE_PAGE, Site, a_request
from tests.journeys.api import Person, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROLES = ("signer", "approver", "viewer", "cc")
FIELD = {"type": "text", "page": 1, "x": 10, "y": 10}


def of(document: Any, role: str) -> Any:
    return next(recipient for recipient in document["recipients"] if recipient["role"] == role)


async def mails_to(site: Site, address: str) -> list[str]:
    """The subjects, oldest first."""
    mails = await embedded_outbox.list_mails(site.runtime.db, 1000)
    return [mail.subject for mail in reversed(mails) if address in mail.recipient]


def everybody(site: Site, **orders: int) -> list[dict[str, Any]]:
    return [site.signer(role=role, order=orders.get(role, 1)) for role in ROLES]


async def approve(person: Person) -> None:
    for answer in (await person.view(), await person.complete({})):
        assert answer.status == 200, answer.content


# ---------- what a role may hold ----------


@pytest.mark.parametrize("role", ROLES)
async def test_a_document_takes_every_role_and_shows_it(site: Site, role: str) -> None:
    document = await site.create_draft(recipients=[site.signer(role=role, order=3)])
    assert [(r["role"], r["order"], r["status"]) for r in document["recipients"]] == [(role, 3, "created")]


@pytest.mark.parametrize("role", ROLES)
async def test_only_signers_and_approvers_hold_fields(site: Site, role: str) -> None:
    holder, other = site.signer(role=role, fields=[FIELD]), site.signer()
    acting, wrong = role in ("signer", "approver"), {("/recipients/1/fields", "reference")}
    answer = await site.ask("POST", "/documents", a_request(recipients=[other, holder]))
    assert answer.status == 201 if acting else answer.places == wrong

    document_id = await site.create(recipients=[other, site.signer()])
    path = f"/documents/{document_id}"
    answer = await site.ask("PATCH", path, {"recipients": [site.signer(), holder]})
    assert answer.status == 200 if acting else answer.places == wrong
    answer = await site.ask("POST", f"{path}/recipients", holder)
    assert answer.status == 201 if acting else answer.places == {("/fields", "reference")}

    draft = await site.create_draft(recipients=[site.signer(fields=[FIELD])])
    one = f"/documents/{draft['id']}/recipients/{draft['recipients'][0]['id']}"
    answer = await site.ask("PATCH", one, {"role": role})
    assert answer.status == 200 if acting else answer.places == {("/fields", "reference")}
    if not acting:
        assert (await site.ok("PATCH", one, {"role": role, "fields": []}))["role"] == role
        assert (await site.ask("PATCH", one, {"fields": [FIELD]})).places == {("/fields", "reference")}


async def test_templates_take_every_role_and_hand_it_on(site: Site) -> None:
    roles = [{"key": role, "role": role, "order": n} for n, role in enumerate(ROLES, 1)]
    template = await site.ok("POST", "/templates", {"fileName": "a.pdf", "file": ONE_PAGE, "roles": roles})
    assert [role["role"] for role in template["roles"]] == list(ROLES)
    takers = [{**site.signer(), "roleKey": role} for role in ROLES]
    made = await site.ok("POST", f"/templates/{template['id']}/documents", {"recipients": takers})
    document = await site.get(made["id"])
    assert [(r["role"], r["order"]) for r in document["recipients"]] == list(
        zip(ROLES, (1, 2, 3, 4), strict=True)
    )

    path = f"/templates/{template['id']}"
    watched = {"id": template["roles"][2]["id"], "fields": [FIELD]}
    assert (await site.ask("PATCH", path, {"roles": [watched]})).places == {("/roles/0/fields", "reference")}
    acting = {"id": template["roles"][1]["id"], "fields": [FIELD]}
    assert (await site.ok("PATCH", path, {"roles": [acting]}))["roles"][0]["role"] == "approver"

    again = await site.ok("POST", "/templates", {"fromDocumentId": made["id"]})
    assert [role["role"] for role in again["roles"]] == list(ROLES)


# ---------- sending and order ----------


@pytest.mark.parametrize("role", ROLES)
async def test_a_document_needs_a_signer_to_be_sent(site: Site, role: str) -> None:
    body = a_request(recipients=[site.signer(role=role)], send=True)
    answer = await site.ask("POST", "/documents", body)
    if role == "signer":
        assert answer.status == 201
    else:
        assert answer.code == "document_not_ready" and answer.places == {("/recipients", "required")}


async def test_viewers_are_asked_with_their_group_and_copies_are_not_sent_before_the_end(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site, signer=2, viewer=2, cc=1))
    assert {r["role"]: r["status"] for r in document["recipients"]} == {
        "signer": "created", "approver": "sent", "viewer": "created", "cc": "created"
    }  # fmt: skip
    await approve(await site.person(of(document, "approver")["email"]))
    document = await site.get(document["id"])
    assert {r["role"]: r["status"] for r in document["recipients"]} == {
        "signer": "sent", "approver": "completed", "viewer": "sent", "cc": "created"
    }  # fmt: skip


async def test_viewers_after_the_last_who_acts_get_the_sealed_copy_only(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site, viewer=2))
    approver, signer, viewer = (of(document, role) for role in ("approver", "signer", "viewer"))
    await approve(await site.person(approver["email"]))
    await (await site.person(signer["email"])).sign()
    done = await site.wait_until_sealed(document["id"])
    assert await mails_to(site, viewer["email"]) in ([], ["Signed and approved: agreement"])
    for role in ("viewer", "cc"):
        last = of(done, role)
        assert (last["status"], last["sentAt"]) == ("sent", done["completedAt"])
        person = await site.person(last["email"])
        assert await person.state() == "completed"
        assert await mails_to(site, last["email"]) == ["Signed and approved: agreement"]
    events = [(entry["type"], entry["recipientId"]) for entry in await site.trail(document["id"])]
    assert ("recipient.sent", viewer["id"]) not in events
    assert ("recipient.sent", of(done, "cc")["id"]) not in events


# ---------- what each may do ----------


async def test_a_viewer_reads_and_that_is_all(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site))
    viewer = await site.person(of(document, "viewer")["email"])
    assert await viewer.state() == "open"
    assert (await viewer.view()).status == 200
    seen = of(await site.get(document["id"]), "viewer")
    assert seen["status"] == "viewed" and seen["viewedAt"] is not None and seen["completedAt"] is None
    for path in ("pages/1.webp", "original.pdf"):
        async with site.session.get(f"{viewer.link}/{path}") as seen_file:
            assert seen_file.status == 200
    for answer in (await viewer.complete({}), await viewer.decline()):
        assert (answer.status, answer.code) == (409, "recipient_not_active")
    assert (await site.get(document["id"]))["status"] == "sent"
    assert await viewer.state() == "open"


async def test_an_approver_needs_no_signature_and_no_field(site: Site) -> None:
    kinds = [
        {"type": kind, "page": 1, "x": 5, "y": 5 + n * 5}
        for n, kind in enumerate(("signature", "initials", "text", "number", "checkbox"))
    ]
    approver = site.signer(role="approver", fields=[*kinds, FIELD | {"required": True, "key": "note"}])
    signer = site.signer()
    document = await site.send_document(recipients=[approver, signer])
    await approve(await site.person(approver["email"]))
    done = of(await site.get(document["id"]), "approver")
    assert done["status"] == "completed" and {field["value"] for field in done["fields"]} == {None, False}
    await (await site.person(signer["email"])).sign()
    assert (await site.wait_until_sealed(document["id"]))["status"] == "completed"


async def test_an_approver_may_refuse_and_that_ends_it_for_everybody(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site))
    approver = of(document, "approver")
    assert (await (await site.person(approver["email"])).decline("Too dear.")).status == 200
    closed = await site.get(document["id"])
    assert (closed["status"], closed["closeReason"]) == ("declined", "Too dear.")
    assert of(closed, "approver")["status"] == "declined"

    async def is_told() -> bool | None:
        viewer = await mails_to(site, of(document, "viewer")["email"])
        return any(subject.startswith("Declined") for subject in viewer) or None

    await until(is_told, "mail to the viewer")
    assert await mails_to(site, of(document, "cc")["email"]) == []


@pytest.mark.parametrize(
    ("role", "code"),
    [("signer", "200"), ("approver", "200"), ("viewer", "200"), ("cc", "recipient_not_active")],
)
async def test_links_are_issued_for_every_role_that_has_one(site: Site, role: str, code: str) -> None:
    document = await site.send_document(recipients=everybody(site))
    recipient = of(document, role)
    answer = await site.ask("POST", f"/documents/{document['id']}/recipients/{recipient['id']}/link", {})
    assert answer.code == code
    if code == "200":
        person = Person(site.session, answer.body["url"])
        assert await person.state() == "open"
    else:
        assert answer.body["error"]["currentStatus"] == "sent"


async def test_a_viewer_keeps_getting_links_while_the_document_is_out(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site))
    viewer = of(document, "viewer")
    await (await site.person(viewer["email"])).view()
    path = f"/documents/{document['id']}/recipients/{viewer['id']}/link"
    assert (await site.ask("POST", path, {})).status == 200
    await site.ok("POST", f"/documents/{document['id']}/cancel", {})
    assert (await site.ask("POST", path, {})).code == "document_not_sent"


async def test_only_those_who_act_are_reminded(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site))
    path = f"/documents/{document['id']}/remind"
    done = await site.ok("POST", path, {})
    assert set(done["reminded"]) == {of(document, role)["id"] for role in ("signer", "approver")}
    assert {(one["recipientId"], one["reason"]) for one in done["skipped"]} == {
        (of(document, role)["id"], "not_acting") for role in ("viewer", "cc")
    }
    only = await site.ask("POST", path, {"recipientIds": [of(document, "viewer")["id"]]})
    assert only.code == "no_recipient_to_remind"


async def test_automatic_reminders_pass_viewers_and_copies_by(site: Site) -> None:
    document = await site.send_document(recipients=everybody(site))
    rows = await site.runtime.db.all(
        "SELECT role, next_reminder_at FROM recipient WHERE document_id = :id", id=document["id"]
    )
    due = site.clock.now() + 3 * DAY
    assert {row["role"]: row["next_reminder_at"] for row in rows} == {
        "signer": due, "approver": due, "viewer": None, "cc": None
    }  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
async def test_each_role_is_corrected_while_it_is_out_and_who_was_asked_is_asked_anew(
    site: Site, role: str
) -> None:
    document = await site.send_document(recipients=everybody(site))
    recipient, new = of(document, role), site.signer()["email"]
    path = f"/documents/{document['id']}/recipients/{recipient['id']}"
    corrected = await site.ok("PATCH", path, {"email": new})
    assert (corrected["email"], corrected["status"]) == (new, "created" if role == "cc" else "sent")
    sent = [(entry["type"], entry["recipientId"]) for entry in await site.trail(document["id"])]
    assert sent.count(("recipient.sent", recipient["id"])) == (0 if role == "cc" else 2)
    changes: list[dict[str, Any]] = [{"role": "signer"}, {"order": 2}, {"fields": []}]
    for wrong in changes:
        assert (await site.ask("PATCH", path, wrong)).code == "document_not_draft"
