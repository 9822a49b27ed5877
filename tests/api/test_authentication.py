"""Codes before a document (contract 3.2, `authentication`): who is asked for one, and how often it may be wrong."""

import json
import re
from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY, MINUTE
from esign.core.people.api_key import Scope
from esign.store.document import challenges
from esign.store.engine.database import Transaction
from tests.api.site import ONE_PAGE, Site, a_request, b64, gather
from tests.journeys.api import Answer, Person, until
from tests.journeys.letters import part
from tests.pdf.sealing import text_of, words
from tests.store.files import stored_bytes

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "Blue-4711-heron"
FIELD = {"type": "text", "page": 1, "x": 10, "y": 10, "value": "a prefilled secret"}
CODES = re.compile(r"\b(\d{3})\s(\d{3})\b")


def recipient_with_code(site: Site, **members: Any) -> dict[str, Any]:
    return site.signer(authentication="access_code", accessCode=CODE, **members)


def recipient_with_mailed_code(site: Site, **members: Any) -> dict[str, Any]:
    return site.signer(authentication="email_code", **members)


async def out(site: Site, *recipients: Any, **changes: Any) -> tuple[Any, Person]:
    """A document that is out, and its first recipient at the link."""
    document = await site.send_document(recipients=list(recipients), **changes)
    return document, await site.person(recipients[0]["email"])


async def code_in(site: Site, address: str, after: int = 0) -> str:
    """The code in the newest letter to this address, once there are more than `after` that hold one."""

    async def newest() -> str | None:
        found = []
        for mail in await embedded_outbox.list_mails(site.runtime.db, 1000):
            if address in mail.recipient and mail.subject.startswith("Your code"):
                message = await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
                assert message is not None
                if hit := CODES.search(part(message, "plain")):
                    found.append(hit[1] + hit[2])
        return found[-1] if len(found) > after else None

    return await until(newest, "code")


async def facts(site: Site, document: Any) -> list[tuple[str, Any]]:
    """What the audit trail says of codes, oldest first."""
    return [
        (entry["type"].removeprefix("recipient."), entry["data"].get("result"))
        for entry in await site.trail(document["id"])
        if "authenticat" in entry["type"] or entry["type"] == "recipient.code_sent"
    ]


def other_than(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


# ---------- asking for it ----------


@pytest.mark.parametrize("method", ["link", "email_code", "access_code"])
async def test_each_method_is_taken_and_shown_and_the_code_never_is(site: Site, method: str) -> None:
    extra = {"accessCode": CODE} if method == "access_code" else {}
    person = site.signer(authentication=method, **extra)
    answer = await site.ask("POST", "/documents", a_request(recipients=[person]))
    document = await site.get(answer.body["id"])
    assert document["recipients"][0]["authentication"] == method
    added = await site.ok("POST", f"/documents/{document['id']}/recipients", person)
    assert added["authentication"] == method
    for shown in (answer.body, document, added, await site.trail(document["id"])):
        assert CODE not in json.dumps(shown) and "accessCode" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"authentication": "access_code"}, "required"),
        ({"authentication": "access_code", "accessCode": None}, "required"),
        ({"authentication": "access_code", "accessCode": "abc"}, "length"),
        ({"authentication": "access_code", "accessCode": "  abc  "}, "length"),
        ({"authentication": "access_code", "accessCode": "a" * 65}, "length"),
        ({"authentication": "access_code", "accessCode": 1234}, "type"),
        ({"authentication": "access_code", "accessCode": "ab\ncd"}, "format"),
        ({"authentication": "link", "accessCode": CODE}, "reference"),
        ({"authentication": "email_code", "accessCode": CODE}, "reference"),
        ({"accessCode": CODE}, "reference"),
    ],
)
async def test_a_code_belongs_to_access_code_and_has_4_to_64_characters(
    site: Site, members: dict[str, Any], rule: str
) -> None:
    answer = await site.ask("POST", "/documents", a_request(recipients=[site.signer(**members)]))
    assert (answer.code, answer.places) == ("invalid_request", {("/recipients/0/accessCode", rule)})
    answer = await site.ask("POST", f"/documents/{await site.create()}/recipients", site.signer(**members))
    assert (answer.code, answer.places) == ("invalid_request", {("/accessCode", rule)})


