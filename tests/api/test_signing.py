"""Signing over HTTP, as the page's script does it, and everything that such requests must not be able to do."""

import base64
import io
import json
import re
from dataclasses import replace
from importlib import resources
from itertools import combinations
from typing import Any, cast

import pytest
import pytest_asyncio
from PIL import Image

from esign.actions.signing import signing, typed_signature
from esign.actions.signing.visits import Visitor
from esign.core.actor import Origin
from esign.core.document import consent
from esign.core.errors import Problem
from esign.pdf.inspection import RedrawnPicture
from esign.pdf.worker.workers import WorkerFailed, Workers
from esign.store.document import signing_links
from esign.store.engine.database import Transaction
from esign.system.entropy import make_token
from tests.api.site import Site, SiteAnswer, gather
from tests.journeys.api import Person, a_signature, until
from tests.web.wire import ask

pytestmark = pytest.mark.asyncio(loop_scope="module")


def a_field(type: str = "text", **members: Any) -> dict[str, Any]:
    return {"type": type, "page": 1, "x": 10, "y": 10, **members}


async def send_for_signing(site: Site, *fields: Any, **changes: Any) -> tuple[Any, Person]:
    """A document for one signer with these fields, and that signer at their link."""
    signer = site.signer(fields=list(fields))
    document = await site.send_document(recipients=[signer], **changes)
    return document, await site.person(signer["email"])


async def post(site: Site, person: Person, act: str, body: Any) -> SiteAnswer:
    """What the page's script sends."""
    stream, media = io.BytesIO(json.dumps(body).encode()), {"Content-Type": "application/json"}
    async with site.session.post(f"{person.link}/{act}", data=stream, headers=media) as seen:
        return SiteAnswer(seen.status, seen.headers, await seen.read())


async def complete(site: Site, person: Person, answers: Any = None) -> SiteAnswer:
    """Agree and finish; without `answers` with a typed signature alone."""
    found = re.search(r'data-consent="([0-9a-f]{64})"', (await person.open()).content.decode())
    given = {"signature": a_signature()} if answers is None else answers
    return await post(site, person, "complete", {"answers": given, "consent": found[1] if found else "none"})


async def state(site: Site, document: Any) -> Any:
    """All that anybody could see change."""
    current = await site.get(document["id"])
    counts = [
        len(await site.runtime.db.all(f"SELECT 1 FROM {table} WHERE document_id = :id", id=document["id"]))
        for table in ("event", "outbox", "document_blob", "link")
    ]
    return current, await site.list_events(document["id"]), counts


async def wait_until_invited(site: Site, document: Any) -> None:
    """Wait until the invitations have been noted as sent, so that nothing moves any more."""

    async def is_noted() -> bool | None:
        people = (await site.get(document["id"]))["recipients"]
        return all(person["delivery"]["status"] in ("accepted", "none") for person in people) or None

    await until(is_noted, "mail")


# ---------- A15: looking changes nothing ----------

SCANNERS = [
    ("User-Agent: Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.1; BarracudaSentinel)",),
    ("User-Agent: Microsoft Office/16.0", "X-Purpose: preview"),
    ("Purpose: prefetch", "Sec-Purpose: prefetch;prerender", "Sec-Fetch-Mode: navigate"),
    ("User-Agent: Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0", "X-Moz: prefetch"),
    ("User-Agent: python-requests/2.32", "Accept: */*"),
]


async def test_a_hundred_looks_at_a_link_change_nothing(site: Site) -> None:
    document, person = await send_for_signing(site, a_field("signature"))
    await wait_until_invited(site, document)
    before, path = await state(site, document), person.link.removeprefix(site.base)
    seen = await gather(
        *(
            ask(site.port, "GET" if n % 2 else "HEAD", path, None, *SCANNERS[n % len(SCANNERS)])
            for n in range(40)
        ),
    )
    for n in range(60):
        seen.append(
            await ask(site.port, "HEAD" if n % 2 else "GET", path, None, *SCANNERS[n % len(SCANNERS)])
        )
    assert {one.status for one in seen} == {200} and not any("set-cookie" in one.headers for one in seen)
    for rest in ("/status", "/pages/1.webp", "/original.pdf"):
        assert (await ask(site.port, "GET", path + rest)).status == 200
    assert await state(site, document) == before


