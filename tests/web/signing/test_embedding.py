"""Who may show a page of a link inside a page of their own, what such a page knows, and its cookie."""

import re
from dataclasses import replace
from typing import Any

import pytest

from esign.core.document.document import Document, RecipientStatus, Role
from tests.web.signing.client import LINK, SigningClient
from tests.web.signing.site import CODE, ORGANISATION, SESSION, STATES, SigningSite, a_document, a_recipient

APP, SECOND = "https://app.example.com", "https://other.example:8443"


class Listed(SigningSite):
    """The organisation lists two applications."""

    def __init__(self, document: Document | None = None, state: str = "open") -> None:
        super().__init__(document, state)
        self.organisation = replace(ORGANISATION, embed_origins=(APP, SECOND))


def ancestors(headers: Any) -> str:
    found = re.search(r"frame-ancestors ([^;]+)", headers["content-security-policy"])
    assert found
    return found[1]


SHOWN = {"open": ("open", a_document()), "code": ("code", a_document()), **STATES}


@pytest.mark.parametrize("name", SHOWN)
async def test_only_listed_applications_may_frame_a_page_of_a_known_link(name: str) -> None:
    state, document = SHOWN[name]
    listed = await SigningClient(Listed(document, state)).ask()
    known = name != "unknown"
    assert ancestors(listed.headers) == (f"{APP} {SECOND}" if known else "'none'")
    assert ("x-frame-options" in listed.headers) is not known
    closed = await SigningClient(SigningSite(document, state)).ask()
    assert ancestors(closed.headers) == "'none'" and closed.headers["x-frame-options"] == "DENY"
    assert b"data-embedders" not in closed.body


async def test_everything_else_behind_a_link_stays_unframeable() -> None:
    state, document = STATES["completed"]
    client = SigningClient(Listed(document, state))
    for path in (f"{LINK}/status", f"{LINK}/pages/1.webp", f"{LINK}/sealed.pdf", "/s/other"):
        seen = await client.ask(path=path)
        assert seen.headers["x-frame-options"] == "DENY", path


OUTCOMES = [
    ("open", None),
    ("code", None),
    ("not_yet", None),
    ("done_waiting", "completed"),
    ("sealing", "completed"),
    ("completed", "completed"),
    ("declined", "declined"),
    ("declined_by_other", "error"),
    ("expired", "error"),
    ("cancelled", "error"),
]


@pytest.mark.parametrize(("name", "outcome"), OUTCOMES)
async def test_a_framed_page_knows_what_to_tell(name: str, outcome: str | None) -> None:
    state, document = SHOWN[name]
    page = (await SigningClient(Listed(document, state)).ask()).body.decode()
    [body] = re.findall(r"<body [^>]*>", page)
    known = dict(re.findall(r'data-([a-z]+)="([^"]*)"', body))
    told = {"outcome": outcome} if outcome else {}
    about = {"embedders": f"{APP} {SECOND}", "document": "doc_1", "recipient": "rcp_jonas"}
    assert known == {"state": state, **about, **told}


async def test_before_the_code_nothing_is_told_of_what_was_done() -> None:
    done = a_document(a_recipient((), role=Role.SIGNER, status=RecipientStatus.COMPLETED, completed_at=1))
    page = (await SigningClient(Listed(done, "code")).ask()).body
    assert b"data-outcome" not in page


# ---------- the cookie ----------


def make_guarded_port() -> SigningSite:
    return SigningSite(a_document(a_recipient((), authentication="email_code")), "code")


async def test_in_a_frame_the_session_is_kept_for_the_site_around_it_alone() -> None:
    client = SigningClient(make_guarded_port())
    seen = await client.post("authenticate", {"code": CODE, "framed": True})
    name, _, rest = seen.headers["set-cookie"].partition("=")
    assert name == "__Host-esign-f"
    cookie = {"cookie": f"{name}={rest.partition(';')[0]}"}
    assert (await client.ask(path=f"{LINK}/status", headers=cookie)).json == {"state": "open"}
    attributes = {part.strip().casefold() for part in rest.split(";")[1:]}
    assert attributes == {"httponly", "secure", "path=/", "samesite=none", "partitioned", "max-age=43200"}


@pytest.mark.parametrize(
    ("cookie", "session"),
    [
        (f"__Host-esign-f={SESSION}", SESSION),
        (f"__Host-esign-s=another; __Host-esign-f={SESSION}", SESSION),
        (f"esign-f={SESSION}", None),
    ],
)
async def test_the_session_of_a_frame_is_found(cookie: str, session: str | None) -> None:
    site = make_guarded_port()
    await site.prove(SESSION)
    seen = await SigningClient(site).ask(headers={"cookie": cookie})
    assert f'data-state="{"open" if session else "code"}"' in seen.body.decode()


@pytest.mark.parametrize("framed", ["yes", 1, None])
async def test_framed_is_true_or_false(framed: object) -> None:
    site = make_guarded_port()
    seen = await SigningClient(site).post("authenticate", {"code": CODE, "framed": framed})
    assert (seen.status, seen.places) == (400, {("/framed", "type")})
    assert site.calls == []


async def test_the_session_of_a_frame_opens_nothing_to_another_sites_request() -> None:
    site = Listed()
    for act, body in (
        ("view", {}),
        ("decline", {"reason": None}),
        ("complete", {"answers": {}, "consent": "x"}),
    ):
        for sent in ({"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"origin": APP}):
            seen = await SigningClient(site).post(act, body, cookie=f"__Host-esign-f={SESSION}", **sent)
            assert seen.status == 400
    assert site.calls == []


# ---------- the script ----------


async def test_the_script_is_for_every_site_at_an_address_that_stays() -> None:
    client = SigningClient(SigningSite())
    seen = await client.ask(path="/embed.js")
    assert seen.status == 200 and b"window.Esign" in seen.body
    assert seen.headers["content-type"].startswith("text/javascript")
    assert seen.headers["cross-origin-resource-policy"] == "cross-origin"
    assert seen.headers["cache-control"] == "public, max-age=3600"
    assert seen.headers["x-content-type-options"] == "nosniff"
    packed = await client.ask(path="/embed.js", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(seen.body)