async def test_a_change_keeps_the_code_that_is_there_and_another_method_takes_it_away(site: Site) -> None:
    draft = await site.create_draft(recipients=[recipient_with_code(site)])
    path = f"/documents/{draft['id']}/recipients/{draft['recipients'][0]['id']}"
    assert (await site.ok("PATCH", path, {"name": "Other"}))["authentication"] == "access_code"
    assert (await site.ok("PATCH", path, {"accessCode": "new code"}))["authentication"] == "access_code"
    assert (await site.ok("PATCH", path, {"authentication": "access_code"}))["name"] == "Other"
    assert (await site.ask("PATCH", path, {"accessCode": None})).places == {("/accessCode", "required")}
    assert (await site.ok("PATCH", path, {"authentication": None}))["authentication"] == "link"
    assert (await site.ask("PATCH", path, {"accessCode": CODE})).places == {("/accessCode", "reference")}
    again = await site.ask("PATCH", path, {"authentication": "access_code"})
    assert again.places == {("/accessCode", "required")}
    both = {"authentication": "access_code", "accessCode": CODE}
    assert (await site.ok("PATCH", path, both))["authentication"] == "access_code"

    entry = {"id": draft["recipients"][0]["id"]}
    whole = f"/documents/{draft['id']}"
    assert (await site.ok("PATCH", whole, {"recipients": [entry]}))["recipients"][0]["authentication"] == (
        "access_code"
    )
    wrong = await site.ask("PATCH", whole, {"recipients": [entry | {"accessCode": None}]})
    assert wrong.places == {("/recipients/0/accessCode", "required")}
    wrong = await site.ask(
        "PATCH", whole, {"recipients": [site.signer(), entry | both | {"authentication": "link"}]}
    )
    assert wrong.places == {("/recipients/1/accessCode", "reference")}


async def test_while_it_is_out_neither_method_nor_code_is_changed(site: Site) -> None:
    document, _ = await out(site, recipient_with_code(site))
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    for change in (
        {"accessCode": "another"},
        {"authentication": "link"},
        {"name": "A", "accessCode": "b" * 5},
    ):
        assert (await site.ask("PATCH", path, change)).code == "document_not_draft"


async def test_templates_ask_for_codes_where_they_are_used(site: Site) -> None:
    body = {"fileName": "a.pdf", "file": ONE_PAGE, "roles": [{"key": "a"}, {"key": "b"}]}
    template = await site.ok("POST", "/templates", body)
    path = f"/templates/{template['id']}/documents"
    takers = [recipient_with_mailed_code(site, roleKey="b"), recipient_with_code(site, roleKey="a")]
    made = await site.get((await site.ok("POST", path, {"recipients": takers}))["id"])
    assert [r["authentication"] for r in made["recipients"]] == ["access_code", "email_code"]
    await site.ok("POST", f"/documents/{made['id']}/send")
    person = await site.person(takers[1]["email"])
    assert (await person.enter(CODE)).status == 200 and await person.state() == "open"

    for taker, rule in (
        (site.signer(authentication="access_code"), "required"),
        (site.signer(accessCode=CODE), "reference"),
    ):
        wrong = await site.ask("POST", path, {"recipients": [takers[0], taker | {"roleKey": "a"}]})
        assert wrong.places == {("/recipients/1/accessCode", rule)}


async def test_a_duplicate_asks_for_the_same_code(site: Site) -> None:
    recipient = recipient_with_code(site)
    draft = await site.create(recipients=[recipient])
    copy = (await site.ok("POST", f"/documents/{draft}/duplicate"))["id"]
    await site.ok("POST", f"/documents/{copy}/send")
    person = await site.person(recipient["email"])
    assert (await person.enter(CODE)).status == 200


# ---------- what is behind it ----------


async def everything(person: Person) -> list[Answer]:
    """All that a link can show or do, but asking for a code and entering it."""
    paths = ("/pages/1.webp", "/original.pdf", "/sealed.pdf")
    return [
        *[await person.get(path) for path in paths],
        await person.view(),
        await person.complete({}),
        await person.decline("no"),
    ]


