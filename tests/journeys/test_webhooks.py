"""Events on their way to a real receiver: signed, repeated on the contract's schedule, and never to the wrong place."""

import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from esign.actions.webhook import deliver_events
from esign.core.actor import Mode
from esign.core.instant import HOUR, MINUTE, SECOND, Instant, parse
from esign.system.clock import SystemClock
from tests.fakes import FakeClock
from tests.journeys.api import until
from tests.journeys.receiver import Delivered, Receiver
from tests.journeys.site import JourneySite, a_site

SCHEDULE = (5 * SECOND, 5 * MINUTE, 30 * MINUTE, *(n * HOUR for n in (2, 5, 10, 14, 20, 24)))
JOURNEY = [
    "document.created",
    "document.sent",
    "recipient.sent",
    "recipient.viewed",
    "recipient.completed",
    "document.completed",
]


@pytest.fixture
async def hook(site: JourneySite, receiver: Receiver) -> Any:
    """A webhook for every event, with its secret."""
    return await site.api.webhook(receiver.url)


def sign_delivery(hook: Any, delivered: Delivered) -> str:
    """The signature that the public library puts on what was delivered."""
    at = datetime.fromtimestamp(int(delivered.headers["webhook-timestamp"]), UTC)
    return Webhook(hook["secret"]).sign(delivered.id, at, delivered.body.decode())


async def next_due(site: JourneySite) -> Instant:
    row = await site.runtime.db.one("SELECT MIN(due_at) AS due FROM delivery WHERE status = 'pending'")
    assert row is not None
    return int(row["due"])


async def pending(site: JourneySite) -> int:
    rows = await site.runtime.db.all("SELECT 1 FROM delivery WHERE status = 'pending'")
    return len(rows)


# ---------- what arrives ----------


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[JourneySite]:
    """A server that works by itself and whose clock is the real one."""
    async with a_site(tmp_path / "data", SystemClock(), working=True) as site:
        yield site


async def test_a_whole_journey_arrives_and_the_public_library_accepts_each_event(
    live: JourneySite, receiver: Receiver
) -> None:
    hook = await live.api.webhook(receiver.url)
    document = await live.api.send_document()

    async def person() -> Any:
        try:
            return await live.person("ada@example.test")
        except AssertionError:
            return None

    await (await until(person, "invitation")).sign()

    async def all_came() -> bool | None:
        return len(receiver.came) >= len(JOURNEY) or None  # several leave at once, in any order

    await until(all_came, f"{len(JOURNEY)} events")
    verifier = Webhook(hook["secret"])
    events = [verifier.verify(d.body, dict(d.headers)) for d in receiver.came]
    ordered = sorted(events, key=lambda event: event["sequence"])
    assert [event["type"] for event in ordered] == JOURNEY
    assert [event["sequence"] for event in ordered] == list(range(1, 7))
    assert {event["data"]["document"]["id"] for event in events} == {document}
    assert len(await live.api.file(document)) > 1000


async def test_a_forged_body_is_refused_by_the_public_library(live: JourneySite, receiver: Receiver) -> None:
    hook = await live.api.webhook(receiver.url)
    await live.api.create()

    async def first() -> Delivered | None:
        return receiver.came[0] if receiver.came else None

    delivered = await until(first, "event")
    verifier = Webhook(hook["secret"])
    assert verifier.verify(delivered.body, dict(delivered.headers))
    with pytest.raises(Exception, match="No matching signature"):
        verifier.verify(delivered.body.replace(b"draft", b"final"), dict(delivered.headers))
    with pytest.raises(Exception, match="No matching signature"):
        verifier.verify(delivered.body, {**delivered.headers, "webhook-id": "evt_another"})


