"""Test mode: the mails it keeps, the recipients it plays, and that nothing of it reaches what is live."""

import io
from typing import Any

import pikepdf
import pypdfium2
import pytest
import pytest_asyncio

from esign.core.actor import Mode
from esign.core.document.document import FieldType
from esign.core.instant import parse, rfc3339
from esign.core.people.api_key import Scope
from esign.store.people import organisations
from tests.api.site import Site, SiteAnswer, a_config, a_request, b64, running
from tests.factories import an_organisation
from tests.journeys.api import Person, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADA, BOB = "ada@example.test", "bob@example.test"
PLACE = {"page": 1, "x": 10}


@pytest_asyncio.fixture(loop_scope="module")
async def key(site: Site) -> str:
    return await site.new_key(mode=Mode.TEST)


async def send_test_document(site: Site, key: str, **changes: Any) -> Any:
    """A new document of test mode that is out for signature."""
    made = await site.ok("POST", "/documents", a_request(send=True, **changes), key=key)
    return await site.ok("GET", f"/documents/{made['id']}", key=key)


async def mails(site: Site, key: str, count: int, query: str) -> list[Any]:
    """The mails of test mode once there are so many, newest first."""

    async def there() -> list[Any] | None:
        page = await site.ok("GET", f"/test/messages?limit=100&{query}", key=key)
        return list(page["data"]) if len(page["data"]) >= count else None

    return await until(there, f"{count} mails for {query}")


async def simulate(site: Site, key: str, document: Any, action: str, **body: Any) -> SiteAnswer:
    path = f"/test/documents/{document['id']}/simulate"
    return await site.ask("POST", path, {"action": action, **body}, key=key)


async def play_step(site: Site, key: str, document: Any, action: str, **body: Any) -> Any:
    answer = await simulate(site, key, document, action, **body)
    assert answer.status == 200, answer
    return answer.body


async def wait_until_delivered(site: Site, key: str, document: Any) -> None:
    """Wait until what became of each invitation is noted on its recipient."""

    async def is_noted() -> bool | None:
        found = await site.ok("GET", f"/documents/{document['id']}", key=key)
        return all(person["delivery"]["status"] != "queued" for person in found["recipients"]) or None

    await until(is_noted, "delivery")


async def actors(site: Site, key: str, document: Any) -> dict[str, str]:
    """Who is said to have done what, by type."""
    page = await site.ok("GET", f"/documents/{document['id']}/audit?limit=100", key=key)
    return {entry["type"]: entry["actor"]["kind"] for entry in page["data"]}


async def complete_test_document(site: Site, key: str, document: Any) -> Any:
    async def find_completed() -> Any:
        found = await site.ok("GET", f"/documents/{document['id']}", key=key)
        assert found["sealError"] is None, found["sealError"]
        return found if found["status"] == "completed" else None

    return await until(find_completed, "seal")


# ---------- messages ----------


async def test_the_mails_of_test_mode_can_be_read_with_their_links(site: Site, key: str) -> None:
    document = await send_test_document(
        site, key, title="Lease", message="See https://example.test/s/notice first."
    )
    [mail] = await mails(site, key, 1, f"documentId={document['id']}")
    assert (mail["to"], mail["subject"]) == (ADA, "[TEST] Please sign: Lease")
    assert mail["createdAt"] == rfc3339(site.clock.now()) and mail["id"].startswith("mail_")
    assert (
        "This is a test and has no legal effect." in mail["text"]
        and "See https://example.test/s/notice first." in mail["text"]
    )
    [link] = mail["links"]
    assert link.startswith(f"{site.base}/s/") and link in mail["text"]
    assert await Person(site.session, link).state() == "open"