@pytest.mark.parametrize("role", ["signer", "approver", "viewer"])
@pytest.mark.parametrize("method", ["email_code", "access_code"])
async def test_nothing_is_seen_or_done_before_the_code(site: Site, method: str, role: str) -> None:
    make = recipient_with_mailed_code if method == "email_code" else recipient_with_code
    fields = [] if role == "viewer" else [FIELD]
    recipients = [make(site, role=role, fields=fields), site.signer()]
    document, person = await out(site, *recipients, title="Strictly private", message="Between us")
    page = (await person.open()).content.decode()
    assert await person.state() == "code" and "Northlight" in page
    for hidden in (
        "Strictly private",
        "Between us",
        "a prefilled secret",
        recipients[0]["email"],
        recipients[1]["name"],
    ):
        assert hidden not in page
    assert {answer.status for answer in await everything(person)} == {404, 409}
    now = await site.get(document["id"])
    assert now["status"] == "sent" and now["recipients"][0]["status"] == "sent"

    if method == "email_code":
        assert (await person.send_code()).body == {"state": "code"}
        assert (await person.enter(await code_in(site, recipients[0]["email"]))).body == {"state": "open"}
    else:
        assert (await person.enter(CODE)).body == {"state": "open"}
    assert await person.state() == "open"
    assert "Strictly private" in (await person.open()).content.decode()
    for path in ("/pages/1.webp", "/original.pdf"):
        assert (await person.get(path)).status == 200
    assert (await person.view()).status == 200
    assert (await site.get(document["id"]))["recipients"][0]["status"] == "viewed"


async def test_the_proof_is_a_cookie_of_one_browser_that_scripts_cannot_read(site: Site) -> None:
    _, person = await out(site, recipient_with_code(site))
    answer = await person.enter(CODE)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("esign-s=")  # on plain http; `__Host-` and Secure are tests/web/signing's
    assert {"HttpOnly", "Path=/", "SameSite=lax", "Max-Age=43200"} <= set(cookie.split("; "))
    assert person.link.rpartition("/")[2] not in cookie
    second = Person(site.session, person.link)
    assert await second.state() == "code" and await person.state() == "open"
    assert (await second.enter(CODE)).status == 200
    assert await second.state() == "open" and await person.state() == "open"
    second.cookies = {"esign-s": "x" * 43}
    assert await second.state() == "code"


async def test_a_proof_opens_no_other_recipient_s_link_and_every_link_of_its_own(site: Site) -> None:
    first, second = recipient_with_code(site), recipient_with_code(site)
    document, person = await out(site, first, second)
    await person.enter(CODE)
    other = await site.person(second["email"])
    other.cookies = person.cookies
    assert await other.state() == "code"
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}/link"
    handed = Person(site.session, (await site.ok("POST", path, {}))["url"])
    assert await handed.state() == "code"
    handed.cookies = person.cookies
    assert await handed.state() == "open"


async def test_a_second_proof_by_another_way_is_seen_in_the_document_at_once(site: Site) -> None:
    """What is shown of a revision never changes, as answers are kept by it."""
    document, person = await out(site, recipient_with_code(site))
    await person.enter(CODE)
    await person.view()

    async def write(tx: Transaction) -> None:  # as where a mail server took the invitation
        await tx.run("UPDATE recipient SET link = 'email' WHERE document_id = :id", id=document["id"])

    await site.runtime.db.write(write)
    path = f"/documents/{document['id']}"
    before = await site.ask("GET", path)
    assert before.body["recipients"][0]["proof"]["link"] == "email"
    url = (await site.ok("POST", f"{path}/recipients/{document['recipients'][0]['id']}/link", {}))["url"]
    handed = Person(site.session, url)
    known = (await site.ask("GET", path)).headers["etag"]
    await handed.enter(CODE)
    after = await site.ask("GET", path, headers={"If-None-Match": known})
    assert after.status == 200 and after.body["recipients"][0]["proof"]["link"] == "sender"


async def test_one_browser_keeps_what_it_has_shown_of_several_documents(site: Site) -> None:
    one, other = recipient_with_code(site), recipient_with_code(site)
    _, person = await out(site, one)
    _, next_one = await out(site, other)
    await person.enter(CODE)
    first_session = dict(person.cookies)
    next_one.cookies = person.cookies
    await next_one.enter(CODE)
    person.cookies = next_one.cookies
    assert await person.state() == "open" and await next_one.state() == "open"
    person.cookies = first_session
    assert await person.state() == "code"


async def test_a_proof_ends_after_twelve_hours(site: Site) -> None:
    _, person = await out(site, recipient_with_code(site))
    await person.enter(CODE)
    site.clock.advance(hours=12, seconds=-1)
    assert await person.state() == "open"
    site.clock.advance(seconds=1)
    assert await person.state() == "code"
    assert (await person.view()).code == "recipient_not_active"


