"""The link itself: for everybody, in every state, without a trace."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from esign.core.document import consent
from esign.core.document.document import FieldType, Ink, RecipientStatus, Role
from esign.core.document.state import renew_link
from tests.web.signing.client import LINK, SigningClient
from tests.web.signing.site import (
    NOW,
    STATES,
    SigningSite,
    a_document,
    a_recipient,
    all_fields,
    other,
)

HEADERS = {
    "strict-transport-security": "max-age=63072000; includeSubDomains",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=(), "
    "browsing-topics=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "origin-agent-cluster": "?1",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "cache-control": "no-store",
    "content-type": "text/html; charset=utf-8",
}
POLICY = (
    "default-src 'none'; script-src 'nonce-N' 'strict-dynamic'; style-src 'self' 'nonce-N'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; "
    "trusted-types esign; upgrade-insecure-requests"
)
OPEN = {"open": ("open", a_document())}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", [*OPEN, *STATES])
async def test_the_link_answers_200_in_every_state_and_nothing_is_done(name: str, method: str) -> None:
    state, document = {**OPEN, **STATES}[name]
    site = SigningSite(document, state)
    seen = await SigningClient(site).ask(method)
    assert seen.status == 200
    await site.read_back()
    assert site.trail == ([renew_link.ASKED] if state == "expired-asked" else [])
    assert site.calls == []
    assert "set-cookie" not in seen.headers
    assert {name: seen.headers[name] for name in HEADERS} == HEADERS
    assert re.sub("nonce-[A-Za-z0-9_-]{22}", "nonce-N", seen.headers["content-security-policy"]) == POLICY
    if method == "GET":
        assert f'<body data-state="{state}">' in seen.body.decode()


@pytest.mark.parametrize("name", [*OPEN, *STATES])
async def test_no_page_holds_what_its_policy_refuses(name: str) -> None:
    state, document = {**OPEN, **STATES}[name]
    seen = await SigningClient(SigningSite(document, state)).ask()
    page = seen.body.decode()
    nonces = re.findall(r"<(?:script|style)[^>]*>", page)
    assert nonces
    nonce = re.search("nonce-([A-Za-z0-9_-]+)", seen.headers["content-security-policy"])
    assert nonce is not None
    assert all(f'nonce="{nonce[1]}"' in tag for tag in nonces)
    assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:|https?://(?!www\.w3|northlight)", page)


async def test_every_page_has_a_nonce_of_its_own() -> None:
    client = SigningClient(SigningSite())
    policies = {(await client.ask()).headers["content-security-policy"] for _ in range(5)}
    assert len(policies) == 5


async def test_an_unknown_link_tells_nothing_about_any_document() -> None:
    client = SigningClient(SigningSite())
    seen = await client.ask(path="/s/nothing-of-the-kind")
    assert seen.status == 200
    assert b'data-state="unknown"' in seen.body
    assert b"Northlight" not in seen.body and b"nothing-of-the-kind" not in seen.body


async def test_the_page_says_who_asks_for_what_and_until_when() -> None:
    page = unescape((await SigningClient(SigningSite()).ask()).body.decode())
    for words in (
        "<strong>Mira Okafor</strong> of Northlight Joinery asks you to sign",
        "Joinery agreement, 14 Linden Row",
        "2 pages",
        "12 fields",
        "About 5 minutes",
        "Deadline: 20 December 2026",
        "<b>You</b>, Jonas Weber, sign now",
        "<b>Mira Okafor</b> signs after you",
        "I agree to sign “Joinery agreement, 14 Linden Row” electronically.",
    ):
        assert words in page


async def test_a_document_from_a_program_is_asked_for_by_the_organisation_alone() -> None:
    document = a_document()
    by_key = replace(document, created_by=replace(document.created_by, kind="api_key", name="CI", email=None))
    page = (await SigningClient(SigningSite(by_key)).ask()).body.decode()
    assert "<strong>Northlight Joinery</strong> asks you to sign" in page
    assert "CI" not in re.findall(r"<main>.*?</section>", page, re.DOTALL)[0]
    assert "mailto:office@northlight.example" in page


@pytest.mark.parametrize("field", all_fields(), ids=lambda field: field.id)
async def test_each_field_has_its_hooks_on_the_control_itself(field: object) -> None:
    page = (await SigningClient(SigningSite()).ask()).body.decode()
    control = re.findall(rf'<(\w+)[^>]*data-field="{field.id}" data-type="{field.type}"', page)  # type: ignore[attr-defined]
    assert control and set(control) <= {"input", "select", "textarea", "button"}


async def test_the_steps_of_the_way_have_their_hooks() -> None:
    page = (await SigningClient(SigningSite()).ask()).body.decode()
    for action in ("sign", "adopt", "consent", "finish", "decline"):
        assert f'data-action="{action}"' in page
    state, document = STATES["completed"]
    done = (await SigningClient(SigningSite(document, state)).ask()).body.decode()
    assert f'href="{LINK}/sealed.pdf" download data-action="download"' in done


async def test_what_other_people_filled_in_is_not_shown() -> None:
    theirs = other()
    filled = tuple(replace(field, value="2026-11-20") for field in theirs.fields[1:])
    secret = replace(theirs.fields[0], value=Ink("typed", text="M. Secret", hand="a"))
    site = SigningSite(a_document(a_recipient(), replace(theirs, fields=(secret, *filled))))
    page = (await SigningClient(site).ask()).body.decode()
    assert "M. Secret" not in page and "2026-11-20" not in page and "20 Nov 2026" not in page
    assert "Mira Okafor signs here" in page
    assert 'data-field="fld_o_signature"' not in page


async def test_what_other_people_filled_in_is_shown_once_they_have_finished() -> None:
    theirs = other()
    secret = replace(theirs.fields[0], value=Ink("typed", text="M. Okafor", hand="a"))
    dated = replace(theirs.fields[1], value="2026-11-20")
    done = replace(theirs, status=RecipientStatus.COMPLETED, completed_at=NOW, fields=(secret, dated))
    page = unescape((await SigningClient(SigningSite(a_document(a_recipient(), done))).ask()).body.decode())
    assert 'title="Mira Okafor has signed"' in page and "Mira Okafor has filled in Date: 2026-11-20" in page
    assert re.findall(r'data-src="([^"]*filled[^"]*)"', page) == [f"{LINK}/pages/2/filled-1.webp"]


async def test_the_first_page_comes_at_once_and_the_others_when_they_are_near_with_their_room_kept() -> None:
    page = (await SigningClient(SigningSite()).ask()).body.decode()
    pages = re.findall(r'<img src="([^"]*)" data-src="([^"]*)" width="909" height="1286"', page)
    assert [source.partition(",")[0] for source, _ in pages] == [
        f"{LINK}/pages/1.webp",
        "data:image/gif;base64",
    ]
    assert [later for _, later in pages] == [f"{LINK}/pages/{n}.webp" for n in (1, 2)]
    assert 'fetchpriority="high"' in page.split('id="page-2"')[0]
    unscripted = re.findall(r'<noscript><img src="([^"]*)"[^>]* loading="lazy"></noscript>', page)
    assert unscripted == [f"{LINK}/pages/2.webp"]
    assert "--ratio: 595.28 / 841.89" in page


async def test_everything_that_people_write_is_escaped() -> None:
    evil = "<script>alert(1)</script>\"'&{{7777*7777}}</style>"
    fields = tuple(
        replace(field, label=evil, placeholder=evil, value=evil if field.type is FieldType.TEXT else None)
        for field in all_fields()
    )
    mine = replace(a_recipient(fields), name=evil, email=evil)
    document = a_document(mine, replace(other(), name=evil), title=evil, message=evil)
    page = (await SigningClient(SigningSite(document)).ask()).body.decode()
    assert "<script>alert" not in page and "60481729" not in page.split("<main>")[1].split("</section>")[0]
    for state in ("waiting", "sealing", "completed", "declined", "expired", "cancelled"):
        closed = replace(document, close_reason=evil)
        shown = (await SigningClient(SigningSite(closed, state)).ask()).body.decode()
        assert "<script>alert" not in shown


async def test_the_date_of_signing_is_the_day_at_the_organisation() -> None:
    page = (await SigningClient(SigningSite()).ask()).body.decode()
    assert 'data-field="fld_date" data-type="date" value="21 Nov 2026" readonly' in page


async def test_a_colour_that_is_none_never_reaches_the_sheet() -> None:
    odd = SigningSite()
    odd.organisation = replace(odd.organisation, colour="red;} body{display:none")
    page = (await SigningClient(odd).ask()).body.decode()
    assert "display:none" not in page and "--brand: #3d4657" in page


# ---------- roles ----------


async def test_an_approver_is_asked_to_approve_and_for_no_signature() -> None:
    approver = a_recipient((), role=Role.APPROVER)
    page = (await SigningClient(SigningSite(a_document(approver, other()))).ask()).body.decode()
    for words in ("asks you to approve", "approve now", "Approve this document?", "and approve it."):
        assert words in page
    assert 'data-action="approve"' in page and 'data-field="signature"' not in page
    assert consent.hash_wording("en", Role.APPROVER) in page and consent.hash_wording("en") not in page


async def test_no_field_of_an_approver_is_marked_as_needed() -> None:
    approver = a_recipient(role=Role.APPROVER)
    page = (await SigningClient(SigningSite(a_document(approver, other()))).ask()).body.decode()
    assert "data-required" not in page and "data-needed" not in page
    assert 'data-least="0"' in page and 'aria-valuemax="0"' in page


async def test_a_reader_gets_the_pages_and_nothing_to_act_with() -> None:
    viewer = a_recipient((), role=Role.VIEWER)
    page = (await SigningClient(SigningSite(a_document(viewer, other()))).ask()).body.decode()
    for words in (
        "sends you this to read",
        "Nothing for you to sign",
        "original.pdf",
        "Mira Okafor</b> signs",
    ):
        assert words in page
    for act in ("sign", "finish", "approve", "decline", "consent", "adopt"):
        assert f'data-action="{act}"' not in page
    assert 'id="answers"' not in page and "<dialog" not in page


@pytest.mark.parametrize(
    ("state", "role", "words"),
    [
        ("waiting", Role.APPROVER, "Thank you, you’ve approved"),
        ("sealing", Role.APPROVER, "Your approval is recorded"),
        ("sealing", Role.VIEWER, "Signed by Mira Okafor"),
        ("completed", Role.VIEWER, "Signed by Mira Okafor"),
        ("completed", Role.CC, "Signed by Mira Okafor"),
        ("completed", Role.APPROVER, "Signed and approved"),
    ],
)
async def test_what_is_over_is_told_by_what_the_reader_did(state: str, role: Role, words: str) -> None:
    acted: dict[str, Any] = {}
    if role is Role.APPROVER:
        acted = {"status": RecipientStatus.COMPLETED, "completed_at": NOW}
    document = a_document(a_recipient((), role=role, **acted), other())
    page = (await SigningClient(SigningSite(document, state)).ask()).body.decode()
    assert f">{words}</h1>" in page.replace("\u2068", "").replace("\u2069", "")
    assert "You signed" not in page
    assert ("You approved" in page) is (role is Role.APPROVER)


@pytest.mark.parametrize("state", ["sealing", "completed"])
@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ((Role.SIGNER, Role.SIGNER), "Everyone has signed"),
        ((Role.APPROVER, Role.APPROVER), "Everyone has approved"),
        ((Role.SIGNER, Role.APPROVER), "Signed and approved"),
        ((Role.APPROVER,), "Approved by Mira Okafor"),
    ],
)
async def test_a_reader_is_told_what_the_others_did(state: str, roles: tuple[Role, ...], words: str) -> None:
    acting = [
        replace(other(), id=f"rcp_{n}", name=name, role=role)
        for n, (name, role) in enumerate(zip(("Mira Okafor", "Ana Lindqvist"), roles, strict=False))
    ]
    document = a_document(a_recipient((), role=Role.VIEWER), *acting)
    page = (await SigningClient(SigningSite(document, state)).ask()).body.decode()
    assert f">{words}</h1>" in page.replace("\u2068", "").replace("\u2069", "")


async def test_a_refusal_to_approve_is_called_one() -> None:
    declined: dict[str, Any] = {"status": RecipientStatus.DECLINED, "declined_at": NOW}
    mine = SigningSite(a_document(a_recipient((), role=Role.APPROVER, **declined), other()), "declined")
    assert "You declined to approve" in (await SigningClient(mine).ask()).body.decode()
    theirs = a_document(a_recipient(()), replace(other(), role=Role.APPROVER, **declined))
    page = (await SigningClient(SigningSite(theirs, "declined")).ask()).body.decode()
    assert "Mira Okafor declined to approve" in page


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//northlight.example", "ftp://a.test/x"]
)
async def test_only_an_address_of_the_web_is_offered_afterwards(url: str) -> None:
    state, document = STATES["completed"]
    page = (await SigningClient(SigningSite(replace(document, redirect_url=url), state)).ask()).body.decode()
    assert 'data-action="continue"' not in page and url not in page
    offered = (await SigningClient(SigningSite(document, state)).ask()).body.decode()
    assert 'data-action="continue"' in offered and "Continue to northlight.example" in offered
