"""Slow, silent and greedy clients; deadlines are small here and count from the same code as the real ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network

import pytest
from starlette.types import Receive, Scope, Send

from esign.system.clock import SystemClock
from esign.web.http.client_connection import Connections
from esign.web.http.origin import Proxies
from esign.web.http.request_guard import Guard
from esign.web.http.server import Front, run_server
from tests.web.wire import Wire, ask, request

QUICK = Front(first_byte=0.4, head=0.4, body=0.4, write_stall=0.4, keep_alive=0.4, farewell=0.2, shutdown=1)


class App:
    """Echoes the size of bodies; `/large` answers with more than any buffer holds; `/slow` waits for `gate`."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.entered = asyncio.Event()
        self.left = 0
        self.gone: asyncio.Future[None] | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = 0
        self.paths.append(scope["path"])
        self.gone = scope["esign.gone"]
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left += 1
                return
            size += len(message.get("body", b""))
            if not message.get("more_body"):
                break
        self.headers = scope["headers"]
        if scope["path"] == "/slow":
            self.entered.set()
            await self.gate.wait()
        body = b"x" * 30_000_000 if scope["path"] == "/large" else str(size).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serving(front: Front = QUICK) -> AsyncIterator[tuple[int, App]]:
    app = App()
    async with run_server(app, "127.0.0.1", 0, front) as server:
        yield server.port, app


async def closes(wire: Wire, least: float, most: float = 1.5) -> bytes:
    """What comes until the server closes, which must take between `least` and `most` seconds."""
    begun = asyncio.get_running_loop().time()
    rest = await asyncio.wait_for(wire.read_to_end(), 5)
    assert least <= asyncio.get_running_loop().time() - begun <= most
    await wire.close()
    return rest


async def test_a_silent_client_is_left() -> None:
    async with serving() as (port, _):
        assert await closes(await Wire.open(port), 0.3) == b""


async def test_a_head_must_be_complete_in_time_however_steadily_it_drips() -> None:
    async with serving() as (port, _):
        wire = await Wire.open(port)

        async def drip() -> None:
            for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1000:
                await wire.write(bytes([byte]))
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert await closes(wire, 0.3) == b""
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


@pytest.mark.parametrize("length", ["Content-Length: 100", "Transfer-Encoding: chunked"])
async def test_a_body_must_be_complete_in_time(length: str) -> None:
    async with serving() as (port, app):
        wire = await Wire.open(port)
        await wire.write(request("POST", "/", None, length))
        assert await closes(wire, 0.3) == b""
        assert app.left == 1


@pytest.mark.slow
@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
async def test_a_body_that_goes_on_arriving_gets_time_for_it(chunked: bool) -> None:
    """Far longer in all than a body may stand still."""
    async with serving(replace(QUICK, body=1, body_rate=1000)) as (port, _):
        wire = await Wire.open(port)
        length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 12000"
        await wire.write(request("POST", "/", None, length))
        for _ in range(12):
            await asyncio.sleep(0.2)
            await wire.write(b"3E8\r\n" + b"x" * 1000 + b"\r\n" if chunked else b"x" * 1000)
        await wire.write(b"0\r\n\r\n" if chunked else b"")
        assert (await wire.read()).body == b"12000"
        await wire.close()


async def test_what_is_announced_buys_no_time() -> None:
    async with serving(replace(QUICK, body_rate=1000)) as (port, app):
        wire = await Wire.open(port)
        await wire.write(request("POST", "/", None, "Content-Length: 36000000"))
        assert await closes(wire, 0.3) == b""
        assert app.left == 1


async def test_a_body_that_was_quick_may_not_stand_still_for_longer() -> None:
    async with serving(replace(QUICK, body_rate=1000)) as (port, _):
        wire = await Wire.open(port)
        await wire.write(request("POST", "/", None, "Content-Length: 36000000") + b"x" * 1_000_000)
        assert await closes(wire, 0.3, 3) == b""


async def test_a_body_that_comes_slower_than_the_least_rate_is_given_up() -> None:
    async with serving(replace(QUICK, body_rate=1000)) as (port, _):
        wire = await Wire.open(port)
        await wire.write(request("POST", "/", None, "Content-Length: 36000000"))

        async def drip() -> None:
            while True:
                await wire.write(b"x" * 10)
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert await closes(wire, 0.3, 3) == b""
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_a_request_knows_when_its_client_has_left() -> None:
    async with serving() as (port, app):
        wire = await Wire.open(port)
        await wire.write(request("GET", "/slow"))
        await app.entered.wait()
        assert app.gone is not None and not app.gone.done()
        await wire.close()
        await asyncio.wait_for(app.gone, 5)
        app.gate.set()