async def test_looking_at_a_link_that_asks_for_a_code_sends_none_and_changes_nothing(site: Site) -> None:
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    before = await site.list_events(document["id"])
    for _ in range(3):
        assert "Set-Cookie" not in (await person.open()).headers
    for path in ("/code", "/authenticate"):
        assert (await person.get(path)).status == 405
    assert await site.list_events(document["id"]) == before
    assert (await challenges.get(site.runtime.db, document["recipients"][0]["id"])).sent == 0


async def test_who_was_corrected_begins_anew(site: Site) -> None:
    recipient = recipient_with_code(site)
    document, person = await out(site, recipient)
    await person.enter(CODE)
    wrong = Person(site.session, person.link)
    for _ in range(5):
        await wrong.enter("wrong")
    new = site.signer()["email"]
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    await site.ok("PATCH", path, {"email": new})
    assert await person.state() == "unknown"
    successor = await site.person(new)
    successor.cookies = person.cookies
    assert await successor.state() == "code"
    assert (await successor.enter(CODE)).status == 200


STATES = ("draft turn", "open", "done", "completed", "declined", "expired", "cancelled")


@pytest.mark.parametrize("method", ["email_code", "access_code"])
@pytest.mark.parametrize("state", STATES)
async def test_without_the_code_a_link_shows_neither_title_nor_names_in_any_state(
    site: Site, state: str, method: str
) -> None:
    """Not on the page, in its title, in the JSON of its script, in the names of files; nor how the document stands."""
    make = recipient_with_mailed_code if method == "email_code" else recipient_with_code
    guarded = {**make(site), "name": "Guarda Person"}
    other = {**site.signer(), "name": "Otto Sampleman"}
    people = [guarded, {**other, "order": 2 if state == "done" else 1}]
    document, person = await out(site, *people, title="Strictly private", fileName="private.pdf")
    if state in ("done", "completed"):
        if method == "email_code":
            await person.send_code()
        code = await code_in(site, guarded["email"]) if method == "email_code" else CODE
        await person.enter(code)
        await person.sign()
    path = f"/documents/{document['id']}"
    if state == "draft turn":  # a link from before the order was another one
        await site.runtime.db.write(
            lambda tx: tx.run(
                "UPDATE recipient SET status = 'created' WHERE id = :id", id=document["recipients"][0]["id"]
            )
        )
    elif state == "completed":
        await (await site.person(other["email"])).sign()
        await site.wait_until_sealed(document["id"])
    elif state == "cancelled":
        await site.ok("POST", f"{path}/cancel", {"reason": "a private reason"})
    elif state == "declined":
        await (await site.person(other["email"])).decline("a private reason")
    elif state == "expired":
        site.clock.advance(days=31)
        assert (await site.get(document["id"]))["status"] == "expired"
    stranger = Person(site.session, person.link)
    answers = [
        await stranger.open(),
        *[
            await stranger.get(below)
            for below in (
                "?lang=de",
                "/status",
                "/pages/1.webp",
                "/pages/1.json",
                "/original.pdf",
                "/sealed.pdf",
            )
        ],
        await stranger.view(),
        await stranger.complete({}),
        await stranger.decline("no"),
        await stranger.post("draft", {"since": 0, "values": {}}),
        await stranger.post("renewal", {}),
        await stranger.post("handoff", {"kind": "signature"}),
        await stranger.post("letters", {"text": "A", "hand": "a"}),
    ]
    hidden = ("Strictly private", "private.pdf", "Guarda", "Sampleman", "a private reason", other["email"])
    for answer in answers:
        said = answer.content.decode("utf-8", "replace") + str(answer.headers)
        assert [one for one in hidden if one in said] == [], said[:2000]
    assert await stranger.state() == "code"
    assert json.loads((await stranger.get("/status")).content) == {"state": "code"}


async def test_the_code_opens_what_is_left_to_see_after_the_end(site: Site) -> None:
    document, person = await out(site, recipient_with_code(site), title="Strictly private")
    await site.ok("POST", f"/documents/{document['id']}/cancel", {"reason": "a private reason"})
    assert (await person.enter(CODE)).body == {"state": "cancelled"}
    page = (await person.open()).content.decode()
    assert "Strictly private" in page and "a private reason" in page


