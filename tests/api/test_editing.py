"""Changing documents and recipients over the API."""

from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY, rfc3339
from esign.core.people.api_key import Scope
from tests.api.site import ONE_PAGE, Site, SiteAnswer, a_request, b64
from tests.journeys.api import a_pdf, until
from tests.journeys.letters import part
from tests.pdf.sealing import text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIGNATURE = {"type": "signature", "page": 1, "x": 10, "y": 10}


def text(**members: Any) -> dict[str, Any]:
    return {"type": "text", "page": 1, "x": 10, "y": 30, **members}


async def patch(site: Site, document_id: str, body: Any, **given: Any) -> SiteAnswer:
    return await site.ask("PATCH", f"/documents/{document_id}", body, **given)


async def test_only_what_is_given_changes(site: Site) -> None:
    before = await site.create_draft(subject="Hello", message="Dear", externalId="o-1", metadata={"a": "1"})
    answer = await patch(site, before["id"], {"title": " New ", "subject": None, "metadata": {"b": "2"}})
    assert answer.status == 200 and answer.headers["etag"] == '"2"'
    assert answer.body == {
        **before,
        "title": "New",
        "subject": None,
        "metadata": {"b": "2"},
        "revision": 2,
        "updatedAt": rfc3339(site.clock.now()),
    }
    assert await site.get(before["id"]) == answer.body


async def test_null_clears_or_puts_the_default_in(site: Site) -> None:
    reminders = {"enabled": False, "firstAfterDays": 9}
    made = await site.create_draft(
        title="Mine",
        expiresInDays=5,
        reminders=reminders,
        redirectUrl="https://a.test/",
        locale="en",
        metadata={"a": "b"},
    )
    names = ("title", "expiresInDays", "reminders", "redirectUrl", "locale", "metadata", "externalId")
    changed = (await patch(site, made["id"], dict.fromkeys(names))).body
    assert [changed[name] for name in names] == [
        "agreement",
        30,
        {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5},
        None,
        None,
        {},
        None,
    ]


@pytest.mark.parametrize(
    "body, place",
    [
        ({"title": ""}, ("/title", "length")),
        ({"titel": "x"}, ("/titel", "unknown_member")),
        ({"file": ONE_PAGE}, ("/fileName", "required")),
        ({"fileName": None}, ("/fileName", "type")),
        ({"recipients": None}, ("/recipients", "type")),
        ({"recipients": [{"name": "A"}]}, ("/recipients/0/email", "required")),
        ({"recipients": [{"id": "rcp_01kzt0v8q3e5m7p9r1s3t5v7w9"}]}, ("/recipients/0/id", "reference")),
        ({"expiresAt": "tomorrow"}, ("/expiresAt", "format")),
        ({"metadata": {"a b": "c"}}, ("/metadata/a b", "format")),
    ],
)
async def test_a_body_that_does_not_fit_is_refused(site: Site, body: Any, place: tuple[str, str]) -> None:
    answer = await patch(site, await site.create(), body)
    assert answer.code == "invalid_request" and place in answer.places, answer


async def test_all_that_is_wrong_with_a_change_is_told_at_once(site: Site) -> None:
    document_id = await site.create()
    nulls = {"fileName": None, "file": None, "recipients": None, "titel": 1}
    assert (await patch(site, document_id, nulls)).places == {
        *((f"/{name}", "type") for name in ("fileName", "file", "recipients")),
        ("/titel", "unknown_member"),
    }
    entries = [{"order": 1}, {"id": "x", "email": None, "name": None}]
    assert (await patch(site, document_id, {"recipients": entries})).places == {
        *(("/recipients/0/email", "required"), ("/recipients/0/name", "required")),
        *(("/recipients/1/email", "type"), ("/recipients/1/name", "type")),
    }
    entries = [{"id": "x"}, {"id": "y"}, site.signer(fields=[text(key="k"), text(key="k")])]
    assert (await patch(site, document_id, {"recipients": entries})).places == {
        *(("/recipients/0/id", "reference"), ("/recipients/1/id", "reference")),
        ("/recipients/2/fields/1/key", "duplicate"),
    }