async def test_a_delivery_has_the_headers_and_members_of_the_contract(
    site: JourneySite, hook: Any, receiver: Receiver, clock: FakeClock
) -> None:
    document = await site.api.create(externalId="order 7", metadata={"team": "legal"})
    await site.work("webhook")
    [delivered] = receiver.came
    assert delivered.headers["content-type"] == "application/json"
    assert delivered.headers["user-agent"] == "esign-webhooks/1"
    assert int(delivered.headers["webhook-timestamp"]) == clock.now() // SECOND
    assert delivered.headers["webhook-signature"] == sign_delivery(hook, delivered)
    event = delivered.event
    assert list(event) == ["id", "type", "timestamp", "apiVersion", "mode", "sequence", "data"]
    assert (event["id"], event["type"], event["apiVersion"]) == (delivered.id, "document.created", "v1")
    assert (event["mode"], event["sequence"], event["timestamp"]) == ("live", 1, "2026-11-21T00:00:00.000Z")
    told = event["data"]["document"]
    assert (told["id"], told["externalId"], told["metadata"]) == (document, "order 7", {"team": "legal"})
    assert set(told) == {
        *("id", "title", "status", "pageCount", "createdAt", "completedAt", "externalId", "metadata"),
        *("recipients", "sentAt", "expiresAt", "closedAt", "closeReason", "templateId"),
    }
    assert set(told["recipients"][0]) == {"id", "email", "name", "role", "status", "order"}
    assert b": " not in delivered.body and b", " not in delivered.body


async def test_an_event_about_a_recipient_names_that_recipient(
    site: JourneySite, hook: Any, receiver: Receiver
) -> None:
    await site.api.send_document()
    await site.work()
    person = await site.person("ada@example.test")
    await person.view()
    await person.decline("No.")
    await site.work("webhook")
    [declined] = [d.event for d in receiver.came if d.type == "recipient.declined"]
    recipient = declined["data"]["recipient"]
    assert (recipient["email"], recipient["status"]) == ("ada@example.test", "declined")
    assert recipient["declineReason"] == "No."
    assert {"sentAt", "viewedAt", "completedAt", "declinedAt"} < set(recipient)
    assert receiver.types().count("document.declined") == 1


async def test_only_the_events_asked_for_are_delivered(site: JourneySite, receiver: Receiver) -> None:
    await site.api.webhook(receiver.url, "document.sent", "recipient.viewed")
    await site.complete_document()
    await site.work("webhook")
    assert receiver.types() == ["document.sent", "recipient.viewed"]


async def test_two_webhooks_get_the_same_event_under_their_own_secrets(
    site: JourneySite, hook: Any, receiver: Receiver
) -> None:
    other = await site.api.webhook(receiver.url)
    assert other["secret"] != hook["secret"]
    await site.api.create()
    await site.work("webhook")
    first, second = receiver.came
    assert (first.id, first.body) == (second.id, second.body)
    signatures = {d.headers["webhook-signature"] for d in receiver.came}
    assert signatures == {sign_delivery(hook, first), sign_delivery(other, first)}


async def test_the_other_mode_hears_nothing(site: JourneySite, hook: Any, receiver: Receiver) -> None:
    testing = await site.key(mode=Mode.TEST)
    await testing.create()
    await site.work("webhook")
    assert receiver.came == []
    await testing.webhook(receiver.url)
    await testing.create()
    await site.work("webhook")
    assert [d.event["mode"] for d in receiver.came] == ["test"]


# ---------- when it is not taken ----------


async def test_a_failing_receiver_is_tried_ten_times_on_the_schedule_with_the_same_bytes(
    site: JourneySite, hook: Any, receiver: Receiver, clock: FakeClock
) -> None:
    receiver.always(500)
    await site.api.create()
    for wait in SCHEDULE:
        await site.work("webhook")
        delay = await next_due(site) - clock.now()
        assert 0.9 * wait <= delay <= 1.1 * wait, (wait, delay)
        clock.advance(milliseconds=delay - 1)
        assert await site.work("webhook") == 0
        clock.advance(milliseconds=1)
    await site.work("webhook")
    assert len(receiver.came) == 10
    assert await pending(site) == 0
    assert len({(d.id, d.body) for d in receiver.came}) == 1
    assert len({d.headers["webhook-timestamp"] for d in receiver.came}) == 10
    assert all(d.headers["webhook-signature"] == sign_delivery(hook, d) for d in receiver.came)
    clock.advance(days=10)
    assert await site.work("webhook") == 0