async def test_a_kept_connection_is_closed_when_nothing_comes() -> None:
    async with serving() as (port, _):
        wire = await Wire.open(port)
        for _ in range(3):
            await wire.write(request("GET", "/"))
            assert (await wire.read()).status == 200
            await asyncio.sleep(0.2)
        assert await closes(wire, 0.1) == b""


async def test_a_request_may_take_its_time_on_our_side() -> None:
    async with serving() as (port, app):
        wire = await Wire.open(port)
        await wire.write(request("GET", "/slow"))
        await asyncio.sleep(0.8)
        app.gate.set()
        assert (await wire.read()).status == 200
        await wire.close()


async def test_a_client_that_stops_reading_is_left() -> None:
    async with serving() as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(request("GET", "/large"))
        await reader.readexactly(100)
        await asyncio.sleep(1)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(30_000_000)
        writer.close()


async def test_a_slow_reader_that_goes_on_gets_everything() -> None:
    async with serving() as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("GET", "/large", None, "Connection: close"))
        size = 0
        while piece := await reader.read(3_000_000):
            size += len(piece)
            if size < 5_000_000:
                await asyncio.sleep(0.02)
        assert size > 30_000_000
        writer.close()


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with serving() as (port, _):
        wire = await Wire.open(port)
        await wire.write(b"".join(request("POST", "/", b"x" * n) for n in range(5)))
        assert [(await wire.read()).body for _ in range(5)] == [b"0", b"1", b"2", b"3", b"4"]
        await wire.close()


async def test_chunked_bodies_are_read_and_their_trailers_are_dropped() -> None:
    async with serving() as (port, app):
        wire = await Wire.open(port)
        head = request("POST", "/", None, "Transfer-Encoding: chunked")
        await wire.write(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
        assert (await wire.read()).body == b"5"
        assert b"authorization" not in dict(app.headers)
        await wire.close()


async def test_trailers_without_end_only_lose_the_connection() -> None:
    async with serving(replace(QUICK, message_bytes=100_000)) as (port, _):
        wire = await Wire.open(port)
        await wire.write(request("POST", "/", None, "Transfer-Encoding: chunked") + b"0\r\nX: ")
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                await wire.write(b"a" * 65_536)
        await wire.close()


async def test_a_method_that_nobody_knows_is_answered_as_any_other() -> None:
    async with serving() as (port, _):
        wire = await Wire.open(port)
        for method in ("GET", "FROBNICATE", "GET"):
            await wire.write(request(method, "/", b"abc"))
            assert (await wire.read()).body == b"3"
        await wire.close()


async def test_a_body_before_such_a_method_is_never_read_as_a_request() -> None:
    """A proxy may send requests of different people over one connection."""
    async with serving() as (port, app):
        wire = await Wire.open(port)
        odd = request("FROBNICATE", "/")
        body = request("GET", "/smuggled", None, f"Content-Length: {len(odd)}")
        await wire.write(request("POST", "/", None, f"Content-Length: {len(body)}"))
        await asyncio.sleep(0.1)
        await wire.write(body + odd)
        await closes(wire, 0)
        assert "/smuggled" not in app.paths


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\nHost: localhost\n\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    ],
)
async def test_what_is_not_http_only_loses_the_connection(raw: bytes) -> None:
    async with serving(replace(QUICK, first_byte=9, head=9, body=9)) as (port, _):
        wire = await Wire.open(port)
        await wire.write(raw)
        assert await closes(wire, 0) == b""
        assert (await ask(port, "GET", "/")).status == 200


async def test_an_upgrade_is_answered_as_the_request_that_it_is_and_ends_the_connection() -> None:
    async with serving() as (port, _):
        wire = await Wire.open(port)
        await wire.write(request("GET", "/", None, "Connection: Upgrade", "Upgrade: websocket"))
        assert (await wire.read()).status == 200
        assert await closes(wire, 0, 0.35) == b""


async def test_a_connection_serves_only_so_many_requests() -> None:
    async with serving(replace(QUICK, requests=3)) as (port, _):
        wire = await Wire.open(port)
        for n in range(3):
            await wire.write(request("GET", "/"))
            assert (await wire.read()).headers.get("connection") == ("close" if n == 2 else None)
        assert await closes(wire, 0, 0.3) == b""


async def test_one_address_holds_only_so_many_connections() -> None:
    async with serving(replace(QUICK, per_address=2, first_byte=5)) as (port, _):
        held = [await Wire.open(port) for _ in range(2)]
        assert await closes(await Wire.open(port), 0, 0.3) == b""
        await held[0].close()
        await asyncio.sleep(0.05)
        assert (await ask(port, "GET", "/")).status == 200
        await held[1].close()


