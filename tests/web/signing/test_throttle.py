"""How often a link and an address are answered, and what whoever asks more often sees."""

from collections.abc import Iterator
from typing import cast

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from esign.config import SigningSettings
from esign.core.actor import Origin
from esign.core.errors import UnknownLink
from esign.core.language import LANGUAGES
from esign.web.http.errors import respond_as_json
from esign.web.signing.throttle import LinkThrottle
from tests.fakes import FakeClock
from tests.web.signing.client import LINK, SigningClient
from tests.web.signing.site import STATES, SigningSite
from tests.web.wire import Seen

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
WRONG = "/s/nothing-of-the-kind"


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    clock = FakeClock()
    clock.at = clock.at // 60_000 * 60_000  # the windows are those of the clock
    yield clock


@pytest.fixture
def client(clock: FakeClock) -> SigningClient:
    state, document = STATES["expired"]
    return SigningClient(SigningSite(document, state), clock)


async def many(client: SigningClient, times: int, path: str = LINK, method: str = "GET") -> list[int]:
    return [(await client.ask(method, path, b"", {})).status for _ in range(times)]


def is_refusal(seen: Seen, retry_after: str) -> bool:
    return (seen.status, seen.headers.get("retry-after")) == (429, retry_after)


async def test_a_link_is_read_120_times_a_minute(client: SigningClient, clock: FakeClock) -> None:
    status = f"{LINK}/status"
    assert set(await many(client, 120, status)) == {200}
    seen = await client.ask(path=status)
    assert is_refusal(seen, "60") and seen.code == "rate_limited"
    assert set(await many(client, 30, f"{LINK}/view", "HEAD")) == {429}
    clock.advance(seconds=59)
    assert is_refusal(await client.ask(path=status), "1")
    clock.advance(seconds=1)
    assert (await client.ask(path=status)).status == 200


async def test_writing_is_counted_apart_and_less(client: SigningClient) -> None:
    for _ in range(30):
        assert (await client.post("renewal", {})).status == 200
    seen = await client.post("renewal", {})
    assert is_refusal(seen, "60") and seen.code == "rate_limited"
    assert (await client.ask(path=f"{LINK}/status")).status == 200


async def test_typing_for_long_does_not_stand_in_the_way_of_finishing(client: SigningClient) -> None:
    typed = [await many(client, 60, f"{LINK}/{what}", "POST") for what in ("draft", "letters")]
    assert 429 not in typed[0] + typed[1]
    assert await many(client, 1, f"{LINK}/draft", "POST") == [429]
    assert (await client.post("renewal", {})).status == 200


async def test_pages_are_counted_apart_and_more(clock: FakeClock) -> None:
    client = SigningClient(SigningSite(), clock)
    picture = f"{LINK}/pages/1.webp"
    assert set(await many(client, 1200, picture)) == {200}
    assert await many(client, 1, picture) == [429]
    assert await many(client, 1) == [200]


async def test_an_address_may_have_ten_links_open(client: SigningClient) -> None:
    assert [await many(client, 1, f"/static/none-{n}") for n in range(3)] == [[404]] * 3
    for n in range(300):
        assert (await client.ask("POST", f"/s/link-{n % 15}/nothing")).status == 404
    assert is_refusal(await client.ask("POST", "/s/another/nothing"), "60")


async def test_what_an_address_is_refused_does_not_count_for_the_link(clock: FakeClock) -> None:
    async def find_nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await Response()(scope, receive, send)

    throttle = LinkThrottle(find_nothing, clock, SigningSettings(reads_per_minute=1), respond_as_json)

    async def ask(ip: str, path: str) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            raise AssertionError("nothing is sent")

        origin = Origin(ip, None)
        await throttle({"type": "http", "method": "GET", "path": path, "esign.origin": origin}, receive, send)
        return int(sent[0]["status"])

    assert [await ask("192.0.2.7", f"/s/link-{n}") for n in range(11)] == [200] * 10 + [429]
    assert await ask("192.0.2.8", "/s/link-10") == 200


async def test_who_tries_wrong_links_waits_ten_minutes(client: SigningClient, clock: FakeClock) -> None:
    tried = [WRONG, f"{WRONG}/status"]
    for n in range(30):
        assert (await client.ask(path=tried[n % 2])).status == 200
    assert (await client.ask(path=WRONG)).status == 200
    assert is_refusal(await client.ask(path=WRONG), "600")
    clock.advance(minutes=9, seconds=59)
    assert is_refusal(await client.ask(), "1")
    clock.advance(seconds=1)
    assert (await client.ask()).status == 200


@pytest.mark.parametrize("tag", LANGUAGES)
async def test_a_browser_reads_in_its_language_how_long_to_wait(client: SigningClient, tag: str) -> None:
    await many(client, 121, f"{LINK}/status")
    seen = await client.ask(headers={**BROWSER, "accept-language": f"{tag};q=0.9"})
    assert is_refusal(seen, "60")
    page = seen.body.decode()
    assert f'<html lang="{tag}"' in page and 'data-state="error"' in page
    assert (
        seen.headers["content-type"].startswith("text/html")
        and "nonce-" in seen.headers["content-security-policy"]
    )
    assert 'data-action="try-again"' in page


async def test_wrong_links_are_counted_by_network(clock: FakeClock) -> None:
    async def unknown(scope: Scope, receive: Receive, send: Send) -> None:
        scope["esign.problem"] = UnknownLink()
        await Response(status_code=404)(scope, receive, send)

    throttle = LinkThrottle(unknown, clock, SigningSettings(wrong_links_per_minute=2), respond_as_json)

    async def ask(ip: str) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/s/{ip}/x",
            "esign.origin": Origin(ip, None),
            "headers": [],
        }
        await throttle(scope, cast(Receive, None), send)
        return int(sent[0]["status"])

    assert [await ask(f"2001:db8::{n}") for n in range(4)] == [404, 404, 404, 429]
    assert [await ask(f"2001:db8:0:{n:x}::1") for n in range(1, 20)] == [404] * 18 + [429]
    assert await ask("2001:db8:1::1") == 404
    assert [await ask(a) for a in ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "::ffff:c000:201")][
        -1
    ] == 429
