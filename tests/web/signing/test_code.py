"""The page of the code, and what its script sends."""

from typing import Any

import pytest

from esign.core.document.challenge import ChallengeStanding, ChallengeStep
from esign.core.document.document import Role
from esign.core.instant import MINUTE, SECOND
from esign.core.people.masking import mask_email
from tests.web.signing.client import LINK, ORIGIN, SigningClient
from tests.web.signing.site import CODE, NOW, SESSION, SigningSite, a_document, a_recipient, other


def make_guarded_port(method: str = "email_code", role: Role = Role.SIGNER, **standing: Any) -> SigningSite:
    recipient = a_recipient((), authentication=method, role=role)
    site = SigningSite(a_document(recipient, other()), "code")
    site.standing = ChallengeStanding(**{"step": ChallengeStep.ENTER, "left": 5, **standing})
    return site


async def page_of(site: SigningSite) -> str:
    seen = await SigningClient(site).ask()
    assert seen.status == 200 and "set-cookie" not in seen.headers
    assert site.calls == []
    return seen.body.decode()


# ---------- what it shows ----------


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (Role.SIGNER, "asks you to sign a document"),
        (Role.APPROVER, "asks you to approve a document"),
        (Role.VIEWER, "sends you a document to read"),
        (Role.CC, "sends you a copy of a document"),
    ],
)
async def test_it_says_who_asks_and_nothing_of_the_document(role: Role, words: str) -> None:
    page = await page_of(make_guarded_port(role=role))
    assert words in page and "Northlight Joinery" in page and 'data-state="code"' in page
    for hidden in ("Linden Row", "Hello Jonas", "jonas.weber@", "page-1", "Jonas Weber"):
        assert hidden not in page


STEPS = [
    ("email_code", {"step": ChallengeStep.ASK, "at": NOW}, "ask", "Send me the code"),
    ("email_code", {"at": NOW + 30 * SECOND}, "enter", 'data-wait="30" disabled'),
    ("email_code", {"at": NOW}, "enter", "Send a new code"),
    ("email_code", {"at": NOW + 61 * SECOND}, "enter", "Continue"),
    ("email_code", {"step": ChallengeStep.EXPIRED, "at": NOW}, "expired", "This code has expired"),
    ("email_code", {"step": ChallengeStep.SPENT, "at": NOW}, "spent", "Too many wrong codes"),
    ("email_code", {"step": ChallengeStep.SPENT, "at": NOW + 9 * MINUTE}, "blocked", "No more codes today"),
    (
        "email_code",
        {"step": ChallengeStep.ASK, "at": NOW + 9 * MINUTE},
        "blocked",
        "from <b>21 November 2026, 14:14</b>",
    ),
    ("access_code", {}, "enter", "Don’t have a code?"),
    ("access_code", {"step": ChallengeStep.WAIT, "at": NOW + 14 * MINUTE}, "wait", "try again in 14 minutes"),
    ("access_code", {"step": ChallengeStep.WAIT, "at": NOW + 1}, "wait", "try again in 1 minute."),
    ("access_code", {"step": ChallengeStep.BLOCKED}, "blocked", "This link is locked"),
]


@pytest.mark.parametrize(("method", "standing", "step", "words"), STEPS)
async def test_each_step_has_its_words_and_its_next_act(
    method: str, standing: dict[str, Any], step: str, words: str
) -> None:
    page = await page_of(make_guarded_port(method, **standing))
    assert f'data-step="{step}"' in page and words in page
    assert ('data-field="code"' in page) is (step == "enter")
    assert ('data-action="send-code"' in page) is (
        method == "email_code" and step != "blocked" and standing.get("at") != NOW + 61 * SECOND
    )


@pytest.mark.parametrize(
    ("email", "shown"),
    [
        ("jonas.weber@example.com", "j•••r@example.com"),
        ("jo@example.com", "j•••@example.com"),
        ("j@example.com", "j•••@example.com"),
    ],
)
def test_an_address_is_shown_to_whoever_knows_it(email: str, shown: str) -> None:
    assert mask_email(email) == shown


# ---------- what it sends ----------


async def test_only_a_post_of_the_page_has_a_code_sent() -> None:
    site = make_guarded_port(step=ChallengeStep.ASK, at=NOW)
    for method in ("GET", "HEAD"):
        assert (await SigningClient(site).ask(method, f"{LINK}/code")).status == 405
    assert (await SigningClient(site).post("code", {}, sec_fetch_site="cross-site")).status == 400
    assert site.calls == []
    assert (await SigningClient(site).post("code", {})).json == {"state": "code"}
    assert site.calls == [("send_code", ORIGIN)]


async def test_a_right_code_is_remembered_in_a_cookie_that_only_this_host_gets_over_https() -> None:
    site = make_guarded_port()
    seen = await SigningClient(site).post("authenticate", {"code": CODE})
    assert seen.json == {"state": "open"}
    name, _, rest = seen.headers["set-cookie"].partition("=")
    assert name == "__Host-esign-s"
    cookie = {"cookie": f"{name}={rest.partition(';')[0]}"}
    assert (await SigningClient(site).ask(path=f"{LINK}/status", headers=cookie)).json == {"state": "open"}
    assert (await SigningClient(site).ask(path=f"{LINK}/status")).json == {"state": "code"}
    attributes = {part.strip().casefold() for part in rest.split(";")[1:]}
    assert attributes == {"httponly", "secure", "path=/", "samesite=lax", "max-age=43200"}


@pytest.mark.parametrize(
    ("cookie", "session"),
    [
        (f"__Host-esign-s={SESSION}", SESSION),
        (f"a=b; __Host-esign-s={SESSION}", SESSION),
        (f"esign-s={SESSION}", None),
        ("", None),
    ],
)
async def test_the_session_is_read_from_that_cookie_alone(cookie: str, session: str | None) -> None:
    site = make_guarded_port()
    await site.prove(SESSION)
    seen = await SigningClient(site).ask(headers={"cookie": cookie} if cookie else {})
    assert f'data-state="{"open" if session else "code"}"' in seen.body.decode()


async def test_a_wrong_code_is_told_with_the_tries_that_are_left() -> None:
    site = make_guarded_port()
    seen = await SigningClient(site).post("authenticate", {"code": "000000"})
    assert (seen.status, seen.places) == (400, {("/code", "reference")})
    assert "set-cookie" not in seen.headers
    assert seen.json["error"]["details"][0]["message"] == "That code isn’t right. You can try 4 more times."


@pytest.mark.parametrize("given", [{}, {"code": None}, {"code": 7}, {"code": "  "}, {"code": "1" * 201}])
async def test_what_is_no_code_never_reaches_the_count(given: dict[str, object]) -> None:
    site = make_guarded_port()
    seen = await SigningClient(site).post("authenticate", given)
    assert (seen.status, seen.places) == (400, {("/code", "required")})
    assert site.calls == []