async def test_the_delays_of_the_schedule_are_spread(
    site: JourneySite, hook: Any, receiver: Receiver
) -> None:
    receiver.always(500)
    for _ in range(8):
        await site.api.create()
    await site.work("webhook")
    rows = await site.runtime.db.all("SELECT due_at FROM delivery WHERE status = 'pending'")
    assert len({row["due_at"] for row in rows}) > 1


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 500, 503])
async def test_everything_but_2xx_is_a_failure_and_no_redirect_is_followed(
    site: JourneySite, hook: Any, receiver: Receiver, status: int
) -> None:
    receiver.always(status, location=f"{receiver.url}/elsewhere")
    await site.api.create()
    await site.work("webhook")
    assert (len(receiver.came), await pending(site)) == (1, 1)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_is_success(site: JourneySite, hook: Any, receiver: Receiver, status: int) -> None:
    receiver.always(status)
    await site.api.create()
    await site.work("webhook")
    assert (len(receiver.came), await pending(site)) == (1, 0)


@pytest.mark.parametrize(
    ("status", "header", "least"),
    [
        (429, "120", 120 * SECOND),
        (503, "3600", HOUR),
        (503, "1", round(4.5 * SECOND)),
        (429, "999999999", 24 * HOUR),
        (429, "Sat, 21 Nov 2026 01:00:00 GMT", HOUR),
        (503, "Fri, 20 Nov 2026 00:00:00 GMT", round(4.5 * SECOND)),
        (503, "soon", round(4.5 * SECOND)),
        (500, "3600", round(4.5 * SECOND)),
    ],
)
async def test_a_receiver_may_ask_for_time_with_429_and_503(
    site: JourneySite, hook: Any, receiver: Receiver, clock: FakeClock, status: int, header: str, least: int
) -> None:
    receiver.always(status, retry_after=header)
    await site.api.create()
    await site.work("webhook")
    delay = await next_due(site) - clock.now()
    assert least <= delay <= max(least, round(5.5 * SECOND))


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own clock shows five hours less."""
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("zone", ["GMT", "-0000", ""])
@pytest.mark.usefixtures("in_new_york")
def test_a_date_to_wait_for_is_in_utc_wherever_this_machine_stands(zone: str) -> None:
    date = f"Sat, 21 Nov 2026 01:00:00 {zone}".strip()
    midnight = parse("2026-11-21T00:00:00Z")
    assert deliver_events.read_retry_after(503, {"retry-after": date}, midnight) == HOUR


async def test_410_ends_the_webhook_and_what_was_on_its_way(
    site: JourneySite, hook: Any, receiver: Receiver
) -> None:
    receiver.always(500)
    await site.api.create()
    await site.work("webhook")
    receiver.always(410)
    await site.api.create()
    await site.work("webhook")
    assert await pending(site) == 0
    row = await site.runtime.db.one("SELECT * FROM webhook WHERE id = :id", id=hook["id"])
    assert row is not None
    assert (row["enabled"], row["disabled_reason"]) == (0, "gone")
    came = len(receiver.came)
    await site.api.create()
    await site.work("webhook")
    assert len(receiver.came) == came


async def test_a_deleted_webhook_gets_nothing_more(
    site: JourneySite, hook: Any, receiver: Receiver, clock: FakeClock
) -> None:
    receiver.always(500)
    await site.api.create()
    await site.work("webhook")
    assert await pending(site) == 1
    assert await site.api.ok("DELETE", f"/webhooks/{hook['id']}") == {"id": hook["id"]}
    assert await pending(site) == 0
    clock.advance(days=1)
    await site.api.create()
    await site.work("webhook")
    assert len(receiver.came) == 1
    assert (await site.api.call("DELETE", f"/webhooks/{hook['id']}")).status == 404


async def test_one_dead_receiver_does_not_hold_up_another(
    site: JourneySite, hook: Any, receiver: Receiver, clock: FakeClock
) -> None:
    await site.api.webhook("http://127.0.0.1:65000/nobody")
    await site.api.create()
    await site.work("webhook")
    assert receiver.types() == ["document.created"]
    assert await pending(site) == 1
    rows = await site.runtime.db.all("SELECT last_error FROM delivery WHERE status = 'pending'")
    assert rows[0]["last_error"]


# ---------- the wrong places ----------


PUBLIC = {"base_url": "https://sign.example.test"}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "https://127.0.0.1:{port}/",
        "https://localhost:{port}/",
        "https://[::1]:{port}/",
        "https://127.1:{port}/",
        "https://2130706433:{port}/",
        "https://[::ffff:7f00:1]:{port}/",
        "https://169.254.169.254/latest/",
    ],
)
async def test_a_public_installation_registers_no_address_of_its_own_network(
    tmp_path: Path, clock: FakeClock, receiver: Receiver, url: str
) -> None:
    port = receiver.url.split(":")[2].partition("/")[0]
    async with a_site(tmp_path / "data", clock, server=PUBLIC) as site:
        body = {"url": url.format(port=port), "events": ["*"]}
        answer = await site.api.call("POST", "/webhooks", body)
    assert (answer.status, answer.code) == (400, "invalid_webhook_url")


async def test_a_receiver_on_loopback_is_refused_once_the_installation_is_public(
    tmp_path: Path, clock: FakeClock, receiver: Receiver
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        await site.api.webhook(receiver.url)
        await site.api.create()
        await site.work("webhook")
    assert len(receiver.came) == 1
    async with a_site(tmp_path / "data", clock, server=PUBLIC) as site:
        await site.api.create()
        await site.work("webhook")
        rows = await site.runtime.db.all("SELECT last_error FROM delivery WHERE status = 'pending'")
        assert [row["last_error"].partition(":")[0] for row in rows] == ["address_refused"]
    assert len(receiver.came) == 1


async def test_a_redirect_to_another_place_is_not_followed(
    site: JourneySite, hook: Any, receiver: Receiver
) -> None:
    receiver.always(302, location="http://169.254.169.254/latest/")
    await site.api.create()
    await site.work("webhook")
    assert len(receiver.came) == 1
    row = await site.runtime.db.one("SELECT last_error FROM delivery WHERE status = 'pending'")
    assert row is not None and row["last_error"] == "status 302"


# ---------- the secret ----------


async def test_the_secret_is_shown_once_and_stands_nowhere_in_the_clear(
    site: JourneySite, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    made = await site.api.call(
        "POST", "/webhooks", {"url": receiver.url, "events": ["*"]}, idempotency_key="once"
    )
    secret = made.body["secret"]
    assert secret.startswith("whsec_")
    again = await site.api.call(
        "POST", "/webhooks", {"url": receiver.url, "events": ["*"]}, idempotency_key="once"
    )
    assert again.content == made.content, "the replay of this very call shows it again"
    document = await site.complete_document()
    await site.work()
    later = [
        await site.api.call("GET", "/documents"),
        await site.api.call("GET", f"/documents/{document}"),
        await site.api.call("GET", f"/documents/{document}/audit"),
        await site.api.call("DELETE", f"/webhooks/{made.body['id']}"),
    ]
    assert all(secret.encode() not in answer.content for answer in later)
    assert all(secret.encode() not in d.body for d in receiver.came)
    folder = site.runtime.config.storage.data_dir
    assert all(secret.encode() not in file.read_bytes() for file in folder.iterdir())
    assert secret not in caplog.text