async def test_the_page_of_the_code_names_the_organisation_and_not_the_member_who_sent_it(site: Site) -> None:
    document, person = await out(site, recipient_with_code(site))
    await site.runtime.db.write(
        lambda tx: tx.run(
            "UPDATE document SET created_by = :by WHERE id = :id",
            by=json.dumps(
                {"kind": "member", "id": "mem_1", "name": "Senta Sender", "email": "senta@example.test"}
            ),
            id=document["id"],
        )
    )
    page = (await person.open()).content.decode()
    assert "Northlight" in page and "senta" not in page.lower()
    assert "mailto:office@northlight.example" in page


# ---------- unblocking ----------


async def unblock(site: Site, document: Any, **given: Any) -> Any:
    rid = document["recipients"][0]["id"]
    return await site.ask("POST", f"/documents/{document['id']}/recipients/{rid}/unblock", {}, **given)


@pytest.mark.parametrize("tries", [5, 20])
async def test_the_sender_unblocks_whoever_tried_an_access_code_too_often(site: Site, tries: int) -> None:
    document, person = await out(site, recipient_with_code(site))
    for number in range(tries):
        await person.enter("wrong")
        if number % 5 == 4 and number + 1 < tries:
            site.clock.advance(minutes=15)
    assert (await person.enter(CODE)).status in (409, 429)
    answer = await unblock(site, document)
    assert answer.body == {"recipientId": document["recipients"][0]["id"], "unblocked": True}
    assert (await site.trail(document["id"]))[-1]["type"] == "recipient.unblocked"
    assert (await unblock(site, document)).body["unblocked"] is False
    assert (await site.trail(document["id"]))[-1]["data"] == {"method": "access_code"}
    assert (await site.list_events(document["id"])).count("recipient.unblocked") == 1
    assert (await person.enter("wrong")).status == 400
    assert (await person.enter(CODE)).status == 200


async def test_the_sender_unblocks_whoever_had_all_codes_of_the_day(site: Site) -> None:
    site.clock.at = (site.clock.now() // DAY + 1) * DAY
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    for _ in range(10):
        await person.send_code()
        site.clock.advance(minutes=11)
    await site.ok("POST", f"/documents/{document['id']}/cancel", {})
    assert (await person.send_code()).code == "rate_limited"

    async def idle() -> bool | None:
        return await site.runtime.db.one("SELECT 1 FROM outbox WHERE state = 'pending'") is None or None

    await until(idle, "the end of the queue")
    mails = await embedded_outbox.list_mails(site.runtime.db, 1000)
    codes = sum(recipient["email"] in m.recipient and m.subject.startswith("Your code") for m in mails)
    assert (await unblock(site, document)).body["unblocked"] is True
    assert (await person.send_code()).status == 200
    assert (await person.enter(await code_in(site, recipient["email"], after=codes))).body == {
        "state": "cancelled"
    }


async def test_only_who_may_send_unblocks_and_only_where_a_code_is_asked_for(site: Site) -> None:
    document, _ = await out(site, recipient_with_code(site))
    key = await site.new_key(*(set(Scope) - {Scope.ALL, Scope.DOCUMENTS_SEND}))
    assert (await unblock(site, document, key=key)).code == "insufficient_scope"
    plain, _ = await out(site, site.signer())
    assert (await unblock(site, plain)).code == "recipient_not_active"
    draft = await site.create_draft(recipients=[recipient_with_code(site)])
    assert (await unblock(site, draft)).code == "document_not_sent"


@pytest.mark.slow
@pytest.mark.parametrize("by", ["unblocking", "another name", "another address"])
@pytest.mark.parametrize("method", ["access_code", "email_code"])
async def test_a_sender_who_does_not_know_the_code_gets_few_guesses_a_day(
    site: Site, method: str, by: str
) -> None:
    """Whatever lets a recipient try again is bounded, or a key could guess a code that its owner never saw."""
    site.clock.at = (site.clock.now() // DAY + 1) * DAY
    document, person = await out(
        site, recipient_with_code(site) if method == "access_code" else recipient_with_mailed_code(site)
    )
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}"
    guesses = since = 0
    for step in range(72):  # every 20 minutes of a day
        if method == "email_code":
            await person.send_code()
        while (await person.enter(f"no {step}")).status == 400:
            guesses += 1
            since += 1
        if by == "unblocking":
            answer = await site.ask("POST", f"{path}/unblock", {})
            assert answer.status in (200, 429)
        elif since:
            change = {"name": f"N {step}"} if by == "another name" else {"email": f"{step}@example.test"}
            await site.ok("PATCH", path, change)
            person = Person(site.session, (await site.ok("POST", f"{path}/link", {}))["url"])
        site.clock.advance(minutes=20)
    most = 20 if method == "access_code" else 50
    assert guesses <= most * (4 if by == "unblocking" else 1)
    assert (await site.list_events(document["id"])).count("recipient.unblocked") <= 3


# ---------- a code by mail ----------


async def test_a_code_by_mail_opens_the_link_once(site: Site) -> None:
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    assert (await person.enter("123456")).code == "recipient_not_active"
    await person.send_code()
    code = await code_in(site, recipient["email"])
    spaced = f" {code[:3]} {code[3:]} "
    assert (await person.enter(spaced)).status == 200
    second = Person(site.session, person.link)
    assert (await second.enter(code)).code == "recipient_not_active"
    assert await facts(site, document) == [("code_sent", None), ("authenticated", "passed")]


async def test_the_letter_holds_the_code_and_no_link_and_its_subject_neither(site: Site) -> None:
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient, title="Strictly private")
    links = len(await site.runtime.db.all("SELECT 1 FROM link WHERE document_id = :id", id=document["id"]))
    await person.send_code()
    code = await code_in(site, recipient["email"])
    (mail,) = [
        m
        for m in await embedded_outbox.list_mails(site.runtime.db, 1000)
        if recipient["email"] in m.recipient and "code" in m.subject
    ]
    message = await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
    assert message is not None and mail.subject == "Your code from Northlight"
    text = part(message, "plain")
    assert "/s/" not in text and "Strictly private" not in text and "10 minutes" in text
    assert f"{code[:3]}\N{NO-BREAK SPACE}{code[3:]}" in part(message, "html")
    assert (
        len(await site.runtime.db.all("SELECT 1 FROM link WHERE document_id = :id", id=document["id"]))
        == links
    )


