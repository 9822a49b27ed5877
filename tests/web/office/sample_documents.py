"""A document in each status, with every act that its page knows, and in which statuses each works."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from esign.core.instant import DAY, to_datetime
from esign.jobs import worker
from tests.journeys.test_seal import expire_certificate as with_lapsed_seal
from tests.web.office.visitor import Office, Page, Visitor

ADA, BO, CY = "ada@example.test", "bo@example.test", "cy@example.test"
THREE: list[dict[str, Any]] = [
    {"name": "Ada Lovelace", "email": ADA},
    {"name": "Bo Berg", "email": BO, "order": 2},
    {"name": "Cy Clerk", "email": CY, "role": "cc"},
]
HOSTILE = """</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>‮{{7777*7777}}"""


async def draft(office: Office) -> str:
    return await office.site.api.create(recipients=THREE)


async def send_document(office: Office) -> str:
    document = await office.site.api.send_document(recipients=THREE)
    await office.site.work("mail")
    return document


async def sealing(office: Office) -> str:
    document = await send_document(office)
    for email in (ADA, BO):
        await office.site.work("mail")
        await (await office.site.person(email)).sign()
    return document


async def fail_seal(office: Office) -> str:
    """Three attempts have failed."""
    document = await sealing(office)
    for minutes in (0, 1, 5):
        office.clock.advance(minutes=minutes)
        assert await worker.drain_jobs(with_lapsed_seal(office.runtime), "seal") == 1
    return document


async def complete_document(office: Office) -> str:
    document = await sealing(office)
    await office.site.work("seal")
    return document


async def decline_document(office: Office) -> str:
    document = await send_document(office)
    person = await office.site.person(ADA)
    await person.view()
    assert (await person.decline("The rent is wrong.")).status == 200
    return document


async def expire_document(office: Office) -> str:
    document = await office.site.api.send_document(recipients=THREE, expiresInDays=1)
    await office.site.work("mail")
    office.clock.at += DAY
    return document


async def cancel_document(office: Office) -> str:
    document = await send_document(office)
    await office.site.api.ok("POST", f"/documents/{document}/cancel", {"reason": "We found a mistake."})
    return document


MADE: dict[str, Callable[[Office], Awaitable[str]]] = {
    "draft": draft,
    "sent": send_document,
    "sealing": sealing,
    "unsealed": fail_seal,
    "completed": complete_document,
    "declined": decline_document,
    "expired": expire_document,
    "cancelled": cancel_document,
}
ALL = set(MADE)
ENDED = {"completed", "declined", "expired", "cancelled"}

# Each act: its form, and the statuses in which it works; what changes the least comes first.
DATE = "{date}"
ACTS: dict[str, tuple[dict[str, str], set[str]]] = {
    "duplicate": ({}, ALL),
    "template": ({"title": "Lease"}, ALL),
    "reference": ({"externalId": "P-1", "metadata": "room = 4"}, ALL),
    "reminders": ({"enabled": "yes", "firstAfterDays": "2", "everyDays": "3", "max": "4"}, {"draft", "sent"}),
    "expiry": ({"expiresAt": DATE}, {"sent"}),
    "remind": ({"message": "Please."}, {"sent"}),
    "recipients/{one}/link": ({"ttlHours": "1"}, {"sent"}),
    "recipients/{one}": ({"name": "Ada L.", "email": "ada.l@example.test"}, {"draft", "sent"}),
    "recipients/add": ({"name": "Di", "email": "di@example.test"}, {"draft"}),
    "recipients/{last}/remove": ({}, {"draft"}),
    "retry-seal": ({}, {"unsealed"}),
    "cancel": ({"reason": "Why not.", "notify": "yes"}, {"sent"}),
    "delete": ({}, {"draft"} | ENDED),
}
ASKED = [act for act in ACTS if act not in ("duplicate", "retry-seal")]


def at(document: str, *more: str) -> str:
    return "/".join(["/documents", document, *more])


async def address(office: Office, document: str, act: str) -> str:
    ids = [recipient["id"] for recipient in (await office.site.api.get(document))["recipients"]]
    return at(document, act.format(one=ids[0], last=ids[-1]))


def form(office: Office, act: str) -> dict[str, str]:
    tomorrow = to_datetime(office.clock.now() + DAY).date()
    return {name: text.replace(DATE, str(tomorrow)) for name, text in ACTS[act][0].items()}


def alert(page: Page) -> str:
    """What stands in the note above, or in place of a form."""
    found = re.search(r'role="alert".*?<p[^>]*>(.*?)</p>', page.text, re.DOTALL)
    return found[1] if found else ""


def main(page: Page) -> str:
    return page.text.partition("<main")[2].partition("</main>")[0]


def cookie(visitor: Visitor) -> dict[str, str]:
    return {"Cookie": f"esign={visitor.token}", "Accept": "*/*"}


async def fetch_bytes(visitor: Visitor, path: str, method: str = "GET") -> tuple[int, str, bytes]:
    """Status, media type and bytes of what need not be text."""
    url = f"{visitor.site.base}{path}"
    async with visitor.session.request(method, url, headers=cookie(visitor), allow_redirects=False) as answer:
        return answer.status, answer.headers.get("Content-Type", ""), await answer.read()