async def test_mails_are_found_by_document_and_recipient_newest_first_and_paged(site: Site, key: str) -> None:
    people = [{"name": "Ada", "email": ADA}, {"name": "Bob", "email": BOB}]
    first, second = (
        await send_test_document(site, key, recipients=people),
        await send_test_document(site, key, recipients=people),
    )
    ada, bob = (recipient["id"] for recipient in first["recipients"])
    await mails(site, key, 2, f"documentId={first['id']}")
    await mails(site, key, 2, f"documentId={second['id']}")
    site.clock.advance(hours=1)
    await play_step(site, key, first, "remind", recipientId=ada)
    found = await mails(site, key, 2, f"recipientId={ada}")
    assert [mail["to"] for mail in found] == [ADA, ADA]
    assert [mail["subject"].split()[1] for mail in found] == ["Still", "Please"]
    query = f"documentId={first['id']}"
    whole = await mails(site, key, 3, query)
    assert sorted(mail["to"] for mail in whole) == [ADA, ADA, BOB]
    page = await site.ok("GET", f"/test/messages?limit=1&{query}", key=key)
    seen = page["data"]
    while page["hasMore"]:
        page = await site.ok("GET", f"/test/messages?limit=1&{query}&cursor={page['nextCursor']}", key=key)
        seen += page["data"]
    assert seen == whole and page["nextCursor"] is None
    both = f"documentId={second['id']}&recipientId={bob}"
    assert (await site.ok("GET", f"/test/messages?{both}", key=key))["data"] == []
    cursor = (await site.ok("GET", f"/test/messages?limit=1&{query}", key=key))["nextCursor"]
    assert (await site.ask("GET", f"/test/messages?cursor={cursor}", key=key)).code == "invalid_cursor"
    assert (await site.ok("GET", "/test/messages?documentId=doc_x", key=key))["data"] == []


async def test_no_mail_of_live_mode_or_another_organisation_is_ever_shown(site: Site, key: str) -> None:
    document = await site.send_document(recipients=[site.signer()])
    await site.person(document["recipients"][0]["email"])  # it has been mailed
    assert (await site.ok("GET", f"/test/messages?documentId={document['id']}", key=key))["data"] == []
    mine = await send_test_document(site, key)
    await mails(site, key, 1, f"documentId={mine['id']}")
    other = await stranger(site)
    assert (await site.ok("GET", "/test/messages", key=other))["data"] == []


async def stranger(site: Site) -> str:
    """A test key of another organisation."""
    organisation = an_organisation(id="org_01kzt0v8q3e5m7p9r1s3t5v7zz")

    async def add(tx: Any) -> None:
        if not await tx.all("SELECT 1 FROM organisation WHERE id = :id", id=organisation.id):
            await organisations.add(tx, organisation)

    await site.runtime.db.write(add)
    return await site.new_key(mode=Mode.TEST, organisation=organisation.id)


async def test_what_is_kept_is_encrypted_and_goes_with_its_document(site: Site, key: str) -> None:
    document = await send_test_document(site, key, title="Very secret title")
    [mail] = await mails(site, key, 1, f"documentId={document['id']}")
    [row] = await site.runtime.db.all(
        "SELECT content, words FROM kept_mail WHERE document_id = :id", id=document["id"]
    )
    assert not any(word in row[column] for word in (b"/s/", b"Please", b"secret") for column in row.keys())  # noqa: SIM118  a row is no dict
    await site.ok("POST", f"/documents/{document['id']}/cancel", {"notify": False}, key=key)
    await site.ok("DELETE", f"/documents/{document['id']}", key=key)
    assert mail not in (await site.ok("GET", "/test/messages?limit=100", key=key))["data"]
    assert not await site.runtime.db.all("SELECT 1 FROM kept_mail WHERE document_id = :id", id=document["id"])


# ---------- a live key ----------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/test/messages", None),
        ("GET", "/test/messages?limit=x", None),
        ("POST", "/test/documents/{id}/simulate", {"action": "view"}),
        ("POST", "/test/documents/{id}/simulate", {"nonsense": 1}),
    ],
)
async def test_to_a_live_key_the_test_helpers_do_not_exist(
    site: Site, method: str, path: str, body: Any
) -> None:
    live = await site.send_document()
    answer = await site.ask(method, path.replace("{id}", live["id"]), body)
    unknown = await site.ask(method, "/test/nothing", body)
    error, other = answer.body["error"], unknown.body["error"]
    assert (answer.status, {**error, "requestId": ""}) == (404, {**other, "requestId": ""})
    assert (await site.get(live["id"]))["recipients"][0]["status"] == "sent"