async def test_trusted_proxies_may_hold_more_and_nobody_more_than_all() -> None:
    front = replace(QUICK, per_address=1, connections=3, proxies=Proxies([ip_network("127.0.0.1")]))
    async with serving(front) as (port, _):
        held = [await Wire.open(port) for _ in range(3)]
        assert await closes(await Wire.open(port), 0, 0.3) == b""
        for wire in held:
            await wire.close()


@asynccontextmanager
async def wires(port: int, *own: str) -> AsyncIterator[list[Wire]]:
    """A connection from each of these addresses."""
    opened = [await Wire.open(port, own=address) for address in own]
    try:
        yield opened
    finally:
        for wire in opened:
            await wire.close()


@pytest.mark.parametrize("sent", ["", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"])
async def test_who_holds_many_connections_gives_one_up_for_who_holds_none(sent: str) -> None:
    front = replace(QUICK, connections=6, per_address=5, first_byte=30, head=30, body=30, keep_alive=30)
    async with (
        serving(front) as (port, _),
        wires(port, "127.0.0.2") as [first],
        wires(port, *["127.0.0.3"] * 5) as held,
    ):
        await first.write(request("GET", "/"))
        assert (await first.read()).status == 200
        for wire in held:
            await wire.write(sent.encode())
        async with wires(port, "127.0.0.4", "127.0.0.5", "127.0.0.6") as newcomers:
            for wire in newcomers:
                await wire.write(request("GET", "/"))
                assert (await wire.read()).status == 200
            await first.write(request("GET", "/"))
            assert (await first.read()).status == 200, "who holds one keeps it"


async def test_a_request_that_is_being_answered_is_given_up_for_nobody() -> None:
    front = replace(QUICK, connections=3, per_address=5)
    async with serving(front) as (port, app), wires(port, *["127.0.0.3"] * 3) as busy:
        for wire in busy:
            await wire.write(request("GET", "/slow"))
        await app.entered.wait()
        async with wires(port, "127.0.0.4") as [newcomer]:
            assert await newcomer.read_to_end() == b""
        app.gate.set()
        assert [(await wire.read()).status for wire in busy] == [200] * 3


async def test_others_are_served_while_many_hold_on() -> None:
    async with serving(replace(QUICK, first_byte=5, per_address=300)) as (port, _):
        held = [await Wire.open(port) for _ in range(200)]
        times = []
        for _ in range(50):
            begun = asyncio.get_running_loop().time()
            assert (await ask(port, "GET", "/")).status == 200
            times.append(asyncio.get_running_loop().time() - begun)
        assert sorted(times)[-2] < 0.2
        for wire in held:
            await wire.close()


async def test_a_stop_lets_running_requests_finish_and_takes_no_new_ones() -> None:
    app = App()
    async with run_server(app, "127.0.0.1", 0, QUICK) as server:
        idle, busy = await Wire.open(server.port), await Wire.open(server.port)
        await busy.write(request("GET", "/slow"))
        await app.entered.wait()
        asyncio.get_running_loop().call_later(0.3, app.gate.set)
    seen = await busy.read()
    assert (seen.status, seen.headers["connection"]) == (200, "close")
    assert await idle.read_to_end() == b""
    with pytest.raises(ConnectionRefusedError):
        await Wire.open(server.port)
    await busy.close()
    await idle.close()


async def test_a_stop_does_not_wait_for_ever() -> None:
    app = App()
    guard = Guard(app, clock=SystemClock())
    begun = asyncio.get_running_loop().time()
    async with run_server(guard, "127.0.0.1", 0, QUICK) as server:
        wire = await Wire.open(server.port)
        await wire.write(request("GET", "/slow"))
        await app.entered.wait()
    assert 0.9 < asyncio.get_running_loop().time() - begun < 3
    seen = await wire.read()
    assert (seen.status, seen.code, seen.headers["retry-after"]) == (503, "unavailable", "1")
    await wire.close()


async def test_a_taken_port_is_an_error_of_the_system() -> None:
    async with serving() as (port, app):
        with pytest.raises(OSError, match="in use"):
            async with run_server(app, "127.0.0.1", port):
                pass


def test_connections_are_counted_by_network() -> None:
    connections = Connections(Front(per_address=2))
    for address in ("2001:db8::1", "2001:db8::2"):
        assert connections.admit(address)
        connections.hold(address)
    assert not connections.admit("2001:db8::3") and connections.admit("2001:db8:0:1::1")
    others = [f"2001:db8:0:{n:x}::1" for n in range(1, 19)]
    for address in others:
        connections.hold(address)
    assert not connections.admit("2001:db8:0:fff::1") and connections.admit("2001:db8:1::1")
    for address in (*others, "2001:db8::1", "2001:db8::2"):
        connections.release(address)
    assert connections.admit("2001:db8::3") and not connections._held