async def test_only_the_script_s_call_counts_as_a_view_and_only_once(site: Site) -> None:
    document, person = await send_for_signing(site)
    await person.open()
    assert (await site.get(document["id"]))["recipients"][0]["viewedAt"] is None
    for _ in range(3):
        assert (await post(site, person, "view", {})).body == {"state": "open"}
    viewed = (await site.get(document["id"]))["recipients"][0]
    assert viewed["status"] == "viewed" and viewed["viewedAt"] is not None
    assert (await site.list_events(document["id"])).count("recipient.viewed") == 1


async def test_acting_needs_a_post_of_json_from_the_page_itself(site: Site) -> None:
    document, person = await send_for_signing(site)
    await wait_until_invited(site, document)
    before, path = await state(site, document), person.link.removeprefix(site.base)
    media = "Content-Type: application/json"
    for act in ("view", "complete", "decline"):
        assert (await ask(site.port, "GET", f"{path}/{act}", None)).status == 405
        for lines in (
            (),
            ("Content-Type: text/plain",),
            ("Content-Type: application/x-www-form-urlencoded",),
            (media, "Origin: https://evil.test"),
            (media, "Sec-Fetch-Site: cross-site"),
        ):
            assert (await ask(site.port, "POST", f"{path}/{act}", b"{}", *lines)).status == 400
    assert await state(site, document) == before


# ---------- A16: what one may not fill in ----------


async def test_every_kind_of_field_is_filled_in_and_shown(site: Site) -> None:
    fields = [
        a_field("signature"),
        a_field("initials", required=False),
        a_field("date"),
        a_field("date", autofill=False),
        a_field("name"),
        a_field("email"),
        a_field("text", value="prefilled"),
        a_field("text", value="fixed", readOnly=True),
        a_field("number", min=0, max=20, decimals=2),
        a_field("checkbox", required=True),
        a_field("radio", options=["red", "green"]),
        a_field("dropdown", options=["one", "two"], required=False),
    ]
    document, person = await send_for_signing(site, *fields)
    ids = [field["id"] for field in document["recipients"][0]["fields"]]
    given = [
        drawing(), a_signature("AL"), None, "2026-12-24", None, None, None, None, "12,50", True, "green", "two"
    ]  # fmt: skip
    await person.sign({id: value for id, value in zip(ids, given, strict=True) if value is not None})
    signer = document["recipients"][0]
    shown = (await site.wait_until_sealed(document["id"]))["recipients"][0]
    assert [field["value"] for field in shown["fields"]] == [
        {"kind": "drawn"},
        {"kind": "typed"},
        "2026-11-21",
        "2026-12-24",
        signer["name"],
        signer["email"],
        "prefilled",
        "fixed",
        "12.50",
        True,
        "green",
        "two",
    ]
    assert {field["filledAt"] for field in shown["fields"]} == {shown["completedAt"]}


WAYS = ("drawn", "typed", "uploaded")


@pytest.mark.parametrize(
    "allowed", [list(some) for n in (1, 2, 3) for some in combinations(WAYS, n)], ids="-".join
)
async def test_only_the_ways_of_signing_that_are_allowed_end_in_the_sealed_file(
    site: Site, allowed: list[str]
) -> None:
    document, person = await send_for_signing(site, a_field("signature", allowed=allowed))
    [field] = document["recipients"][0]["fields"]
    assert field["allowed"] == allowed
    assert f'data-allowed="{" ".join(allowed)}"' in (await person.open()).content.decode()
    given = {"typed": a_signature(), **{way: {**drawing(), "kind": way} for way in ("drawn", "uploaded")}}
    for way in set(WAYS) - set(allowed):
        refused = await complete(site, person, {field["id"]: given[way]})
        assert refused.places == {(f"/answers/{field['id']}", "enum")}
    await person.sign({field["id"]: given[allowed[-1]]})
    [shown] = (await site.wait_until_sealed(document["id"]))["recipients"][0]["fields"]
    assert shown["value"] == {"kind": allowed[-1]}