async def test_the_modes_do_not_see_each_other(site: Site, key: str) -> None:
    live, test = await site.create_draft(), await send_test_document(site, key)
    for own, foreign in ((key, live), (site.key, test)):
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/audit", None),
            ("GET", "/files/original", None),
            ("PATCH", "", {"title": "Mine"}),
            ("POST", "/send", None),
            ("POST", "/cancel", None),
            ("DELETE", "", None),
        ):
            answer = await site.ask(method, f"/documents/{foreign['id']}{path}", body, key=own)
            unknown = await site.ask(
                method, f"/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7zz{path}", body, key=own
            )
            shown = [{**each.body["error"], "requestId": ""} for each in (answer, unknown)]
            assert shown[0] == shown[1] and answer.code == "not_found"
    assert (await simulate(site, key, live, "expire")).code == "not_found"


# ---------- simulate ----------

FIELDS: list[dict[str, Any]] = [
    {**PLACE, "type": type.value, "y": 5 + 8 * n, "required": True, "key": type.value}
    | ({"options": ["red", "green"]} if type in ("radio", "dropdown") else {})
    for n, type in enumerate(FieldType)
]


async def test_a_recipient_goes_through_every_step_as_the_system(site: Site, key: str) -> None:
    document = await send_test_document(
        site, key, recipients=[{"name": "Ada", "email": ADA, "fields": FIELDS}]
    )
    await wait_until_delivered(site, key, document)  # from now on only Ada changes the document
    seen = await play_step(site, key, document, "view")
    assert seen["recipients"][0]["status"] == "viewed"
    again = await play_step(site, key, document, "view")
    assert again == seen, "a second view changes nothing"
    finished = await play_step(site, key, document, "complete")
    assert finished["status"] in ("sealing", "completed")
    fields = {field["key"]: field["value"] for field in finished["recipients"][0]["fields"]}
    assert fields == {
        "signature": {"kind": "typed"},
        "initials": {"kind": "typed"},
        "date": rfc3339(site.clock.now())[:10],
        "name": "Ada",
        "email": ADA,
        "text": "Sample",
        "number": "1",
        "checkbox": True,
        "radio": "red",
        "dropdown": "red",
    }
    assert (await complete_test_document(site, key, document))["seal"]["level"] == "B-B"
    assert await actors(site, key, document) == {
        "document.created": "api_key",
        "document.sent": "api_key",
        "recipient.sent": "system",
        "recipient.authenticated": "system",
        "recipient.viewed": "system",
        "recipient.consented": "system",
        "recipient.completed": "system",
        "document.completed": "system",
    }
    page = await site.ok("GET", f"/documents/{document['id']}/audit?limit=100", key=key)
    shown = next(entry for entry in page["data"] if entry["type"] == "recipient.authenticated")
    assert shown["data"] == {"method": "link", "result": "simulated", "link": "test"}


async def test_who_is_not_named_is_the_first_whose_turn_it_is(site: Site, key: str) -> None:
    people = [{"name": "Bob", "email": BOB, "order": 2}, {"name": "Ada", "email": ADA, "order": 1}]
    document = await send_test_document(site, key, recipients=people)
    bob, ada = (recipient["id"] for recipient in document["recipients"])
    early = await simulate(site, key, document, "complete", recipientId=bob)
    assert early.code == "recipient_not_active" and early.body["error"]["currentStatus"] == "sent"
    after = await play_step(site, key, document, "complete")
    assert [r["status"] for r in after["recipients"]] == ["sent", "completed"]
    again = await simulate(site, key, document, "complete", recipientId=ada)
    assert again.code == "recipient_already_completed"
    after = await play_step(site, key, document, "complete", recipientId=bob)
    assert after["status"] in ("sealing", "completed")