async def test_the_list_of_recipients_is_replaced_and_those_with_an_id_stay_who_they_are(site: Site) -> None:
    ana, bo, cy = (site.signer(fields=[SIGNATURE]) for _ in range(3))
    made = await site.create_draft(recipients=[ana, bo, cy])
    first, second, third = made["recipients"]
    new = site.signer(order=3)
    answer = await patch(
        site,
        made["id"],
        {
            "recipients": [
                {"id": third["id"], "name": "Cy Other"},
                new,
                {"id": first["id"], "fields": [text(key="a")], "order": 2},
            ]
        },
    )
    assert answer.status == 200
    cy_now, new_now, ana_now = answer.body["recipients"]
    assert cy_now == {**third, "name": "Cy Other"}
    assert new_now["email"] == new["email"] and new_now["order"] == 3 and new_now["id"] != second["id"]
    assert (ana_now["id"], ana_now["email"], ana_now["order"]) == (first["id"], first["email"], 2)
    assert [field["key"] for field in ana_now["fields"]] == ["a"]
    assert (await site.get(made["id"]))["recipients"] == answer.body["recipients"]
    twice = [{"id": first["id"]}, {"id": first["id"]}]
    assert (await patch(site, made["id"], {"recipients": twice})).places == {
        ("/recipients/1/id", "duplicate")
    }
    assert (await patch(site, made["id"], {"recipients": []})).body["recipients"] == []


async def test_keys_must_differ_over_the_whole_new_list(site: Site) -> None:
    made = await site.create_draft(recipients=[site.signer(fields=[text(key="k")])])
    entries = [{"id": made["recipients"][0]["id"]}, site.signer(fields=[text(key="k")])]
    answer = await patch(site, made["id"], {"recipients": entries})
    assert answer.places == {("/recipients/1/fields/0/key", "duplicate")}


async def test_an_unknown_recipient_is_not_found_before_anything_else_is_refused(site: Site) -> None:
    document = await site.send_document()
    unknown = f"/documents/{document['id']}/recipients/rcp_01kzt0v8q3e5m7p9r1s3t5v7w9"
    for method, body in (("PATCH", {"order": 2}), ("DELETE", None)):
        for headers in ({}, {"If-Match": '"99"'}):
            assert (await site.ask(method, unknown, body, headers=headers)).code == "not_found"


async def test_what_the_state_refuses_comes_before_what_cannot_be_printed(site: Site) -> None:
    ana, bo = site.signer(), site.signer(order=2)
    document = await site.send_document(recipients=[ana, bo])
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    unprintable = {"name": "\U0001d15e"}
    stale = await site.ask("PATCH", path, unprintable, headers={"If-Match": '"1"'})
    assert stale.code == "revision_mismatch"
    await (await site.person(ana["email"])).sign()
    assert (await site.ask("PATCH", path, unprintable)).code == "recipient_already_completed"


async def test_what_the_body_says_of_recipients_is_refused_before_the_file_is_read(site: Site) -> None:
    body = {
        "file": "%%%",
        "fileName": "a.pdf",
        "recipients": [site.signer(fields=[text(key="k"), text(key="k")])],
    }
    answer = await patch(site, await site.create(), body)
    assert answer.places == {("/recipients/0/fields/1/key", "duplicate")}


async def test_a_new_file_must_hold_every_field(site: Site) -> None:
    two = b64(a_pdf(2))
    made = await site.create_draft(file=two, recipients=[site.signer(fields=[text(page=2)])])
    refused = await patch(site, made["id"], {"file": ONE_PAGE, "fileName": "short.pdf"})
    assert refused.code == "field_out_of_bounds"
    assert {path for path, _ in refused.places} == {"/recipients/0/fields/0/page"}
    entry = {"id": made["recipients"][0]["id"], "fields": [SIGNATURE]}
    changed = await patch(
        site, made["id"], {"file": ONE_PAGE, "fileName": "short.pdf", "recipients": [entry]}
    )
    assert changed.status == 200, changed
    assert (changed.body["fileName"], changed.body["pageCount"]) == ("short.pdf", 1)
    assert changed.body["fileSha256"] != made["fileSha256"] and changed.body["title"] == made["title"]
    assert b64(await site.bytes_of(made["id"], "original")) == ONE_PAGE
    rows = await site.runtime.db.all(
        "SELECT sha256 FROM document_blob WHERE document_id = :id", id=made["id"]
    )
    assert made["fileSha256"] not in {row["sha256"] for row in rows}
    entry_of_trail = (await site.trail(made["id"]))[-2]
    assert entry_of_trail["type"] == "document.updated"
    assert entry_of_trail["data"]["fileSha256"] == changed.body["fileSha256"]
    assert (await patch(site, made["id"], {"file": "JVBERi0", "fileName": "a.pdf"})).code == "invalid_file"
    assert (await site.ask("POST", f"/documents/{made['id']}/send")).status == 200


async def test_a_file_can_be_renamed_alone(site: Site) -> None:
    changed = (await patch(site, await site.create(), {"fileName": "other.pdf", "title": None})).body
    assert (changed["fileName"], changed["title"]) == ("other.pdf", "other")