async def test_five_wrong_tries_spend_a_code_and_the_sixth_does_not_count_even_if_it_is_right(
    site: Site,
) -> None:
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    await person.send_code()
    code = await code_in(site, recipient["email"])
    for left in (4, 3, 2, 1):
        answer = await person.enter(other_than(code))
        times = "once more" if left == 1 else f"{left} more times"
        assert answer.status == 400 and times in answer.body["error"]["details"][0]["message"]
    assert (await person.enter(other_than(code))).code == "recipient_not_active"
    assert (await person.enter(code)).code == "recipient_not_active"
    assert await person.state() == "code"
    assert await facts(site, document) == [("code_sent", None), *[("authentication_failed", "failed")] * 5]

    refused = await person.send_code()
    assert refused.code == "rate_limited" and 0 < int(refused.headers["Retry-After"]) <= 60
    site.clock.advance(minutes=1)
    await person.send_code()
    new = await code_in(site, recipient["email"], after=1)
    assert (await person.enter(code)).status == (200 if new == code else 400)
    assert (await person.enter(new)).status == 200 or new == code


async def test_an_old_code_is_of_no_use(site: Site) -> None:
    recipient = recipient_with_mailed_code(site)
    _, person = await out(site, recipient)
    await person.send_code()
    code = await code_in(site, recipient["email"])
    site.clock.advance(minutes=10)
    assert (await person.enter(code)).code == "recipient_not_active"
    assert 'data-step="expired"' in (await person.open()).content.decode()