async def test_values_are_those_of_the_caller_by_key_or_id(site: Site, key: str) -> None:
    fields = [
        {**PLACE, "y": 10, "type": "text", "key": "iban"},
        {**PLACE, "y": 20, "type": "number", "min": 3},
        {**PLACE, "y": 30, "type": "signature", "key": "sign", "allowed": ["drawn"]},
        {**PLACE, "y": 40, "type": "checkbox", "key": "box"},
    ]
    document = await send_test_document(
        site, key, recipients=[{"name": "Ada", "email": ADA, "fields": fields}]
    )
    number = document["recipients"][0]["fields"][1]["id"]
    refused: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"iban": True}, ("/values/iban", "type")),
        ({number: "2"}, (f"/values/{number}", "range")),
        ({"bic": "X"}, ("/values/bic", "reference")),
        ({"a/b~c": "X"}, ("/values/a~1b~0c", "reference")),
        ({"sign": {"kind": "typed"}}, ("/values/sign", "enum")),
        ({"sign": {"kind": "drawn", "picture": "data:,x"}}, ("/values/sign", "format")),
        ({"box": "yes"}, ("/values/box", "type")),
    ]
    for values, place in refused:
        answer = await simulate(site, key, document, "complete", values=values)
        assert answer.places == {place}, answer
    values = {"iban": "DE89", number: "7", "box": True, "sign": {"kind": "drawn"}}
    finished = await play_step(site, key, document, "complete", values=values)
    shown = [field["value"] for field in finished["recipients"][0]["fields"]]
    assert shown == ["DE89", "7", {"kind": "drawn"}, True]
    await complete_test_document(site, key, document)


async def test_one_who_declines_ends_the_document(site: Site, key: str) -> None:
    document = await send_test_document(site, key)
    after = await play_step(site, key, document, "decline", reason="Too dear")
    assert (after["status"], after["closeReason"]) == ("declined", "Too dear")
    assert after["recipients"][0]["declineReason"] == "Too dear"
    kinds = await actors(site, key, document)
    assert (kinds["recipient.declined"], kinds["document.declined"]) == ("system", "system")


async def test_a_mail_that_comes_back_is_noted_on_its_recipient(site: Site, key: str) -> None:
    document = await send_test_document(site, key)
    await mails(site, key, 1, f"documentId={document['id']}")

    async def find_accepted() -> Any:
        found = await site.ok("GET", f"/documents/{document['id']}", key=key)
        return found if found["recipients"][0]["mail"] == "kept" else None

    await until(find_accepted, "delivery")
    after = await play_step(site, key, document, "bounce", reason="550 no such user")
    assert after["recipients"][0]["delivery"] == {
        "status": "failed",
        "at": rfc3339(site.clock.now()),
        "error": "550 no such user",
    }
    assert (after["status"], after["recipients"][0]["status"]) == ("sent", "sent")
    assert (await actors(site, key, document))["recipient.delivery_failed"] == "system"


async def test_time_is_over_when_it_is_said_to_be(site: Site, key: str) -> None:
    document = await send_test_document(site, key)
    after = await play_step(site, key, document, "expire")
    assert (after["status"], after["closedAt"]) == ("expired", rfc3339(site.clock.now()))
    assert parse(after["expiresAt"]) <= site.clock.now()
    refused = await simulate(site, key, document, "expire")
    assert refused.code == "document_not_sent" and refused.body["error"]["currentStatus"] == "expired"


async def test_reminders_keep_their_hour(site: Site, key: str) -> None:
    document = await send_test_document(site, key)
    after = await play_step(site, key, document, "remind")
    assert after["recipients"][0]["remindersSent"] == 1
    assert (await actors(site, key, document))["recipient.reminded"] == "system"
    soon = await simulate(site, key, document, "remind")
    assert soon.code == "reminder_too_soon" and soon.headers["retry-after"] == "3600"
    site.clock.advance(hours=1)
    assert (await play_step(site, key, document, "remind"))["recipients"][0]["remindersSent"] == 2


