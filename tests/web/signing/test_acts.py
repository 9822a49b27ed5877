"""What the page's script sends, and what nobody else can make it send."""

from dataclasses import replace
from typing import Any

import pytest

from esign.core.document import consent
from esign.core.document.document import FieldType, RecipientStatus
from esign.core.errors import Detail, Problem
from tests.web.signing.client import LINK, ORIGIN, SigningClient
from tests.web.signing.site import SigningSite, a_document, a_field, a_recipient, other

AGREED = consent.hash_wording("en")
DOT = "data:image/png;base64,iVBORw0KGgo="


def small() -> SigningSite:
    field = a_field("town", FieldType.TEXT, 1, (10, 10, 30, 3))
    return SigningSite(a_document(a_recipient((field, *signatures())), other()))


def signatures() -> tuple[Any, ...]:
    return tuple(a_field(f"sig{n}", FieldType.SIGNATURE, 1, (10, 20 + 10 * n, 30, 6)) for n in range(2))


async def test_a_view_is_noted_with_where_it_came_from() -> None:
    site = small()
    seen = await SigningClient(site).post("view", {})
    assert (seen.status, seen.json) == (200, {"state": "open"})
    assert site.calls == [("view", ORIGIN)]
    assert site.trail == ["recipient.authenticated", "recipient.viewed"]


async def test_finishing_hands_over_the_answers_and_the_hash_of_the_words_agreed_to() -> None:
    site = small()
    typed = {"kind": "typed", "text": "Jonas", "hand": None}
    answers = {"fld_town": "Harrowgate", "fld_sig0": typed, "fld_sig1": typed}
    seen = await SigningClient(site).post("complete", {"answers": answers, "consent": AGREED})
    assert seen.json == {"state": "waiting"}
    assert site.calls == [("complete", answers, AGREED, ORIGIN)]


async def test_a_picture_may_name_the_field_that_has_the_same_one() -> None:
    site = small()
    answers = {
        "fld_town": "Harrowgate",
        "fld_sig0": {"kind": "drawn", "picture": DOT},
        "fld_sig1": {"kind": "drawn", "picture": "fld_sig0"},
    }
    await SigningClient(site).post("complete", {"answers": answers, "consent": AGREED})
    given = site.calls[0][1]
    assert given["fld_sig1"] == given["fld_sig0"] == {"kind": "drawn", "picture": DOT}


async def test_problems_of_answers_come_back_with_the_field_they_belong_to() -> None:
    site = small()
    seen = await SigningClient(site).post("complete", {"answers": {"fld_other": "x"}, "consent": AGREED})
    assert seen.status == 400
    assert seen.code == "invalid_request"
    assert seen.json["error"]["requestId"] == "req_1"
    assert seen.places == {
        ("/answers/fld_other", "reference"),
        ("/answers/fld_town", "required"),
        ("/answers/fld_sig0", "required"),
        ("/answers/fld_sig1", "required"),
    }
    assert site.state == "open"


@pytest.mark.parametrize(
    ("state", "mine", "code", "status"),
    [
        ("cancelled", RecipientStatus.SENT, "document_not_sent", "cancelled"),
        ("waiting", RecipientStatus.CREATED, "recipient_not_active", "sent"),
        ("waiting", RecipientStatus.COMPLETED, "recipient_already_completed", "sent"),
    ],
)
async def test_a_document_that_moved_on_answers_with_its_state(
    state: str, mine: RecipientStatus, code: str, status: str
) -> None:
    site = small()
    site.document, site.state = site.document.with_recipient(replace(site.recipient, status=mine)), state
    seen = await SigningClient(site).post("complete", {"answers": {}, "consent": AGREED})
    assert (seen.status, seen.code) == (409, code)
    assert seen.json["error"]["currentStatus"] == status


async def test_declining_takes_a_reason_or_none() -> None:
    site = small()
    await SigningClient(site).post("decline", {"reason": "  Too dear.\nSorry.  "})
    assert site.calls == [("decline", "Too dear.\nSorry.", ORIGIN)]
    for nothing in ({}, {"reason": None}, {"reason": "   "}):
        site = small()
        assert (await SigningClient(site).post("decline", nothing)).json == {"state": "declined"}
        assert site.calls == [("decline", None, ORIGIN)]