async def test_a_typed_name_is_shown_as_it_will_be_sealed_and_that_changes_nothing(site: Site) -> None:
    document, person = await send_for_signing(site)
    await wait_until_invited(site, document)
    before = await state(site, document)
    arabic = await post(site, person, "letters", {"text": " محمد علي ", "hand": None})
    assert arabic.body["picture"].startswith("data:image/svg+xml;base64,")
    assert 70 < arabic.body["widest"] < 100 and arabic.body["missing"] == ""
    assert (await post(site, person, "letters", {"text": "𐀀 Ada 𐀀", "hand": "a"})).body == {
        "picture": None,
        "widest": 0,
        "missing": "𐀀",
    }
    for text, hand in (("", "a"), ("Ada", "z"), ("A\u0000", None), (7, None), ("x" * 101, None)):
        assert (await post(site, person, "letters", {"text": text, "hand": hand})).places == {
            ("/text", "format")
        }
    assert await state(site, document) == before
    await person.sign()
    late = await post(site, person, "letters", {"text": "Ada", "hand": "a"})
    assert (late.status, late.code) == (409, "recipient_not_active")


async def test_a_typed_name_that_cannot_be_drawn_now_can_be_tried_again(site: Site) -> None:
    class Failing:
        async def letters(self, *given: object, **more: object) -> None:
            raise WorkerFailed("it took longer than 20 seconds")

    _, person = await send_for_signing(site)
    runtime = replace(site.runtime, pdf=cast(Workers, Failing()))
    with pytest.raises(Problem, match="unavailable"):
        await typed_signature.draw_letters(runtime, Visitor(person.link.rpartition("/")[2]), "Ada", "a")


def drawing() -> dict[str, str]:
    content = resources.files("esign.demo").joinpath("signature.png").read_bytes()
    return {"kind": "drawn", "picture": f"data:image/png;base64,{base64.b64encode(content).decode()}"}


FIELDS: dict[str, dict[str, Any]] = {
    "text": a_field(),
    "short": a_field(maxLength=3, required=False),
    "digits": a_field(pattern="digits", required=False),
    "fixed": a_field(value="fixed", readOnly=True),
    "number": a_field("number", min=1, max=9, decimals=0, required=False),
    "date": a_field("date", autofill=False, max="2026-12-31", required=False),
    "radio": a_field("radio", options=["red", "green"], required=False),
    "dropdown": a_field("dropdown", options=["red", "green"], required=False),
    "box": a_field("checkbox", required=True),
    "one": a_field("checkbox", group="g", minChecked=1, maxChecked=1),
    "other": a_field("checkbox", group="g"),
    "signature": a_field("signature", allowed=["drawn"]),
}
FITTING: dict[str, Any] = {"text": "ok", "box": True, "one": True, "signature": drawing()}

WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "an unknown field",
        {"fld_00000000000000000000000000": "x"},
        "fld_00000000000000000000000000",
        "reference",
    ),
    ("a read-only field", {"fixed": "changed"}, "fixed", "reference"),
    ("a required field left out", {"text": None}, "text", "required"),
    ("a required field of blanks", {"text": "  \t "}, "text", "required"),
    ("a required box", {"box": False}, "box", "required"),
    ("a box that is no boolean", {"box": "true"}, "box", "type"),
    ("a text that is none", {"text": 5}, "text", "type"),
    ("a text that is an object", {"text": {"kind": "typed", "text": "a", "hand": "a"}}, "text", "type"),
    ("a control character", {"text": "a\u0000b"}, "text", "format"),
    ("a line break in a line", {"text": "a\nb"}, "text", "format"),
    ("a text too long", {"short": "long"}, "short", "length"),
    ("letters for digits", {"digits": "12a"}, "digits", "format"),
    ("a number out of range", {"number": "10"}, "number", "range"),
    ("a fraction", {"number": "1.5"}, "number", "format"),
    ("a number as a number", {"number": 5}, "number", "type"),
    ("a date that is none", {"date": "2026-02-30"}, "date", "format"),
    ("a date too late", {"date": "2027-01-01"}, "date", "range"),
    ("no such option", {"radio": "blue"}, "radio", "enum"),
    ("an option of another kind", {"dropdown": ["red"]}, "dropdown", "enum"),
    ("too many of a group", {"other": True}, "one", "range"),
    ("too few of a group", {"one": False}, "one", "range"),
    ("no signature", {"signature": None}, "signature", "required"),
    ("a text for a signature", {"signature": "Ada"}, "signature", "type"),
    ("a way of signing that is not allowed", {"signature": a_signature()}, "signature", "enum"),
    ("a signature of nothing", {"signature": {"kind": "drawn"}}, "signature", "format"),
    ("a signature of no known kind", {"signature": {"kind": "stamped"}}, "signature", "format"),
    (
        "a picture that is none",
        {"signature": {"kind": "drawn", "picture": "data:image/png;base64,AAAA"}},
        "signature",
        "format",
    ),
    ("a character that no font has", {"text": "\U00010000"}, "text", "format"),
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def asked(site: Site) -> tuple[Any, Person, dict[str, str]]:
    """A document with those fields, its signer, and the id of each field."""
    document, person = await send_for_signing(site, *FIELDS.values(), expiresInDays=365)
    await wait_until_invited(site, document)
    ids = dict(zip(FIELDS, (f["id"] for f in document["recipients"][0]["fields"]), strict=True))
    return document, person, ids


@pytest.mark.parametrize("given, field, rule", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
async def test_an_answer_that_does_not_fit_is_refused_and_nothing_is_stored(
    site: Site, asked: tuple[Any, Person, dict[str, str]], given: dict[str, Any], field: str, rule: str
) -> None:
    document, person, ids = asked
    before = await state(site, document)
    answers = {ids.get(name, name): value for name, value in {**FITTING, **given}.items()}
    refused = await complete(site, person, answers)
    assert refused.status == 400, refused
    assert refused.places == {(f"/answers/{ids.get(field, field)}", rule)}
    assert await state(site, document) == before


async def test_the_answers_that_those_were_changed_from_fit(site: Site) -> None:
    document, person = await send_for_signing(site, *FIELDS.values())
    ids = dict(zip(FIELDS, (f["id"] for f in document["recipients"][0]["fields"]), strict=True))
    await person.sign({ids[name]: value for name, value in FITTING.items()})


async def test_all_problems_are_told_at_once_and_at_most_a_hundred(site: Site) -> None:
    document, person = await send_for_signing(site, a_field(), a_field("radio", options=["a", "b"]))
    text, radio = (field["id"] for field in document["recipients"][0]["fields"])
    refused = await complete(site, person, {radio: "c", "other": 1})
    assert refused.places == {
        (f"/answers/{text}", "required"),
        (f"/answers/{radio}", "enum"),
        ("/answers/other", "reference"),
        ("/answers/signature", "required"),
    }
    many = await complete(site, person, {f"fld_{n}": drawing() for n in range(200)})
    assert many.status == 400 and len(many.body["error"]["details"]) == 100


async def test_another_s_field_is_as_foreign_as_an_unknown_one(site: Site) -> None:
    one, other = site.signer(fields=[a_field(required=False)]), site.signer(fields=[a_field(required=False)])
    document = await site.send_document(recipients=[one, other])
    foreign = document["recipients"][1]["fields"][0]["id"]
    person = await site.person(one["email"])
    await wait_until_invited(site, document)
    before = await state(site, document)
    refused = await complete(site, person, {foreign: "mine", "signature": a_signature()})
    assert refused.places == {(f"/answers/{foreign}", "reference")}
    assert await state(site, document) == before


@pytest.mark.parametrize(("query", "tag"), [("", "de"), ("?lang=ar", "ar")])
async def test_the_trail_holds_the_hash_of_the_words_in_the_language_they_were_read_in(
    site: Site, query: str, tag: str
) -> None:
    document = await site.send_document(recipients=[signer := site.signer(locale="de")], locale="fr")
    person = await site.person(signer["email"])
    stated = {"answers": {"signature": a_signature()}, "consent": consent.hash_wording(tag)}
    async with site.session.get(person.link + query) as page:
        assert f'data-consent="{consent.hash_wording(tag)}"' in await page.text()
    assert (await post(site, person, "complete", stated)).status == 200
    [agreed] = [line for line in await site.trail(document["id"]) if line["type"] == "recipient.consented"]
    assert consent.hash_wording(tag) in str(agreed)


async def test_consent_is_to_the_words_that_were_shown(site: Site) -> None:
    document, person = await send_for_signing(site)
    await wait_until_invited(site, document)
    before = await state(site, document)
    answers = {"signature": a_signature()}
    for body, rule in (
        ({"answers": answers}, "required"),
        ({"answers": answers, "consent": True}, "required"),
        ({"answers": answers, "consent": ""}, "required"),
        ({"answers": answers, "consent": "0" * 64}, "reference"),
    ):
        assert (await post(site, person, "complete", body)).places == {("/consent", rule)}
    assert (await post(site, person, "complete", {"answers": [], "consent": "0"})).places == {
        ("/answers", "type")
    }
    assert (await post(site, person, "complete", {"answer": {}})).places == {("/answer", "unknown_member")}
    assert await state(site, document) == before


HUGE = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 2**20).decode()
NO_PICTURE = {
    "another scheme": "https://example.com/a.png",
    "SVG": "data:image/svg+xml;base64," + base64.b64encode(b"<svg onload='alert(1)'/>").decode(),
    "no base64": "data:image/png;base64,!!!!",
    "a PDF": "data:image/png;base64," + base64.b64encode(b"%PDF-1.7").decode(),
    "more than a megabyte": HUGE,
}


