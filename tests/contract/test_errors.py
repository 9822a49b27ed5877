"""Every error code of the contract (section 6), answered by a running server: how to get it, in one place."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.errors import CATALOGUE
from esign.core.instant import DAY
from esign.core.people.api_key import Scope
from esign.core.people.usage import Meter, Usage
from esign.store.engine.database import WAITING, Transaction
from esign.store.people import usage
from tests.api.site import Site, SiteAnswer, a_request, b64
from tests.pdf import made

pytestmark = pytest.mark.asyncio(loop_scope="module")

Provoke = Callable[[Site], Awaitable[SiteAnswer]]
FAILURES, REQUESTS = 5, 200
NAMED = {"Idempotency-Key": "one"}


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {
        "file_mib": 1,
        "body_mib": 3,
        "pages": 3,
        "webhooks": 2,
        "requests_per_minute": REQUESTS,
        "auth_failures_per_minute": FAILURES,
    }


async def create(site: Site, **changes: Any) -> SiteAnswer:
    return await site.ask("POST", "/documents", a_request(**changes))


async def act(site: Site, document_id: str, what: str, body: Any = None, **given: Any) -> SiteAnswer:
    return await site.ask("POST", f"/documents/{document_id}/{what}", body, **given)


def file(make: Callable[[], bytes]) -> Provoke:
    """An upload of this file."""

    async def provoke(site: Site) -> SiteAnswer:
        return await create(site, file=b64(await asyncio.to_thread(make)))

    return provoke


def provoke_request(method: str, path: str, body: Any = None, **given: Any) -> Provoke:
    """One request that is wrong by itself."""

    async def provoke(site: Site) -> SiteAnswer:
        return await site.ask(method, path, body, **given)

    return provoke


def raw(body: bytes, media: str = "application/json") -> Provoke:
    return provoke_request("POST", "/documents", data=body, headers={"Content-Type": media})


# ---------- 400 ----------


async def field_out_of_bounds(site: Site) -> SiteAnswer:
    field = {"type": "text", "page": 2, "x": 10, "y": 10}
    return await create(site, recipients=[site.signer(fields=[field])])


# ---------- 401 ----------


async def api_key_revoked(site: Site) -> SiteAnswer:
    key = await site.new_key()
    await site.ok("DELETE", "/api-keys/current", key=key)
    return await site.ask("GET", "/documents", key=key)


async def api_key_expired(site: Site) -> SiteAnswer:
    key = await site.new_key(days=1)
    site.clock.advance(days=1)
    return await site.ask("GET", "/documents", key=key)


async def insufficient_scope(site: Site) -> SiteAnswer:
    return await site.ask("GET", "/documents", key=await site.new_key(Scope.TEMPLATES_READ))


async def plan_required(site: Site) -> SiteAnswer:
    async def put(plan: str | None) -> None:
        async def write(tx: Transaction) -> None:
            await tx.run("UPDATE organisation SET plan = :plan", plan=plan)

        await site.runtime.db.write(write)

    await put("team")
    try:
        return await site.ask("GET", "/documents")
    finally:
        await put(None)


# ---------- 409 ----------


async def document_not_draft(site: Site) -> SiteAnswer:
    return await act(site, (await site.send_document())["id"], "send")


async def document_not_sent(site: Site) -> SiteAnswer:
    return await act(site, await site.create(), "cancel")


async def document_not_completed(site: Site) -> SiteAnswer:
    return await site.ask("GET", f"/documents/{await site.create()}/files/sealed")


async def document_in_progress(site: Site) -> SiteAnswer:
    return await site.ask("DELETE", f"/documents/{(await site.send_document())['id']}")


async def document_not_ready(site: Site) -> SiteAnswer:
    return await act(site, await site.create(recipients=[]), "send")


async def seal_not_failed(site: Site) -> SiteAnswer:
    return await act(site, await site.create(), "retry-seal")


async def recipient_not_active(site: Site) -> SiteAnswer:
    document = await site.send_document(recipients=[site.signer(), site.signer(order=2)])
    return await act(site, document["id"], f"recipients/{document['recipients'][1]['id']}/link")


async def recipient_already_completed(site: Site) -> SiteAnswer:
    first = site.signer()
    document = await site.send_document(recipients=[first, site.signer()])
    await (await site.person(first["email"])).sign()
    return await act(site, document["id"], f"recipients/{document['recipients'][0]['id']}/link")


async def no_recipient_to_remind(site: Site) -> SiteAnswer:
    document = await site.send_document(recipients=[site.signer(), site.signer(order=2)])
    later = document["recipients"][1]["id"]
    return await act(site, document["id"], "remind", {"recipientIds": [later]})


async def revision_mismatch(site: Site) -> SiteAnswer:
    return await act(site, await site.create(), "send", headers={"If-Match": '"7"'})


async def idempotency_key_reused(site: Site) -> SiteAnswer:
    await site.ok("POST", "/documents", a_request(), headers=NAMED)
    return await site.ask("POST", "/documents", a_request(title="Other"), headers=NAMED)


async def idempotency_in_progress(site: Site) -> SiteAnswer:
    """While nothing can be written the first request waits, and the second is told so."""
    member = {"email": "bea@example.test", "name": "Bea", "role": "member"}
    async with nothing_written(site):
        calls = [
            asyncio.create_task(site.ask("POST", "/members", member, headers={"Idempotency-Key": "two"}))
            for _ in range(2)
        ]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.wait(calls)
    return done.pop().result()


@asynccontextmanager
async def nothing_written(site: Site) -> AsyncIterator[None]:
    """A write that takes its time holds up all others."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def wait(tx: Transaction) -> None:
        begun.set()
        await over.wait()

    held = asyncio.create_task(site.runtime.db.write(wait))
    await begun.wait()
    try:
        yield
    finally:
        over.set()
        await held