@pytest.mark.parametrize("revision, code", [('"1"', "200"), ("*", "200"), ('"2"', "revision_mismatch")])
async def test_if_match_lets_only_that_revision_be_changed(site: Site, revision: str, code: str) -> None:
    answer = await patch(site, await site.create(), {"title": "x"}, headers={"If-Match": revision})
    assert answer.code == code


async def test_a_repeated_change_under_its_key_is_replayed(site: Site) -> None:
    document_id, key = await site.create(), {"Idempotency-Key": "patch-1"}
    first = await patch(site, document_id, {"title": "x"}, headers=key)
    again = await patch(site, document_id, {"title": "x"}, headers=key)
    assert again.content == first.content and again.headers["etag"] == first.headers["etag"] == '"2"'


async def test_while_it_is_out_only_four_members_change(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    until_day = rfc3339(site.clock.now() + 40 * DAY)
    answer = await patch(
        site,
        document["id"],
        {
            "expiresAt": until_day,
            "externalId": "o-9",
            "metadata": {"k": "v"},
            "reminders": {"enabled": False},
        },
    )
    assert answer.status == 200 and answer.body["expiresAt"] == until_day
    assert answer.body["externalId"] == "o-9" and answer.body["reminders"]["enabled"] is False
    bodies: list[Any] = [{"title": "x"}, {"recipients": []}, {"file": ONE_PAGE, "fileName": "a.pdf"}]
    for body in bodies:
        refused = await patch(site, document["id"], body)
        assert refused.code == "document_not_draft" and refused.body["error"]["currentStatus"] == "sent"
    late = {"expiresAt": rfc3339(site.clock.now() + 366 * DAY)}
    assert (await patch(site, document["id"], late)).places == {("/expiresAt", "range")}
    assert (await patch(site, await site.create(), {"expiresAt": until_day})).code == "document_not_sent"


async def test_labels_change_in_any_state_also_at_the_moment_of_expiry(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()], expiresInDays=1)
    site.clock.advance(days=1)
    answer = await patch(site, document["id"], {"externalId": "late"})
    assert answer.status == 200 and answer.body["status"] == "expired" and answer.body["externalId"] == "late"
    refused = await patch(site, document["id"], {"reminders": {"enabled": False}})
    assert refused.code == "document_not_draft" and refused.body["error"]["currentStatus"] == "expired"


async def test_changing_needs_its_scope_and_an_own_document(site: Site) -> None:
    reader = await site.new_key(Scope.DOCUMENTS_READ)
    paths = [("PATCH", ""), ("POST", "/recipients"), ("PATCH", "/recipients/r"), ("DELETE", "/recipients/r")]
    body = {"POST": {"name": "A", "email": "a@b.test"}}
    for method, path in paths:
        at = f"/documents/{await site.create()}{path}"
        assert (await site.ask(method, at, body.get(method), key=reader)).code == "insufficient_scope"
        unknown = f"/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9{path}"
        assert (await site.ask(method, unknown, body.get(method))).code == "not_found"


# ---------- recipients ----------


async def test_a_recipient_is_added_changed_and_removed(site: Site) -> None:
    document_id = await site.create(recipients=[])
    added = await site.ask("POST", f"/documents/{document_id}/recipients", site.signer(fields=[SIGNATURE]))
    path = f"/documents/{document_id}/recipients/{added.body['id']}"
    assert added.status == 201 and added.headers["location"] == f"/api/v1{path}"
    assert (await site.get(document_id))["recipients"] == [added.body]
    changed = await site.ok("PATCH", path, {"name": "Other", "order": 4, "fields": None})
    assert changed == {**added.body, "name": "Other", "order": 4, "fields": []}
    assert (await site.ok("PATCH", path, {"order": None}))["order"] == 1
    assert (await site.ok("PATCH", path, {}))["name"] == "Other"
    assert await site.ok("DELETE", path) == {"id": added.body["id"]}
    assert (await site.get(document_id))["recipients"] == []
    assert (await site.ask("DELETE", path)).code == "not_found"
    assert (await site.ask("PATCH", path, {"name": "A"})).code == "not_found"


async def test_what_does_not_fit_into_the_document_is_refused_at_its_member(site: Site) -> None:
    document_id = await site.create(recipients=[site.signer(fields=[text(key="k")])])
    path = f"/documents/{document_id}/recipients"
    double = await site.ask("POST", path, site.signer(fields=[text(), text(key="k")]))
    assert double.places == {("/fields/1/key", "duplicate")}
    outside = await site.ask("POST", path, site.signer(fields=[text(page=2)]))
    assert outside.code == "field_out_of_bounds"
    assert {place for place, _ in outside.places} == {"/fields/0/page"}
    rid = (await site.get(document_id))["recipients"][0]["id"]
    assert (await site.ask("PATCH", f"{path}/{rid}", {"email": None})).places == {("/email", "type")}