@pytest.mark.parametrize("picture", NO_PICTURE.values(), ids=NO_PICTURE)
async def test_a_picture_is_a_small_picture_or_refused(site: Site, picture: str) -> None:
    document, person = await send_for_signing(site)
    await wait_until_invited(site, document)
    before = await state(site, document)
    refused = await complete(site, person, {"signature": {"kind": "uploaded", "picture": picture}})
    assert refused.status == 400 and refused.places == {("/answers/signature", "format")}, refused
    assert await state(site, document) == before


async def test_what_a_camera_hid_in_a_picture_is_not_kept(site: Site) -> None:
    picture = io.BytesIO()
    details = Image.Exif()
    details[0x010E] = "taken at home"
    drawn = Image.new("RGB", (60, 20), "white")
    drawn.paste("black", (10, 5, 50, 15))
    drawn.save(picture, "JPEG", exif=details)
    assert b"taken at home" in picture.getvalue()
    url = f"data:image/jpeg;base64,{base64.b64encode(picture.getvalue()).decode()}"
    document, person = await send_for_signing(site)
    await person.sign({"signature": {"kind": "uploaded", "picture": url}})
    await site.wait_until_sealed(document["id"])
    chunks = await site.runtime.db.all("SELECT content FROM blob_chunk")
    assert chunks and not any(b"taken at home" in row["content"] for row in chunks)


# ---------- turns and ends ----------


class Correcting:
    """The PDF workers, except that somebody else is corrected into the recipient while they work."""

    def __init__(self, site: Site, document: Any) -> None:
        self._pdf = site.runtime.pdf
        self._site = site
        (person,) = document["recipients"]
        self._path = f"/documents/{document['id']}/recipients/{person['id']}"

    async def reencode(self, image: bytes, **more: Any) -> RedrawnPicture:
        await self._site.ok("PATCH", self._path, {"name": "Bo", "email": "bo@example.test"})
        return await self._pdf.reencode(image, **more)


async def test_nobody_signs_for_whoever_took_their_place_meanwhile(site: Site) -> None:
    document, person = await send_for_signing(site)
    runtime = replace(site.runtime, pdf=cast(Workers, Correcting(site, document)))
    drawn = io.BytesIO()
    Image.new("RGB", (60, 20), "black").save(drawn, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode()}"
    visitor = Visitor(person.link.rpartition("/")[2])
    answers = {"signature": {"kind": "drawn", "picture": url}}
    with pytest.raises(Problem, match="not_found"):
        await signing.complete(runtime, visitor, answers, consent.hash_wording("en"), Origin())
    (now,) = (await site.get(document["id"]))["recipients"]
    assert (now["name"], now["status"]) == ("Bo", "sent")