async def limit_reached(site: Site) -> SiteAnswer:
    hook = {"url": f"{site.base}/hook", "events": ["*"]}
    return [await site.ask("POST", "/webhooks", hook) for _ in range(3)][-1]


async def webhook_disabled(site: Site) -> SiteAnswer:
    return await site.ask("POST", f"/webhooks/{await a_webhook(site, enabled=False)}/test")


async def rotation_in_progress(site: Site) -> SiteAnswer:
    path = f"/webhooks/{await a_webhook(site)}/rotate-secret"
    await site.ok("POST", path)
    return await site.ask("POST", path)


async def a_webhook(site: Site, enabled: bool = True) -> str:
    """The id of the only one there is then."""
    for hook in (await site.ok("GET", "/webhooks"))["data"]:
        await site.ok("DELETE", f"/webhooks/{hook['id']}")
    hook = await site.ok("POST", "/webhooks", {"url": f"{site.base}/hook", "events": ["*"]})
    if not enabled:
        await site.ok("PATCH", f"/webhooks/{hook['id']}", {"enabled": False})
    return str(hook["id"])


async def retention_locked(site: Site) -> SiteAnswer:
    document = await site.complete_document()
    await site.ok("PATCH", "/settings", {"retainCompletedDays": 1})
    try:
        return await site.ask("DELETE", f"/documents/{document['id']}")
    finally:
        await site.ok("PATCH", "/settings", {"retainCompletedDays": None})


async def member_exists(site: Site) -> SiteAnswer:
    member = {"email": "ada@example.test", "name": "Ada", "role": "member"}
    await site.ok("POST", "/members", member)
    return await site.ask("POST", "/members", member)


# ---------- 429 ----------


async def rate_limited(site: Site) -> SiteAnswer:
    key = await site.new_key()
    return [await site.ask("GET", "/account", key=key) for _ in range(REQUESTS + 1)][-1]


async def too_many_auth_failures(site: Site) -> SiteAnswer:
    return [await unknown_key(site) for _ in range(FAILURES + 1)][-1]


async def unknown_key(site: Site) -> SiteAnswer:
    """Of the right shape; the checksum is the contract's own example."""
    return await site.ask("GET", "/documents", key=f"esk_live_{'0' * 30}29ZqNo")


async def reminder_too_soon(site: Site) -> SiteAnswer:
    document = (await site.send_document())["id"]
    assert (await act(site, document, "remind")).status == 200
    return await act(site, document, "remind")


