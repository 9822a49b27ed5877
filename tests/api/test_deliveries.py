"""Deliveries, events and what a program does about them, at a running server with a real receiver."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
import pytest_asyncio
from standardwebhooks.webhooks import Webhook

from esign.core.actor import Mode
from esign.core.instant import HOUR, rfc3339
from esign.core.people.api_key import Scope
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from tests.api.site import Site
from tests.factories import a_template, an_organisation, store_organisation
from tests.journeys.api import until
from tests.journeys.receiver import Delivered, Receiver, receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOBODY = "http://127.0.0.1:65000/nobody"
DELIVERY = {
    *("id", "webhookId", "eventId", "eventType", "status", "attemptCount", "nextAttemptAt", "lastStatusCode"),
    *("lastError", "createdAt", "finishedAt"),
}


@pytest_asyncio.fixture(loop_scope="module")
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest_asyncio.fixture(loop_scope="module")
async def hook(site: Site, receiver: Receiver) -> AsyncIterator[Any]:
    """A webhook for new documents, deleted at the end."""
    webhook = await site.ok("POST", "/webhooks", {"url": receiver.url, "events": ["document.created"]})
    yield webhook
    await site.ask("DELETE", f"/webhooks/{webhook['id']}")


async def wait_for_deliveries(site: Site, webhook: Any, number: int = 1, path: str = "") -> list[Any]:
    """The deliveries once there are that many and an attempt was made of each."""

    async def find_deliveries() -> list[Any] | None:
        page = await site.ok("GET", f"/webhooks/{webhook['id']}/deliveries?limit=100{path}")
        made = list(page["data"])
        return made if len(made) == number and all(each["attemptCount"] for each in made) else None

    return await until(find_deliveries, f"{number} deliveries")


async def log(site: Site, delivery: Any) -> Any:
    return await site.ok("GET", f"/webhooks/{delivery['webhookId']}/deliveries/{delivery['id']}")


def verify_delivery(webhook: Any, delivered: Delivered, secret: str | None = None) -> Any:
    """The event as the public library lets it through; its clock is ours."""
    signature = Webhook(secret or webhook["secret"])
    stamp = int(delivered.headers["webhook-timestamp"])
    from datetime import UTC, datetime

    made = signature.sign(delivered.id, datetime.fromtimestamp(stamp, UTC), delivered.body.decode())
    assert made in delivered.headers["webhook-signature"].split()
    return delivered.event


# ---------- deliveries ----------


async def test_a_delivery_tells_what_was_sent_and_what_came_of_it(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    document = await site.create()
    [delivery] = await wait_for_deliveries(site, hook)
    now = rfc3339(site.clock.now())
    [delivered] = receiver.came
    assert delivery == {
        "id": delivery["id"],
        "webhookId": hook["id"],
        "eventId": delivered.id,
        "eventType": "document.created",
        "status": "succeeded",
        "attemptCount": 1,
        "nextAttemptAt": None,
        "lastStatusCode": 204,
        "lastError": None,
        "createdAt": now,
        "finishedAt": now,
    }
    assert delivery["id"].startswith("dlv_") and len(delivery["id"]) == 30
    whole = await log(site, delivery)
    assert {name: whole[name] for name in DELIVERY} == delivery
    assert whole["payload"] == verify_delivery(hook, delivered)
    assert whole["payload"]["data"]["document"]["id"] == document
    [attempt] = whole["attempts"]
    assert attempt == {
        "at": now,
        "durationMs": 0,  # the clock of these tests stands still
        "statusCode": 204,
        "error": None,
        "responseBody": "",
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (b"Maintenance until noon", "Maintenance until noon"),
        (b"x" * 5_000, "x" * 1_024),
        (b"a\xffb", "a\ufffdb"),
        (b"\xff" * 2_000, "\ufffd" * 341),
        ("é".encode() * 600, "é" * 512),
        (b"\x00", "\x00"),
    ],
)
async def test_the_log_keeps_a_kibibyte_of_what_the_receiver_said(
    site: Site, hook: Any, receiver: Receiver, said: bytes, shown: str
) -> None:
    receiver.always(503, body=said)
    await site.create()
    [delivery] = await wait_for_deliveries(site, hook)
    assert (delivery["status"], delivery["lastStatusCode"], delivery["lastError"]) == (
        "pending",
        503,
        "status 503",
    )
    [attempt] = (await log(site, delivery))["attempts"]
    assert (attempt["statusCode"], attempt["error"]) == (503, "status 503")
    assert attempt["responseBody"] == shown and len(shown.encode()) <= 1_024


async def test_a_receiver_that_does_not_answer_is_an_error_without_status(site: Site) -> None:
    webhook = await site.ok("POST", "/webhooks", {"url": NOBODY, "events": ["document.created"]})
    await site.create()
    [delivery] = await wait_for_deliveries(site, webhook)
    assert delivery["lastStatusCode"] is None and delivery["lastError"].startswith("connection_failed")
    assert delivery["nextAttemptAt"] > rfc3339(site.clock.now())
    [attempt] = (await log(site, delivery))["attempts"]
    assert (attempt["statusCode"], attempt["responseBody"]) == (None, "")
    webhook = await site.ok("GET", f"/webhooks/{webhook['id']}")
    assert webhook["failingSince"] == rfc3339(site.clock.now()) and webhook["lastSuccessAt"] is None
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")


async def test_deliveries_are_listed_newest_first_by_pages_and_filters(
    site: Site, receiver: Receiver
) -> None:
    webhook = await site.ok("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    path = f"/webhooks/{webhook['id']}/deliveries"
    receiver.answer = lambda d: refusal() if d.type == "document.sent" else take_delivery()
    for _ in range(2):
        site.clock.advance(milliseconds=1)
        await site.send_document()
    made = await wait_for_deliveries(site, webhook, 6)
    assert [each["createdAt"] for each in made] == sorted((e["createdAt"] for e in made), reverse=True)
    pages, cursor = [], ""
    while True:
        page = await site.ok("GET", f"{path}?limit=4{cursor}")
        pages.append([each["id"] for each in page["data"]])
        if not page["hasMore"]:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert pages == [[each["id"] for each in made[:4]], [each["id"] for each in made[4:]]]
    waiting = (await site.ok("GET", f"{path}?status=pending"))["data"]
    assert [each["eventType"] for each in waiting] == ["document.sent"] * 2
    assert (await site.ok("GET", f"{path}?status=failed"))["data"] == []
    created = (await site.ok("GET", f"{path}?eventType=document.created&status=succeeded"))["data"]
    assert [each["eventType"] for each in created] == ["document.created"] * 2
    other = await site.ask("GET", f"{path}?status=pending{cursor}")
    assert other.code == "invalid_cursor"
    for query, place in (("status=open", "?status"), ("eventType=x", "?eventType")):
        answer = await site.ask("GET", f"{path}?{query}")
        assert answer.code == "invalid_request" and answer.places == {(place, "enum")}
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")
    assert (await site.ask("GET", path)).code == "not_found"


def take_delivery() -> Any:
    from aiohttp import web

    return web.Response(status=204)


def refusal() -> Any:
    from aiohttp import web

    return web.Response(status=500)


# ---------- once more ----------


async def test_a_delivery_that_failed_succeeds_when_it_is_sent_again(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    receiver.always(500)
    await site.create()
    [before] = await wait_for_deliveries(site, hook)
    assert before["status"] == "pending"
    receiver.always(202)
    path = f"/webhooks/{hook['id']}/deliveries/{before['id']}/redeliver"
    after = await site.ok("POST", path)
    assert (after["status"], after["attemptCount"], after["nextAttemptAt"]) == ("succeeded", 2, None)
    assert (after["lastStatusCode"], after["lastError"]) == (202, None)
    first, second = receiver.came
    assert (first.id, first.body) == (second.id, second.body)
    assert [a["statusCode"] for a in (await log(site, after))["attempts"]] == [500, 202]
    webhook = await site.ok("GET", f"/webhooks/{hook['id']}")
    assert webhook["failingSince"] is None and webhook["lastSuccessAt"] == after["finishedAt"]


async def test_a_failure_when_sent_again_changes_neither_status_nor_schedule(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    receiver.always(500)
    await site.create()
    [waiting] = await wait_for_deliveries(site, hook)
    path = f"/webhooks/{hook['id']}/deliveries/{waiting['id']}/redeliver"
    receiver.always(404)
    after = await site.ok("POST", path)
    assert after == {**waiting, "attemptCount": 2, "lastStatusCode": 404, "lastError": "status 404"}
    receiver.always(200)
    done = await site.ok("POST", path)
    receiver.always(500)
    after = await site.ok("POST", path)
    assert after == {**done, "attemptCount": 4, "lastStatusCode": 500, "lastError": "status 500"}
    assert after["status"] == "succeeded"


async def test_sending_again_under_one_key_sends_once(site: Site, hook: Any, receiver: Receiver) -> None:
    await site.create()
    [delivery] = await wait_for_deliveries(site, hook)
    path, headers = f"/webhooks/{hook['id']}/deliveries/{delivery['id']}/redeliver", {"Idempotency-Key": "r"}
    first = await site.ask("POST", path, headers=headers)
    again = await site.ask("POST", path, headers=headers)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
    assert len(receiver.came) == 2


async def test_410_to_a_redelivery_ends_the_webhook(site: Site, hook: Any, receiver: Receiver) -> None:
    await site.create()
    [delivery] = await wait_for_deliveries(site, hook)
    receiver.always(410)
    path = f"/webhooks/{hook['id']}/deliveries/{delivery['id']}/redeliver"
    assert (await site.ok("POST", path))["status"] == "succeeded"
    webhook = await site.ok("GET", f"/webhooks/{hook['id']}")
    assert (webhook["enabled"], webhook["disabledReason"]) == (False, "gone")
    assert (await site.ask("POST", path)).code == "webhook_disabled"


# ---------- a test ----------


async def test_a_test_arrives_whatever_the_webhook_subscribes_to(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    tested = await site.ok("POST", f"/webhooks/{hook['id']}/test")
    [delivered] = receiver.came
    event = verify_delivery(hook, delivered)
    assert event == {
        "id": tested["eventId"],
        "type": "webhook.test",
        "timestamp": rfc3339(site.clock.now()),
        "apiVersion": "v1",
        "mode": "live",
        "sequence": None,
        "data": {"webhookId": hook["id"]},
    }
    [delivery] = await wait_for_deliveries(site, hook, path="&eventType=webhook.test")
    assert (delivery["id"], delivery["status"]) == (tested["deliveryId"], "succeeded")
    assert await site.ok("GET", f"/events/{tested['eventId']}") == event


async def test_a_test_that_fails_is_not_tried_again_and_not_held_against_the_webhook(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    receiver.always(500)
    headers = {"Idempotency-Key": "t"}
    tested = await site.ok("POST", f"/webhooks/{hook['id']}/test", headers=headers)
    assert await site.ok("POST", f"/webhooks/{hook['id']}/test", headers=headers) == tested
    [delivery] = await wait_for_deliveries(site, hook)
    assert (delivery["status"], delivery["attemptCount"], delivery["lastStatusCode"]) == ("failed", 1, 500)
    assert len(receiver.came) == 1
    assert (await site.ok("GET", f"/webhooks/{hook['id']}"))["failingSince"] is None


async def test_subscribers_hear_nothing_of_the_tests_of_others(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    names = ["*"], ["webhook.test"]
    others = [await site.ok("POST", "/webhooks", {"url": NOBODY, "events": list(n)}) for n in names]
    await site.ok("POST", f"/webhooks/{hook['id']}/test")
    for other in others:
        assert (await site.ok("GET", f"/webhooks/{other['id']}/deliveries"))["data"] == []
        recovered = await site.ok(
            "POST", f"/webhooks/{other['id']}/recover", {"since": "2000-01-01T00:00:00Z"}
        )
        listed = await site.ok("GET", f"/webhooks/{other['id']}/deliveries?limit=100&eventType=webhook.test")
        assert listed["data"] == [] and (recovered["queued"] > 0) is (other["events"] == ["*"])
        await site.ok("DELETE", f"/webhooks/{other['id']}")


# ---------- off and on again ----------


async def test_what_happened_while_a_webhook_was_off_can_be_recovered(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    path = f"/webhooks/{hook['id']}"
    site.clock.advance(hours=1)
    since = rfc3339(site.clock.now())
    receiver.always(500)
    await site.create()
    [waiting] = await wait_for_deliveries(site, hook)
    off = await site.ok("PATCH", path, {"enabled": False})
    assert (off["enabled"], off["disabledReason"], off["disabledAt"]) == (False, "manual", since)
    [given_up] = await wait_for_deliveries(site, hook)
    assert (given_up["status"], given_up["nextAttemptAt"], given_up["finishedAt"]) == ("failed", None, since)
    for act, body in (
        ("test", None),
        ("recover", {"since": since}),
        (f"deliveries/{waiting['id']}/redeliver", None),
    ):
        assert (await site.ask("POST", f"{path}/{act}", body)).code == "webhook_disabled"
    site.clock.advance(milliseconds=1)
    missed = await site.create()
    assert len(await wait_for_deliveries(site, hook)) == 1, "nothing is queued while it is off"

    on = await site.ok("PATCH", path, {"enabled": True})
    assert (on["enabled"], on["disabledReason"], on["disabledAt"], on["failingSince"]) == (True, *[None] * 3)
    receiver.always(200)
    count = len(receiver.came)
    period = {"since": since, "until": rfc3339(site.clock.now())}
    assert await site.ok("POST", f"{path}/recover", period) == {"queued": 2}

    async def both() -> list[Any] | None:
        made = await wait_for_deliveries(site, hook, 2)
        return made if {each["status"] for each in made} == {"succeeded"} else None

    again, other = reversed(await until(both, "recovered events"))
    assert (again["id"], again["attemptCount"], other["attemptCount"]) == (waiting["id"], 2, 1)
    came = [delivered.event["data"]["document"]["id"] for delivered in receiver.came[count:]]
    assert len(came) == 2 and missed in came, "both at once, in any order"
    assert await site.ok("POST", f"{path}/recover", period) == {"queued": 0}


async def test_only_subscribed_events_of_the_period_are_recovered(site: Site, receiver: Receiver) -> None:
    site.clock.advance(hours=1)
    times = []
    for _ in range(3):
        site.clock.advance(milliseconds=5)
        times.append(rfc3339(site.clock.now()))
        await site.send_document()
    names = {"url": receiver.url, "events": ["document.sent", "recipient.sent"]}
    webhook = await site.ok("POST", "/webhooks", names)
    path = f"/webhooks/{webhook['id']}/recover"
    assert await site.ok("POST", path, {"since": times[1], "until": times[1]}) == {"queued": 2}
    await wait_for_deliveries(site, webhook, 2)
    headers = {"Idempotency-Key": "once"}
    assert await site.ok("POST", path, {"since": times[0]}, headers=headers) == {"queued": 4}
    await wait_for_deliveries(site, webhook, 6)
    assert await site.ok("POST", path, {"since": times[0]}, headers=headers) == {"queued": 4}
    assert {d.type for d in receiver.came} == {"document.sent", "recipient.sent"}
    answer = await site.ask("POST", path, {"since": times[1], "until": times[0]})
    assert answer.code == "invalid_request" and answer.places == {("/until", "range")}
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")


async def test_more_events_than_one_transaction_takes_are_recovered_each_once(
    site: Site, receiver: Receiver
) -> None:
    site.clock.advance(hours=1)
    since = rfc3339(site.clock.now())
    row = await site.runtime.db.one("SELECT id FROM organisation ORDER BY created_at")
    assert row is not None
    organisation, now = row["id"], site.clock.now()

    async def many(tx: Transaction) -> None:
        from esign.core.webhook.webhook import make_template_payload

        for n in range(1_203):
            body = make_template_payload("template.updated", now, f"evt_many{n:022}", a_template())
            await outcomes.announce(tx, body, organisation, Mode.LIVE, now)

    await site.runtime.db.write(many)
    webhook = await site.ok("POST", "/webhooks", {"url": NOBODY, "events": ["template.updated"]})
    path = f"/webhooks/{webhook['id']}"
    assert await site.ok("POST", f"{path}/recover", {"since": since}) == {"queued": 1_203}
    await site.ok("PATCH", path, {"enabled": False})
    await site.ok("DELETE", path)


# ---------- the webhook itself ----------


async def test_webhooks_are_listed_newest_first_without_their_secrets(site: Site) -> None:
    key = await site.new_key(mode=Mode.TEST)
    made = []
    for n in range(3):
        site.clock.advance(milliseconds=1)
        body = {"url": f"https://ok.test/{n}", "events": ["*"]}
        made.append(await site.ok("POST", "/webhooks", body, key=key))
    page = await site.ok("GET", "/webhooks?limit=2", key=key)
    assert [each["url"][-1] for each in page["data"]] == ["2", "1"] and page["hasMore"]
    rest = await site.ok("GET", f"/webhooks?limit=2&cursor={page['nextCursor']}", key=key)
    shown = rest["data"][0]
    assert not rest["hasMore"] and rest["nextCursor"] is None
    assert shown == {name: value for name, value in made[0].items() if name != "secret"}
    assert await site.ok("GET", f"/webhooks/{shown['id']}", key=key) == shown
    for webhook in made:
        await site.ok("DELETE", f"/webhooks/{webhook['id']}", key=key)


async def test_every_member_can_be_changed_and_the_rest_stays(site: Site, hook: Any) -> None:
    path = f"/webhooks/{hook['id']}"
    before = await site.ok("GET", path)
    site.clock.advance(milliseconds=1)
    for change in ({"url": "https://ok.test/new"}, {"events": ["*"]}, {"description": "CRM"}):
        after = await site.ok("PATCH", path, change)
        assert after == {**before, **change, "updatedAt": rfc3339(site.clock.now())}
        before = after
    assert await site.ok("PATCH", path, {"description": None}) == {**before, "description": None}
    site.clock.advance(milliseconds=1)
    same = await site.ok("PATCH", path, {})
    assert same["updatedAt"] == before["updatedAt"], "nothing changed"


REFUSED = [
    ({"url": None}, "invalid_request", "/url", "type"),
    ({"url": ""}, "invalid_request", "/url", "length"),
    ({"events": None}, "invalid_request", "/events", "type"),
    ({"events": []}, "invalid_request", "/events", "length"),
    ({"events": ["document.sent"] * 2}, "invalid_request", "/events", "duplicate"),
    ({"events": ["document.x"]}, "unknown_event", "/events/0", "enum"),
    ({"enabled": None}, "invalid_request", "/enabled", "type"),
    ({"enabled": 1}, "invalid_request", "/enabled", "type"),
    ({"description": "d" * 201}, "invalid_request", "/description", "length"),
    ({"secret": "whsec_mine"}, "invalid_request", "/secret", "unknown_member"),
]


@pytest.mark.parametrize("body, code, path, rule", REFUSED, ids=[f"{r[2]} {r[3]}" for r in REFUSED])
async def test_a_change_that_does_not_fit_changes_nothing(
    site: Site, hook: Any, body: Any, code: str, path: str, rule: str
) -> None:
    before = await site.ok("GET", f"/webhooks/{hook['id']}")
    answer = await site.ask("PATCH", f"/webhooks/{hook['id']}", body)
    assert answer.code == code and answer.places == {(path, rule)}
    assert await site.ok("GET", f"/webhooks/{hook['id']}") == before


async def test_a_change_of_address_is_checked_like_a_new_one(site: Site, hook: Any) -> None:
    for url in ("https://10.0.0.1/", "ftp://ok.test/", "http://ok.test/"):
        answer = await site.ask("PATCH", f"/webhooks/{hook['id']}", {"url": url})
        assert answer.code == "invalid_webhook_url"


async def test_what_is_on_its_way_goes_to_the_new_address(site: Site, receiver: Receiver) -> None:
    webhook = await site.ok("POST", "/webhooks", {"url": NOBODY, "events": ["document.created"]})
    await site.create()
    [delivery] = await wait_for_deliveries(site, webhook)
    await site.ok("PATCH", f"/webhooks/{webhook['id']}", {"url": receiver.url})
    path = f"/webhooks/{webhook['id']}/deliveries/{delivery['id']}/redeliver"
    assert (await site.ok("POST", path))["status"] == "succeeded" and len(receiver.came) == 1
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")


# ---------- the secret ----------


async def test_during_a_rotation_both_secrets_sign_the_newest_first(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    path = f"/webhooks/{hook['id']}/rotate-secret"
    headers = {"Idempotency-Key": "rotate"}
    rotated = await site.ok("POST", path, {}, headers=headers)
    assert await site.ok("POST", path, {}, headers=headers) == rotated, "only a replay shows it again"
    assert rotated["id"] == hook["id"] and rotated["secret"] != hook["secret"]
    assert rotated["previousSecretExpiresAt"] == rfc3339(site.clock.now() + 24 * HOUR)
    assert (await site.ask("POST", path, {})).code == "rotation_in_progress"
    await site.ok("POST", f"/webhooks/{hook['id']}/test")
    delivered = receiver.came[-1]
    verify_delivery(hook, delivered, rotated["secret"])
    verify_delivery(hook, delivered, hook["secret"])
    newest, previous = delivered.headers["webhook-signature"].split()
    assert newest != previous

    site.clock.advance(hours=24)
    await site.ok("POST", f"/webhooks/{hook['id']}/test")
    assert receiver.came[-1].headers["webhook-signature"].count("v1,") == 1
    verify_delivery(hook, receiver.came[-1], rotated["secret"])
    third = await site.ok("POST", path, {"graceHours": 168})
    assert third["previousSecretExpiresAt"] == rfc3339(site.clock.now() + 168 * HOUR)


async def test_without_grace_the_new_secret_alone_is_alive_at_once(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    path = f"/webhooks/{hook['id']}/rotate-secret"
    await site.ok("POST", path, {"graceHours": 1})
    last = await site.ok("POST", path, {"graceHours": 0})
    assert last["previousSecretExpiresAt"] == rfc3339(site.clock.now())
    await site.ok("POST", f"/webhooks/{hook['id']}/test")
    assert receiver.came[-1].headers["webhook-signature"].count("v1,") == 1
    verify_delivery(hook, receiver.came[-1], last["secret"])
    assert (await site.ok("POST", path, {}))["secret"] != last["secret"]


@pytest.mark.parametrize("hours", [-1, 169, 1.5, "24"])
async def test_a_grace_of_a_week_at_most(site: Site, hook: Any, hours: Any) -> None:
    answer = await site.ask("POST", f"/webhooks/{hook['id']}/rotate-secret", {"graceHours": hours})
    assert answer.code == "invalid_request" and {path for path, _ in answer.places} == {"/graceHours"}


# ---------- events ----------


async def test_events_are_listed_as_they_are_delivered(site: Site, receiver: Receiver) -> None:
    webhook = await site.ok("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    site.clock.advance(hours=1)
    since = rfc3339(site.clock.now())
    document = await site.send_document()
    await wait_for_deliveries(site, webhook, 3)
    listed = (await site.ok("GET", f"/events?createdAfter={since}"))["data"]
    assert {event["id"]: event for event in listed} == {d.id: d.event for d in receiver.came}
    for delivered in receiver.came:
        answer = await site.ask("GET", f"/events/{delivered.id}")
        assert answer.content == delivered.body
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")
    of_one = (await site.ok("GET", f"/events?documentId={document['id']}"))["data"]
    assert sorted(event["sequence"] for event in of_one) == [1, 2, 3]
    sent = (await site.ok("GET", f"/events?documentId={document['id']}&type=document.sent"))["data"]
    assert [event["type"] for event in sent] == ["document.sent"]
    assert (await site.ok("GET", f"/events?createdBefore={since}&createdAfter={since}"))["data"] == []


async def test_events_are_paged_without_gap_and_cursors_are_bound_to_the_filters(site: Site) -> None:
    for _ in range(3):
        site.clock.advance(milliseconds=1)
        await site.create()
    path = "/events?type=document.created&limit="
    whole = [event["id"] for event in (await site.ok("GET", f"{path}100"))["data"]]
    paged: list[str] = []
    cursor = ""
    while len(paged) < 3:
        page = await site.ok("GET", f"{path}1{cursor}")
        paged += [event["id"] for event in page["data"]]
        cursor = f"&cursor={page['nextCursor']}"
    assert paged == whole[:3]
    assert (await site.ask("GET", f"/events?limit=1{cursor}")).code == "invalid_cursor"
    for query, place, rule in (
        ("type=document.x", "?type", "enum"),
        ("createdAfter=yesterday", "?createdAfter", "format"),
        ("limit=101", "?limit", "range"),
        ("q=x", "?q", "unknown_member"),
    ):
        answer = await site.ask("GET", f"/events?{query}")
        assert answer.code == "invalid_request" and answer.places == {(place, rule)}


async def test_erasing_a_document_takes_its_events_from_lists_and_logs(
    site: Site, receiver: Receiver
) -> None:
    receiver.always(500)
    webhook = await site.ok("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    document = await site.create()
    [waiting] = await wait_for_deliveries(site, webhook)
    event_id = waiting["eventId"]
    await site.ok("DELETE", f"/documents/{document}")
    left = (await site.ok("GET", f"/events?documentId={document}"))["data"]
    assert [event["type"] for event in left] == ["document.deleted"]
    assert (await site.ask("GET", f"/events/{event_id}")).code == "not_found"
    deliveries = f"/webhooks/{webhook['id']}/deliveries"
    listed = (await site.ok("GET", deliveries))["data"]
    assert [each["eventType"] for each in listed] == ["document.deleted"]
    for act in ("", "/redeliver"):
        answer = await site.ask("POST" if act else "GET", f"{deliveries}/{waiting['id']}{act}")
        assert answer.code == "not_found"
    for row in await site.runtime.db.all(
        "SELECT 1 FROM attempt WHERE delivery NOT IN (SELECT number FROM delivery)"
    ):
        raise AssertionError(row)
    await site.ok("DELETE", f"/webhooks/{webhook['id']}")


# ---------- whose they are ----------


async def test_a_foreign_webhook_delivery_or_event_is_not_found(
    site: Site, hook: Any, receiver: Receiver
) -> None:
    await site.create()
    [delivery] = await wait_for_deliveries(site, hook)
    await store_organisation(site.runtime.db, an_organisation(id="org_foreign"))
    keys = [await site.new_key(mode=Mode.TEST), await site.new_key(organisation="org_foreign")]
    path, unknown = f"/webhooks/{hook['id']}", "/webhooks/wh_00000000000000000000000000"
    calls = [
        ("GET", "", None),
        ("PATCH", "", {"enabled": False}),
        ("POST", "/rotate-secret", {}),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
        ("GET", f"/deliveries/{delivery['id']}", None),
        ("POST", f"/deliveries/{delivery['id']}/redeliver", None),
        ("POST", "/recover", {"since": "2026-01-01T00:00:00Z"}),
    ]
    count = len(receiver.came)
    for method, act, body in calls:
        for key in keys:
            foreign = await site.ask(method, path + act, body, key=key)
            other = await site.ask(method, unknown + act, body, key=key)
            assert foreign.status == other.status == 404, (method, act)
        assert (await site.ask(method, unknown + act, body)).status == 404
    for key in keys:
        assert (await site.ask("GET", f"/events/{delivery['eventId']}", key=key)).code == "not_found"
        assert (await site.ok("GET", "/webhooks", key=key))["data"] == []
    assert len(receiver.came) == count
    assert (await site.ok("GET", path))["enabled"]
    other = await site.ok("POST", "/webhooks", {"url": NOBODY, "events": ["*"]})
    assert (await site.ask("GET", f"/webhooks/{other['id']}/deliveries/{delivery['id']}")).code == "not_found"
    await site.ok("DELETE", f"/webhooks/{other['id']}")


async def test_each_call_needs_its_scope(site: Site, hook: Any) -> None:
    reads = [
        ("GET", "/webhooks"),
        ("GET", f"/webhooks/{hook['id']}"),
        ("GET", f"/webhooks/{hook['id']}/deliveries"),
    ]
    writes = [
        ("PATCH", f"/webhooks/{hook['id']}"),
        *[("POST", f"/webhooks/{hook['id']}/{act}") for act in ("rotate-secret", "test", "recover")],
        ("POST", f"/webhooks/{hook['id']}/deliveries/dlv_1/redeliver"),
    ]
    for key, refused in (
        (await site.new_key(Scope.WEBHOOKS_READ), [*writes, ("GET", "/events")]),
        (await site.new_key(Scope.WEBHOOKS_WRITE), [*reads, ("GET", "/events")]),
        (await site.new_key(Scope.DOCUMENTS_READ), [*reads, *writes]),
    ):
        for method, path in refused:
            body = {"since": "2026-01-01T00:00:00Z"} if path.endswith("recover") else None
            assert (await site.ask(method, path, body, key=key)).code == "insufficient_scope", (method, path)


async def test_the_bytes_of_an_event_are_minified_utf_8(site: Site) -> None:
    document = await site.create(title="Ünïcode 😀")
    [newest] = (await site.ok("GET", f"/events?documentId={document}"))["data"]
    answer = await site.ask("GET", f"/events/{newest['id']}")
    assert "Ünïcode 😀".encode() in answer.content
    assert answer.content == orjson.dumps(answer.body)