async def test_whoever_has_finished_cannot_finish_again(site: Site) -> None:
    one, other = site.signer(), site.signer()
    document = await site.send_document(recipients=[one, other])
    person = await site.person(one["email"])
    await person.sign()
    before = (await site.list_events(document["id"])).count("recipient.completed")
    again = await complete(site, person)
    body = {"answers": {"signature": a_signature()}, "consent": "0" * 64}
    assert again.code == (await post(site, person, "complete", body)).code == "recipient_already_completed"
    assert (await post(site, person, "decline", {})).code == "recipient_already_completed"
    assert (await site.list_events(document["id"])).count("recipient.completed") == before
    assert await person.state() == "waiting"


async def test_twenty_simultaneous_completions_have_one_winner(site: Site) -> None:
    document, person = await send_for_signing(site)
    answers = await gather(*(complete(site, person) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 19
    await site.wait_until_sealed(document["id"])
    happened = await site.list_events(document["id"])
    assert happened.count("recipient.completed") == happened.count("document.completed") == 1


async def test_nobody_acts_out_of_turn(site: Site) -> None:
    first, second = site.signer(order=1), site.signer(order=2)
    document = await site.send_document(recipients=[first, second])
    early = await handed_out(site, document, 1)
    await wait_until_invited(site, document)
    before = await state(site, document)
    assert await early.state() == "waiting"
    body = {"answers": {"signature": a_signature()}, "consent": "0" * 64}
    for act, given in (("view", {}), ("complete", body), ("decline", {})):
        assert (await post(site, early, act, given)).code == "recipient_not_active"
    for rest in ("/pages/1.webp", "/original.pdf", "/sealed.pdf"):
        assert (await ask(site.port, "GET", early.link.removeprefix(site.base) + rest)).status in (404, 409)
    assert await state(site, document) == before
    await (await site.person(first["email"])).sign()
    await early.sign()
    assert (await site.wait_until_sealed(document["id"]))["status"] == "completed"


async def handed_out(site: Site, document: Any, number: int) -> Person:
    """One who holds a link before it was mailed, as a sender may hand it out."""
    token = make_token()
    link = signing_links.SigningLink(document["recipients"][number]["id"], document["id"], "sender")

    async def write(tx: Transaction) -> None:
        await signing_links.add(tx, token, link, site.clock.now())

    await site.runtime.db.write(write)
    return Person(site.session, f"{site.base}/s/{token}")


async def test_a_refusal_ends_the_document_for_everybody(site: Site) -> None:
    one, other = site.signer(), site.signer()
    document = await site.send_document(recipients=[one, other])
    refusing, waiting = await site.person(one["email"]), await site.person(other["email"])
    refused = await post(site, refusing, "decline", {"reason": " too dear\nand late "})
    assert refused.status == 200 and refused.body == {"state": "declined"}
    closed = await site.get(document["id"])
    assert closed["status"] == "declined" and closed["closeReason"] == "too dear\nand late"
    assert closed["recipients"][0]["declineReason"] == "too dear\nand late"
    assert closed["recipients"][1]["status"] == "sent"
    for person in (refusing, waiting):
        assert await person.state() == "declined"
        assert (await complete(site, person)).code == "document_not_sent"
        assert (await post(site, person, "view", {})).body["error"]["currentStatus"] == "declined"
    entry = next(e for e in await site.trail(document["id"]) if e["type"] == "recipient.declined")
    assert entry["detail"] == {"reason": "too dear\nand late"} and entry["data"] == {"link": "sender"}


@pytest.mark.parametrize(
    "reason, rule", [("r" * 1_001, "length"), (5, "format"), ("a\u0000b", "format"), (["a"], "format")]
)
async def test_a_reason_is_text_of_a_thousand_characters(site: Site, reason: Any, rule: str) -> None:
    document, person = await send_for_signing(site)
    assert (await post(site, person, "decline", {"reason": reason})).places == {("/reason", rule)}
    assert (await site.get(document["id"]))["status"] == "sent"
    assert (await post(site, person, "decline", {"reason": "r" * 1_000})).status == 200


@pytest.mark.parametrize("token", ["x", "A" * 43, "%C3%BC", "..", "A" * 500])
async def test_a_link_that_is_none_says_nothing_about_anything(site: Site, token: str) -> None:
    seen = await ask(site.port, "GET", f"/s/{token}")
    if token == "..":
        assert seen.status == 400
        return
    assert seen.status == 200 and b'data-state="unknown"' in seen.body
    media = "Content-Type: application/json"
    for act in ("view", "complete", "decline"):
        body = b'{"answers":{},"consent":"x"}' if act == "complete" else b"{}"
        assert (await ask(site.port, "POST", f"/s/{token}/{act}", body, media)).code == "not_found"
    for rest in ("pages/1.webp", "original.pdf", "sealed.pdf"):
        assert (await ask(site.port, "GET", f"/s/{token}/{rest}")).status == 404


async def test_a_token_is_stored_nowhere_readable(site: Site) -> None:
    _, person = await send_for_signing(site)
    token = person.link.rpartition("/")[2].encode()
    assert len(token) == 43
    files = [one for one in site.runtime.config.storage.data_dir.rglob("*") if one.is_file()]
    assert len(files) > 1
    for file in files:
        assert token not in file.read_bytes(), file.name


# ---------- what the page says of itself ----------


async def test_the_state_stands_on_the_body_of_the_page(site: Site) -> None:
    one, other = site.signer(order=1), site.signer(order=1)
    document = await site.send_document(recipients=[one, other])
    first, second = await site.person(one["email"]), await site.person(other["email"])
    assert await first.state() == "open"
    await first.sign()
    assert await first.state() == "waiting"
    await second.sign()
    await site.wait_until_sealed(document["id"])
    assert await first.state() == await second.state() == "completed"
    seen = await ask(site.port, "GET", first.link.removeprefix(site.base) + "/sealed.pdf")
    assert seen.status == 200 and seen.body == await site.bytes_of(document["id"], "sealed")
    assert (await site.list_events(document["id"])).count("document.downloaded") == 2


async def test_a_document_past_its_time_says_so_and_takes_nothing(site: Site) -> None:
    document, person = await send_for_signing(site, expiresInDays=1)
    site.clock.advance(days=1)
    assert (await complete(site, person)).code == "document_not_sent"
    assert await person.state() == "expired"
    assert (await site.get(document["id"]))["status"] == "expired"


async def test_a_month_after_its_end_a_link_is_forgotten(site: Site) -> None:
    signer = site.signer()
    document = await site.send_document(recipients=[signer])
    person = await site.person(signer["email"])
    await person.sign()
    await site.wait_until_sealed(document["id"])
    site.clock.advance(days=30, milliseconds=-1)
    assert await person.state() == "completed"
    site.clock.advance(milliseconds=1)
    assert await person.state() == "unknown"
    assert (await site.get(document["id"]))["status"] == "completed"


async def test_the_page_has_the_hooks_and_no_script_of_its_own(site: Site) -> None:
    document, person = await send_for_signing(site, a_field(), a_field("signature"))
    page = await person.open()
    html = page.content.decode()
    for field in document["recipients"][0]["fields"]:
        assert re.search(rf'data-field="{field["id"]}"', html)
    assert {"sign", "consent", "finish", "decline"} <= set(re.findall(r'data-action="(\w+)"', html))
    policy = page.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)
    assert nonce and "unsafe" not in policy
    for script in re.findall(r"<script[^>]*>", html):
        assert f'nonce="{nonce[1]}"' in script or 'type="application/json"' in script
    assert not re.search(r"\sstyle=|\son\w+=", html)
    assert page.headers["referrer-policy"] == "no-referrer" and page.headers["cache-control"] == "no-store"