@pytest.mark.parametrize(
    ("act", "value", "place"),
    [
        ("complete", [], ("", "type")),
        ("complete", {"answers": [], "consent": AGREED}, ("/answers", "type")),
        ("complete", {"answers": {}}, ("/consent", "required")),
        ("complete", {"answers": {}, "consent": ""}, ("/consent", "required")),
        ("complete", {"answers": {}, "consent": True}, ("/consent", "required")),
        ("complete", {"answers": {}, "consent": AGREED, "now": 1}, ("/now", "unknown_member")),
        ("view", {"a": 1}, ("/a", "unknown_member")),
        ("decline", {"reason": 7}, ("/reason", "format")),
        ("decline", {"reason": "bell\u0007"}, ("/reason", "format")),
        ("decline", {"reason": "x" * 1001}, ("/reason", "length")),
    ],
)
async def test_what_is_not_in_its_shape_is_refused_with_its_place(
    act: str, value: Any, place: tuple[str, str]
) -> None:
    site = small()
    seen = await SigningClient(site).post(act, value)
    assert (seen.status, seen.code, seen.places) == (400, "invalid_request", {place})
    assert site.calls == []


@pytest.mark.parametrize("body", [b"{", b'{"a":1,"a":2}', b"[" * 9_999, b'{"reason":"\\ud800"}', b"\xff"])
async def test_what_is_no_json_is_refused(body: bytes) -> None:
    seen = await SigningClient(small()).post("decline", body)
    assert (seen.status, seen.code) == (400, "invalid_json")


@pytest.mark.parametrize("act", ["view", "complete", "decline"])
@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "https://sign.example:444"},
        {"origin": "http://["},
        {"origin": "https://evil.example", "sec_fetch_site": "same-origin"},
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded"},
    ],
)
async def test_another_site_cannot_act(act: str, headers: dict[str, str]) -> None:
    site = small()
    seen = await SigningClient(site).post(act, {"answers": {}, "consent": AGREED}, **headers)
    assert seen.status == 400
    assert site.calls == []


async def test_another_site_cannot_enter_anything() -> None:
    values = {"fld_town": {"at": 1, "value": "Harrowgate"}}
    for headers, revision in (
        ({"sec_fetch_site": "cross-site"}, 0),
        ({"origin": "https://evil.example"}, 0),
        ({}, 1),
    ):
        site = small()
        await SigningClient(site).post("draft", {"values": values}, **headers)
        assert site.draft.revision == revision


async def test_the_page_itself_and_a_program_without_an_origin_can_act() -> None:
    for headers in (
        {},
        {"origin": "https://sign.example", "sec_fetch_site": "same-origin"},
        {"origin": "https://sign.example.org", "sec_fetch_site": "same-origin"},
    ):
        assert (await SigningClient(small()).post("view", {}, **headers)).status == 200


async def test_more_than_two_mebibytes_are_not_read() -> None:
    site = small()
    seen = await SigningClient(site).post("complete", b'{"answers":{"a":"' + b"x" * 2 * 2**20 + b'"}}')
    assert (seen.status, seen.code) == (400, "request_too_large")
    assert site.calls == []


async def test_an_unknown_link_cannot_act() -> None:
    client = SigningClient(SigningSite())
    seen = await client.ask("POST", "/s/other/view", b"{}", {"content-type": "application/json"})
    assert (seen.status, seen.code) == (404, "not_found")


@pytest.mark.parametrize("path", ["/view", "/complete", "/decline"])
async def test_looking_at_an_act_does_nothing(path: str) -> None:
    site = small()
    seen = await SigningClient(site).ask("GET", LINK + path)
    assert seen.status == 405
    assert site.calls == []


async def test_the_status_is_one_word_and_never_kept() -> None:
    seen = await SigningClient(small()).ask(path=f"{LINK}/status")
    assert (seen.json, seen.headers["cache-control"]) == ({"state": "open"}, "no-store")
    assert (await SigningClient(small()).ask(path="/s/other/status")).json == {"state": "unknown"}


async def test_details_of_the_action_reach_the_page_unchanged() -> None:
    site = SigningSite(a_document(a_recipient(()), other()))
    site.refuse = Problem(
        "invalid_request", details=[Detail("/answers/fld_town", "We can’t print ☃.", "format")]
    )
    answers = {"signature": {"kind": "typed", "text": "Jonas", "hand": "a"}}
    seen = await SigningClient(site).post("complete", {"answers": answers, "consent": AGREED})
    assert seen.json["error"]["details"] == [
        {"path": "/answers/fld_town", "message": "We can’t print ☃.", "rule": "format"}
    ]