async def quota_exceeded(site: Site) -> SiteAnswer:
    document = await site.create()
    limits, now = site.runtime.config.limits, site.clock.now()
    organisation = (await site.ok("GET", "/account"))["organisation"]["id"]

    async def write(tx: Transaction) -> None:
        meter = Meter(organisation, Mode.LIVE, now // DAY)
        await usage.add(tx, meter, Usage(emails=limits.emails_per_day))

    await site.runtime.db.write(write)
    answer = await act(site, document, "send")
    site.clock.advance(days=1)
    return answer


# ---------- 500 and 503 ----------


async def internal_error(site: Site) -> SiteAnswer:
    """What is stored cannot be read."""
    document = await site.create()

    async def write(tx: Transaction) -> None:
        await tx.run("UPDATE document SET file = '[]' WHERE id = :id", id=document)

    await site.runtime.db.write(write)
    answer = await site.ask("GET", f"/documents/{document}")

    async def forget(tx: Transaction) -> None:
        await tx.run("DELETE FROM document WHERE id = :id", id=document)

    await site.runtime.db.write(forget)
    return answer


async def unavailable(site: Site) -> SiteAnswer:
    """More waits to be written than may."""

    async def nothing(tx: Transaction) -> None: ...

    document = await site.create()
    async with nothing_written(site):
        waiting = [asyncio.create_task(site.runtime.db.write(nothing)) for _ in range(WAITING)]
        await asyncio.sleep(0)  # each takes its place
        answer = await site.ask("DELETE", f"/documents/{document}")
    await asyncio.gather(*waiting, return_exceptions=True)
    return answer


PROVOKE: dict[str, Provoke] = {
    "invalid_request": provoke_request("POST", "/documents", {"title": 5}),
    "invalid_json": raw(b'{"title": NaN}'),
    "unsupported_media_type": raw(b"{}", "text/plain"),
    "request_too_large": raw(b'{"title": "' + b"x" * 4 * 2**20),
    "invalid_file": file(lambda: b"hello"),
    "file_too_large": file(lambda: b"%PDF-" + b"x" * 2**20),
    "too_many_pages": file(lambda: made.write_pdf(made.blank(4))),
    "file_encrypted": file(made.make_locked),
    "file_signed": file(made.make_signed),
    "file_unsupported": file(made.dynamic_form),
    "field_out_of_bounds": field_out_of_bounds,
    "invalid_cursor": provoke_request("GET", "/documents?cursor=abc"),
    "invalid_idempotency_key": provoke_request(
        "POST", "/documents", a_request(), headers={"Idempotency-Key": "é"}
    ),
    "invalid_webhook_url": provoke_request(
        "POST", "/webhooks", {"url": "https://10.0.0.1/", "events": ["*"]}
    ),
    "unknown_event": provoke_request(
        "POST", "/webhooks", {"url": "https://example.com/", "events": ["document.lost"]}
    ),
    "missing_api_key": provoke_request("GET", "/documents", key=None),
    "invalid_api_key": unknown_key,
    "api_key_revoked": api_key_revoked,
    "api_key_expired": api_key_expired,
    "insufficient_scope": insufficient_scope,
    "plan_required": plan_required,
    "not_found": provoke_request("GET", "/documents/doc_01kzt0v8q3e5m7p9r1s3t5v7w9"),
    "document_not_draft": document_not_draft,
    "document_not_sent": document_not_sent,
    "document_not_completed": document_not_completed,
    "document_in_progress": document_in_progress,
    "document_not_ready": document_not_ready,
    "seal_not_failed": seal_not_failed,
    "recipient_not_active": recipient_not_active,
    "recipient_already_completed": recipient_already_completed,
    "no_recipient_to_remind": no_recipient_to_remind,
    "revision_mismatch": revision_mismatch,
    "idempotency_key_reused": idempotency_key_reused,
    "idempotency_in_progress": idempotency_in_progress,
    "limit_reached": limit_reached,
    "webhook_disabled": webhook_disabled,
    "rotation_in_progress": rotation_in_progress,
    "retention_locked": retention_locked,
    "member_exists": member_exists,
    "rate_limited": rate_limited,
    "too_many_auth_failures": too_many_auth_failures,
    "reminder_too_soon": reminder_too_soon,
    "quota_exceeded": quota_exceeded,
    "internal_error": internal_error,
    "unavailable": unavailable,
}

BY_STATE = {
    "document_not_draft",
    "document_not_sent",
    "document_not_completed",
    "document_in_progress",
    "document_not_ready",
    "seal_not_failed",
    "recipient_not_active",
    "recipient_already_completed",
    "no_recipient_to_remind",
    "revision_mismatch",
    "retention_locked",
}
WAITS = {
    "idempotency_in_progress",
    "rate_limited",
    "too_many_auth_failures",
    "reminder_too_soon",
    "quota_exceeded",
}


OF_THE_OFFICE = {"last_owner"}  # owners are changed in the web application alone


@pytest.mark.parametrize("code", [code for code in CATALOGUE if code not in OF_THE_OFFICE])
async def test_every_code_is_answered_by_a_running_server(site: Site, code: str) -> None:
    """With its status and the members of an error; each answer is held against the description by the client."""
    site.clock.advance(minutes=1)  # nobody counts what came before
    answer = await PROVOKE[code](site)
    assert (answer.code, answer.status) == (code, CATALOGUE[code][0])
    error = answer.body["error"]
    assert error["message"] and error["requestId"] == answer.headers["x-request-id"]
    assert ("currentStatus" in error) == (code in BY_STATE)
    assert code not in WAITS or int(answer.headers["retry-after"]) >= 1
    assert ("www-authenticate" in answer.headers) == (answer.status == 401)


async def test_the_program_knows_no_other_code() -> None:
    assert PROVOKE.keys() == CATALOGUE.keys() - OF_THE_OFFICE