async def test_the_first_instant_of_all_is_no_missing_expiry(site: Site) -> None:
    document = await site.send_document()
    answer = await patch(site, document["id"], {"expiresAt": "1970-01-01T00:00:00Z"})
    assert answer.places == {("/expiresAt", "range")}


async def test_a_recipient_cannot_bring_more_fields_than_the_document_may_have(site: Site) -> None:
    document = await site.create_draft(recipients=[site.signer(fields=[text()] * 499), site.signer()])
    path, more = f"/documents/{document['id']}/recipients", [text(), text(key="k"), text(key="k")]
    wrong = {("/fields", "length"), ("/fields/2/key", "duplicate")}
    assert (await site.ask("POST", path, site.signer(fields=more))).places == wrong
    change = await site.ask("PATCH", f"{path}/{document['recipients'][1]['id']}", {"fields": more})
    assert change.places == wrong


async def test_a_full_document_takes_nobody_more(site: Site) -> None:
    document_id = await site.create(recipients=[site.signer() for _ in range(50)])
    refused = await site.ask("POST", f"/documents/{document_id}/recipients", site.signer())
    assert refused.code == "limit_reached"


async def test_recipients_of_a_document_that_is_out_stay(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    path = f"/documents/{document['id']}/recipients"
    rid = document["recipients"][0]["id"]
    for method, at, body in (
        ("POST", path, site.signer()),
        ("DELETE", f"{path}/{rid}", None),
        ("PATCH", f"{path}/{rid}", {"order": 2}),
        ("PATCH", f"{path}/{rid}", {"name": "x", "fields": []}),
    ):
        refused = await site.ask(method, at, body)
        assert refused.code == "document_not_draft" and refused.body["error"]["currentStatus"] == "sent"


async def test_a_corrected_recipient_is_asked_at_the_new_address_and_the_old_link_is_dead(site: Site) -> None:
    wrong, right = site.signer(fields=[SIGNATURE]), site.signer()
    document = await site.send_document(recipients=[wrong])
    old = await site.person(wrong["email"])
    assert (await old.view()).status == 200
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    answer = await site.ask("PATCH", path, {"email": right["email"], "name": "Right Person"})
    assert answer.status == 200 and answer.body["status"] == "sent" and answer.body["viewedAt"] is None
    assert await old.state() == "unknown"
    new = await site.person(right["email"])
    assert await new.state() == "open"
    await new.sign({answer.body["fields"][0]["id"]: {"kind": "typed", "text": "R", "hand": "a"}})
    done = await site.wait_until_sealed(document["id"])
    assert done["recipients"][0]["name"] == "Right Person"
    entry = next(e for e in await site.trail(document["id"]) if e["type"] == "recipient.corrected")
    assert entry["detail"]["old"]["email"] == wrong["email"]
    assert entry["detail"]["new"] == {"email": right["email"], "name": "Right Person"}
    refused = await site.ask("PATCH", path, {"name": "Late"})
    assert refused.code == "document_not_draft"


async def test_who_has_finished_is_not_corrected_and_who_waits_is_without_a_mail(site: Site) -> None:
    first, second = site.signer(), site.signer(order=2)
    document = await site.send_document(recipients=[first, second])
    done, waiting = (
        f"/documents/{document['id']}/recipients/{recipient['id']}" for recipient in document["recipients"]
    )
    corrected = await site.ok("PATCH", waiting, {"name": "Second Name"})
    assert (corrected["status"], corrected["delivery"]["status"]) == ("created", "none")
    await (await site.person(first["email"])).sign()
    assert (await site.ask("PATCH", done, {"name": "x"})).code == "recipient_already_completed"

    async def is_asked() -> bool | None:
        return (await site.get(document["id"]))["recipients"][1]["name"] == "Second Name" or None

    await until(is_asked, "name")


async def test_a_correction_that_cannot_be_printed_is_refused(site: Site) -> None:
    document = await site.send_document(recipients=[site.signer()])
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    assert (await site.ask("PATCH", path, {"name": "Ada \U00013000"})).places == {("/name", "format")}


# ---------- create and send at once ----------


async def test_a_document_can_be_created_and_sent_at_once(site: Site) -> None:
    signer = site.signer()
    answer = await site.ask("POST", "/documents", a_request(recipients=[signer], send=True))
    assert answer.status == 201 and answer.body["status"] == "sent" and set(answer.body) == {"id", "status"}
    assert await site.list_events(answer.body["id"]) == [
        "document.created",
        "document.sent",
        "recipient.sent",
    ]
    await (await site.person(signer["email"])).sign()
    assert (await site.create_draft(send=False))["status"] == "draft"


async def test_what_cannot_be_sent_at_once_is_not_stored(site: Site) -> None:
    before = await site.runtime.db.all("SELECT id FROM document")
    key = {"Idempotency-Key": "at-once"}
    refused = await site.ask("POST", "/documents", a_request(recipients=[], send=True), headers=key)
    assert refused.code == "document_not_ready" and refused.places == {("/recipients", "required")}
    unprintable = await site.ask("POST", "/documents", a_request(title="\U00013000", send=True))
    assert unprintable.code == "document_not_ready"
    writer = await site.new_key(Scope.DOCUMENTS_WRITE)
    assert (
        await site.ask("POST", "/documents", a_request(send=True), key=writer)
    ).code == "insufficient_scope"
    assert (await site.ask("POST", "/documents", a_request(send=False), key=writer)).status == 201
    assert len(await site.runtime.db.all("SELECT id FROM document")) == len(before) + 1
    assert (await site.ask("POST", "/documents", a_request(send=True), headers=key)).status == 201


async def test_another_address_for_a_document_that_is_out_needs_the_scope_to_send(site: Site) -> None:
    """Whoever may only write must not make a sent document go to somebody else, whosever turn it is."""
    writing = await site.new_key(*(set(Scope) - {Scope.ALL, Scope.DOCUMENTS_SEND}))
    people = [site.signer(), site.signer(order=2), site.signer(role="cc")]
    document = await site.send_document(recipients=people)
    await (await site.person(people[0]["email"])).view()
    for recipient in document["recipients"]:
        path = f"/documents/{document['id']}/recipients/{recipient['id']}"
        for body in ({"email": "mallory@example.test"}, {"email": "mallory@example.test", "name": "Mallory"}):
            refused = await site.ask("PATCH", path, body, key=writing)
            assert refused.code == "insufficient_scope"
            assert 'scope="documents:send"' in refused.headers["www-authenticate"]
        same = await site.ok("PATCH", path, {"email": recipient["email"], "name": "New Name"}, key=writing)
        assert (same["email"], same["name"]) == (recipient["email"], "New Name")
    assert "recipient.corrected" in await site.list_events(document["id"])
    assert all(r["email"] != "mallory@example.test" for r in (await site.get(document["id"]))["recipients"])
    draft = await site.create_draft()
    path = f"/documents/{draft['id']}/recipients/{draft['recipients'][0]['id']}"
    assert (await site.ok("PATCH", path, {"email": "new@example.test"}, key=writing))["email"]
    both = await site.new_key(Scope.DOCUMENTS_WRITE, Scope.DOCUMENTS_SEND)
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    assert (await site.ok("PATCH", path, {"email": "right@example.test"}, key=both))["status"] == "sent"


@pytest.mark.parametrize("again", ["invited", "reminded", "has another part"])
async def test_the_address_before_is_told_in_its_language_and_not_told_the_new_one(
    site: Site, again: str
) -> None:
    """Also where a reminder is still on its way, and where the address keeps another part in the document."""
    wrong, right = (
        site.signer(locale="de"),
        f"johanna.{site.signer()['email'].partition('@')[0]}t@example.test",
    )
    people = [wrong, {**site.signer(role="cc"), "email": wrong["email"]}] if "part" in again else [wrong]
    document = await site.send_document(recipients=people, title="Lease of the barn")
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"

    async def find_arrival() -> Any:
        return (await site.get(document["id"]))["recipients"][0]["mail"] == "kept" or None

    await until(find_arrival, "invitation")
    if again == "reminded":
        await site.ok("POST", f"/documents/{document['id']}/remind", {})
    await site.ok("PATCH", path, {"email": right})

    async def farewell() -> Any:
        for mail in await embedded_outbox.list_mails(site.runtime.db, 1000):
            if wrong["email"] in mail.recipient and "umgeleitet" in mail.subject:
                return await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
        return None

    message = await until(farewell, "mail to the address before")
    text = part(message, "plain")
    assert "j•••t@example.test" in text and "johanna" not in text
    await (await site.person(right)).sign()
    if "part" not in again:
        await site.wait_until_sealed(document["id"])
        printed = " ".join(text_of(await site.bytes_of(document["id"], "certificate")).split())
        printed = printed.replace(" ", "")
        assert f"{wrong['email']},now{right}" in printed