@pytest.mark.parametrize("action", ["view", "complete", "decline", "bounce", "expire", "remind"])
async def test_only_a_document_that_is_out_is_played(site: Site, key: str, action: str) -> None:
    draft = await site.ok("POST", "/documents", a_request(), key=key)
    refused = await simulate(site, key, draft, action)
    assert refused.code == "document_not_sent" and refused.body["error"]["currentStatus"] == "draft"
    document = await send_test_document(site, key)
    await play_step(site, key, document, "decline")
    refused = await simulate(site, key, document, action)
    assert refused.code == "document_not_sent" and refused.body["error"]["currentStatus"] == "declined"
    unknown = await simulate(site, key, document, action, recipientId="rcp_x")
    assert unknown.places == {("/recipientId", "reference")}
    assert (await simulate(site, key, {"id": "doc_x"}, action)).code == "not_found"


@pytest.mark.parametrize("action", ["view", "complete", "decline", "bounce", "remind"])
async def test_who_has_finished_or_was_not_asked_does_nothing_more(site: Site, key: str, action: str) -> None:
    people = [{"name": "Ada", "email": ADA}, {"name": "Bob", "email": BOB, "order": 2}]
    document = await send_test_document(site, key, recipients=people)
    ada, bob = (recipient["id"] for recipient in document["recipients"])
    codes = ["no_recipient_to_remind"] * 2 if action == "remind" else []
    early = await simulate(site, key, document, action, recipientId=bob)
    await play_step(site, key, document, "complete")
    late = await simulate(site, key, document, action, recipientId=ada)
    wanted = codes or ["recipient_not_active", "recipient_already_completed"]
    assert [early.code, late.code] == wanted


async def test_each_role_does_what_it_may(site: Site, key: str) -> None:
    note = {**PLACE, "y": 10, "type": "text", "key": "note"}
    people = [
        {
            "name": role,
            "email": f"{role}@example.test",
            "role": role,
            "fields": [note] if role == "approver" else [],
        }
        for role in ("approver", "signer", "viewer", "cc")
    ]
    document = await send_test_document(site, key, recipients=people)
    approver, _, viewer, copied = (recipient["id"] for recipient in document["recipients"])
    after = await play_step(site, key, document, "view", recipientId=viewer)
    assert after["recipients"][2]["status"] == "viewed"
    for action, who in (("complete", viewer), ("decline", viewer), ("view", copied), ("bounce", copied)):
        refused = await simulate(site, key, document, action, recipientId=who)
        assert refused.code == "recipient_not_active", (action, who)
    after = await play_step(site, key, document, "complete", recipientId=approver)
    assert after["recipients"][0]["fields"][0]["value"] is None, "an approver need fill in nothing"
    await play_step(site, key, document, "complete")
    assert (await complete_test_document(site, key, document))["recipients"][1]["status"] == "completed"


@pytest.mark.parametrize("method", ["email_code", "access_code"])
async def test_who_would_have_to_show_a_code_is_simulated_without_one(
    site: Site, key: str, method: str
) -> None:
    code = {"accessCode": "4711"} if method == "access_code" else {}
    document = await send_test_document(
        site, key, recipients=[{"name": "Ada", "email": ADA, "authentication": method, **code}]
    )
    await play_step(site, key, document, "complete")
    await complete_test_document(site, key, document)
    page = await site.ok("GET", f"/documents/{document['id']}/audit?limit=100", key=key)
    [shown] = [entry for entry in page["data"] if entry["type"] == "recipient.authenticated"]
    assert shown["data"] == {"method": method, "result": "simulated", "link": "test"}
    assert shown["actor"]["kind"] == "system"