async def test_at_most_ten_codes_leave_in_a_day(site: Site) -> None:
    site.clock.at = (site.clock.now() // DAY + 1) * DAY
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    for _ in range(10):
        assert (await person.send_code()).status == 200
        site.clock.advance(minutes=11)
    refused = await person.send_code()
    assert refused.code == "rate_limited"
    assert int(refused.headers["Retry-After"]) == (DAY - 110 * MINUTE) // 1000
    page = (await person.open()).content.decode()
    assert 'data-step="blocked"' in page and "No more codes today" in page
    assert len(await facts(site, document)) == 10
    site.clock.advance(days=1)
    assert (await person.send_code()).status == 200


async def test_simultaneous_wishes_send_one_code(site: Site) -> None:
    document, person = await out(site, recipient_with_mailed_code(site))
    answers = await gather(*(person.send_code() for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200] + [429] * 7
    assert await facts(site, document) == [("code_sent", None)]


async def test_only_who_is_to_get_a_code_by_mail_is_sent_one(site: Site) -> None:
    for recipient in (recipient_with_code(site), site.signer()):
        _, person = await out(site, recipient)
        assert (await person.send_code()).status in (404, 409)


# ---------- a code that was agreed upon ----------


@pytest.mark.parametrize("given", [CODE, f"  {CODE} ", CODE.replace("4711", "４７１１")])
async def test_a_code_is_compared_as_it_looks(site: Site, given: str) -> None:
    _, person = await out(site, recipient_with_code(site))
    assert (await person.enter(given)).status == 200


@pytest.mark.parametrize("given", [CODE.lower(), CODE[:-1], CODE + "x", CODE.replace("-", "")])
async def test_another_code_is_refused(site: Site, given: str) -> None:
    _, person = await out(site, recipient_with_code(site))
    answer = await person.enter(given)
    assert answer.status == 400
    assert answer.body["error"]["details"][0]["path"] == "/code"


@pytest.mark.parametrize(
    "body", [{}, {"code": ""}, {"code": " "}, {"code": 5}, {"code": "x" * 201}, {"code": CODE, "x": 1}]
)
async def test_what_is_no_code_is_not_counted(site: Site, body: Any) -> None:
    document, person = await out(site, recipient_with_code(site))
    assert (await person.post("authenticate", body)).status == 400
    assert await facts(site, document) == []


async def test_five_wrong_tries_in_a_quarter_of_an_hour_shut_the_right_code_out(site: Site) -> None:
    document, person = await out(site, recipient_with_code(site))
    for _ in range(4):
        assert (await person.enter("wrong")).status == 400
    fifth = await person.enter("wrong")
    assert (fifth.code, fifth.headers["Retry-After"]) == ("rate_limited", "900")
    assert (await person.enter(CODE)).code == "rate_limited"
    assert 'data-step="wait"' in (await person.open()).content.decode()
    site.clock.advance(minutes=15, milliseconds=-1)
    assert (await person.enter(CODE)).code == "rate_limited"
    site.clock.advance(milliseconds=1)
    assert (await person.enter(CODE)).status == 200
    assert await facts(site, document) == [
        *[("authentication_failed", "failed")] * 5, ("authenticated", "passed")
    ]  # fmt: skip


async def test_twenty_wrong_tries_shut_it_out_for_good(site: Site) -> None:
    document, person = await out(site, recipient_with_code(site))
    for number in range(20):
        assert (await person.enter("wrong")).status in (400, 409, 429), number
        site.clock.advance(minutes=4)
    for _ in range(2):
        answer = await person.enter(CODE)
        assert answer.code == "recipient_not_active"
        site.clock.advance(days=1)
    assert 'data-step="blocked"' in (await person.open()).content.decode()
    assert len(await facts(site, document)) == 20


async def test_many_tries_at_once_are_counted_one_by_one(site: Site) -> None:
    document, person = await out(site, recipient_with_code(site))
    answers = await gather(*(Person(site.session, person.link).enter(f"wrong {n}") for n in range(30)))
    assert sorted(answer.status for answer in answers) == [400] * 4 + [429] * 26
    assert len(await facts(site, document)) == 5


async def test_no_code_is_written_down_anywhere(site: Site) -> None:
    code = "a-very-rare-code-7391"
    headers = {"Idempotency-Key": "codes"}
    body = a_request(recipients=[site.signer(authentication="access_code", accessCode=code)], send=True)
    first = await site.ask("POST", "/documents", body, headers=headers)
    again = await site.ask("POST", "/documents", body, headers=headers)
    assert again.headers["idempotent-replayed"] == "true" and first.content == again.content
    document = await site.get(first.body["id"])
    person = await site.person(document["recipients"][0]["email"])
    await person.enter("a-very-wrong-code-7391")
    await person.enter(code)
    kept = stored_bytes(site.runtime.config.storage.data_dir)
    assert code.encode() not in kept and b"a-very-wrong-code-7391" not in kept
    assert person.cookies["esign-s"].encode() not in kept
    stored = await site.runtime.db.one(
        "SELECT access_code FROM recipient WHERE document_id = :id", id=document["id"]
    )
    assert stored is not None and re.fullmatch(r"[0-9a-f]{32}:[0-9a-f]{64}", stored["access_code"])


# ---------- the end ----------


async def test_four_roles_and_both_codes_are_sealed_and_what_they_showed_is_in_the_trail(site: Site) -> None:
    signer, approver = recipient_with_code(site, order=2), recipient_with_mailed_code(site, role="approver")
    viewer, copy = (
        recipient_with_mailed_code(site, role="viewer", order=2),
        recipient_with_code(site, role="cc"),
    )
    document, first = await out(site, approver, signer, viewer, copy)
    await first.send_code()
    await first.enter(await code_in(site, approver["email"]))
    assert (await first.view()).status == 200 and (await first.complete({})).status == 200
    last = await site.person(signer["email"])
    await last.enter("wrong one")
    await last.enter(CODE)
    reader = await site.person(viewer["email"])
    await reader.send_code()
    await reader.enter(await code_in(site, viewer["email"]))
    await reader.view()
    await last.sign()
    done = await site.wait_until_sealed(document["id"])
    sealed = await site.bytes_of(done["id"], "sealed")
    verified = await site.ok("POST", "/verify", {"file": b64(sealed)})
    assert (verified["issuedHere"], verified["documentId"]) == (True, done["id"])
    printed = words(text_of(sealed))
    for said in (
        "Access code – passed",
        "Code kept on the server, not emailed – passed",
        "Access code – not used",  # the copy is only sent when this is printed
        "Wrong code",
        "Approved",
        "Copy made",
    ):
        assert words(said) in printed, said
    trail = [
        (entry["type"], entry["data"].get("method"), entry["data"].get("act"), entry["recipientId"])
        for entry in await site.trail(done["id"])
    ]
    ids = {recipient["email"]: recipient["id"] for recipient in done["recipients"]}
    for email, method, act in (
        (approver["email"], "email_code", "approved"),
        (signer["email"], "access_code", "signed"),
    ):
        assert ("recipient.authenticated", method, None, ids[email]) in trail
        assert ("recipient.completed", None, act, ids[email]) in trail
    assert ("recipient.authentication_failed", "access_code", None, ids[signer["email"]]) in trail
    assert ("recipient.authenticated", "email_code", None, ids[viewer["email"]]) in trail
    assert [r["status"] for r in done["recipients"]] == ["completed", "completed", "viewed", "sent"]

    gets = await site.person(copy["email"])
    assert await gets.state() == "code" and (await gets.get("/sealed.pdf")).status == 409
    assert (await gets.enter(CODE)).body == {"state": "completed"}
    assert (await gets.get("/sealed.pdf")).content == sealed


async def list_attachments(site: Site, address: str) -> list[str | None]:
    async def find_attachments() -> list[str | None] | None:
        for mail in await embedded_outbox.list_mails(site.runtime.db, 1000):
            if address in mail.recipient and mail.subject.startswith("Signed by"):
                message = await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
                assert message is not None
                return [one.get_filename() for one in message.iter_attachments()]
        return None

    return await until(find_attachments, "final copy")


async def test_the_final_copy_lies_behind_the_code_that_no_mail_holds(site: Site) -> None:
    """By mail it would be open to whoever reads the mailbox, which is what an agreed code is to prevent."""
    signer, copy = recipient_with_mailed_code(site), recipient_with_code(site, role="cc")
    document, person = await out(site, signer, copy)
    await person.send_code()
    await person.enter(await code_in(site, signer["email"]))
    await person.sign()
    await site.wait_until_sealed(document["id"])
    assert await list_attachments(site, signer["email"]) == ["agreement-sealed.pdf"]
    assert await list_attachments(site, copy["email"]) == []


async def test_with_its_document_all_that_was_known_of_codes_is_gone(site: Site) -> None:
    recipient = recipient_with_mailed_code(site)
    document, person = await out(site, recipient)
    await person.send_code()
    await person.enter(await code_in(site, recipient["email"]))
    await site.ok("POST", f"/documents/{document['id']}/cancel", {"notify": False})
    await site.ok("DELETE", f"/documents/{document['id']}")
    mails = await embedded_outbox.list_mails(site.runtime.db, 1000)
    assert [mail.subject for mail in mails if recipient["email"] in mail.recipient] == []
    for table in ("challenge", "proof"):
        found = await site.runtime.db.all(
            f"SELECT 1 FROM {table} WHERE recipient_id = :id", id=document["recipients"][0]["id"]
        )
        assert found == []
    entries = await site.runtime.db.all(
        "SELECT type, personal FROM audit WHERE document_id = :id", id=document["id"]
    )
    assert "recipient.code_sent" in {entry["type"] for entry in entries}
    assert {entry["personal"] for entry in entries if entry["type"] != "document.deleted"} == {None}