async def test_a_simulation_under_its_key_happens_once(site: Site, key: str) -> None:
    people = [{"name": "Ada", "email": ADA}, {"name": "Bob", "email": BOB}]
    document = await send_test_document(site, key, recipients=people)
    path = f"/test/documents/{document['id']}/simulate"
    for action in ("complete", "remind"):
        headers = {"Idempotency-Key": f"once-{action}"}
        body = {"action": action}
        first = await site.ask("POST", path, body, key=key, headers=headers)
        again = await site.ask("POST", path, body, key=key, headers=headers)
        assert first.status == 200 and first.content == again.content
        assert (
            again.headers["idempotent-replayed"] == "true" and first.headers["etag"] == again.headers["etag"]
        )
    after = await site.ok("GET", f"/documents/{document['id']}", key=key)
    assert [r["status"] for r in after["recipients"]] == ["completed", "sent"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, ("/action", "required")),
        ({"action": "sign"}, ("/action", "enum")),
        ({"action": "decline", "reason": "x" * 1001}, ("/reason", "length")),
        ({"action": "view", "who": "me"}, ("/who", "unknown_member")),
        ({"action": "view", "recipientId": 1}, ("/recipientId", "type")),
    ],
)
async def test_what_does_not_fit_is_refused(
    site: Site, key: str, body: dict[str, Any], place: tuple[str, str]
) -> None:
    document = await send_test_document(site, key)
    answer = await site.ask("POST", f"/test/documents/{document['id']}/simulate", body, key=key)
    assert answer.places == {place}


async def test_any_test_key_may_use_the_helpers(site: Site, key: str) -> None:
    document, narrow = (
        await send_test_document(site, key),
        await site.new_key(Scope.ACCOUNT_READ, mode=Mode.TEST),
    )
    assert (await simulate(site, narrow, document, "view")).status == 200
    assert (await site.ask("GET", "/test/messages", key=narrow)).status == 200


# ---------- the sealed file ----------


async def test_the_sealed_file_says_on_every_page_and_in_its_seal_that_it_is_a_test(
    site: Site, key: str
) -> None:
    document = await send_test_document(site, key)
    await play_step(site, key, document, "complete")
    done = await complete_test_document(site, key, document)
    path = f"/documents/{document['id']}/files/sealed"
    answer = await site.ask("GET", path, key=key, headers={"Accept": "application/pdf"})
    with pikepdf.open(io.BytesIO(answer.content)) as pdf:
        pages = len(pdf.pages)
    text = pypdfium2.PdfDocument(answer.content)
    try:
        said = [text[n].get_textpage().get_text_range() for n in range(pages)]
    finally:
        text.close()
    assert pages == done["seal"]["pageCount"] == 3 and all(
        "TEST – no legal effect" in words for words in said
    )
    for asking in (key, site.key):
        found = await site.ok("POST", "/verify", {"file": b64(answer.content)}, key=asking)
        [signature] = found["signatures"]
        assert "TEST – no legal effect" in signature["certificate"]["subject"]
        assert any("test" in reason.lower() for reason in signature["reasons"]), signature["reasons"]
    live = await site.complete_document()
    found = await site.ok("POST", "/verify", {"file": b64(await site.bytes_of(live["id"], "sealed"))})
    assert "TEST" not in found["signatures"][0]["certificate"]["subject"]
    assert found["signatures"][0]["reasons"] == []


# ---------- an installation for tests alone ----------


@pytest.mark.slow
async def test_an_installation_for_tests_is_in_test_mode_throughout(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = a_config(tmp_path_factory.mktemp("tests"))
    server = config.server.model_copy(update={"environment": "test"})
    async with running(config.model_copy(update={"server": server})) as site:
        assert site.key.startswith("esk_test_")
        document = await send_test_document(site, site.key)
        assert document["mode"] == "test"
        await play_step(site, site.key, document, "complete")
        assert (await complete_test_document(site, site.key, document))["mode"] == "test"
        assert {mail["subject"][:6] for mail in await mails(site, site.key, 2, "")} == {"[TEST]"}
