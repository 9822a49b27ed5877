"""The server with TLS: requests as before, and a handshake that must begin and end in time."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from esign.web.http.listeners import bind_socket
from esign.web.http.server import Front, run_server_on
from tests.https.pairs import make_authority, make_pair
from tests.journeys.api import until
from tests.web.http.test_server import QUICK, App, closes
from tests.web.wire import Wire, request


@asynccontextmanager
async def serving(folder: Path, front: Front = QUICK) -> AsyncIterator[tuple[int, App, ssl.SSLContext]]:
    root = make_authority()
    pair = make_pair("localhost", issuer=root)
    (folder / "pair.pem").write_bytes(pair.key + pair.chain)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(folder / "pair.pem")
    app = App()
    async with run_server_on(bind_socket("127.0.0.1", 0), app, front, tls) as server:
        yield server.port, app, ssl.create_default_context(cadata=root.chain.decode())


async def open_secure(port: int, trust: ssl.SSLContext) -> Wire:
    return Wire(*await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname="localhost"))


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["silent", "half a handshake"])
async def test_a_client_that_does_not_shake_hands_is_left(tmp_path: Path, said: bytes) -> None:
    async with serving(tmp_path) as (port, _, _):
        wire = await Wire.open(port)
        await wire.write(said)
        await closes(wire, 0.3)


async def test_a_client_of_plain_http_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as (port, app, _):
        wire = await Wire.open(port)
        await wire.write(request("GET", "/"))
        assert b"HTTP/" not in await asyncio.wait_for(wire.read_to_end(), 5)
        await wire.close()
        assert app.paths == []


async def test_requests_are_answered_and_deadlines_hold_as_without(tmp_path: Path) -> None:
    async with serving(tmp_path) as (port, _, trust):
        wire = await open_secure(port, trust)
        await wire.write(request("POST", "/", b"x" * 100_000))
        assert (await wire.read()).body == b"100000"
        await closes(wire, 0.3)
        await closes(await open_secure(port, trust), 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("Connection: close",)], ids=["kept", "closed"])
async def test_a_slow_reader_gets_all_of_a_large_answer(tmp_path: Path, more: tuple[str, ...]) -> None:
    """It takes far longer than the time for another request, or for the end of a connection."""
    async with serving(tmp_path) as (port, _, trust):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=trust, server_hostname="localhost"
        )
        writer.write(request("GET", "/large", None, *more))
        await reader.readuntil(b"\r\n\r\n")
        for part in range(15):
            await asyncio.wait_for(reader.readexactly(2_000_000), 5)
            await asyncio.sleep(0.1 if part < 10 else 0)
        writer.close()


@pytest.mark.slow
async def test_a_client_that_reads_nothing_is_left(tmp_path: Path) -> None:
    async with serving(tmp_path) as (port, app, trust):
        wire = await open_secure(port, trust)
        await wire.write(request("GET", "/large"))
        await until(lambda: asyncio.sleep(0, app.gone), "request")
        assert app.gone is not None
        await asyncio.wait_for(app.gone, 10)
        assert len(await asyncio.wait_for(wire.read_to_end(), 5)) < 30_000_000
        await wire.close()


async def test_a_client_that_does_not_answer_the_farewell_is_left(tmp_path: Path) -> None:
    """The kernel takes the farewell, and the client says nothing."""
    async with serving(tmp_path) as (port, app, trust):
        silent = await asyncio.to_thread(shake_hands, port, trust)
        silent.sendall(request("GET", "/"))
        await until(lambda: asyncio.sleep(0, app.gone), "request")
        assert app.gone is not None
        await asyncio.wait_for(app.gone, 10)
        silent.close()


def shake_hands(port: int, trust: ssl.SSLContext) -> ssl.SSLSocket:
    return trust.wrap_socket(socket.create_connection(("127.0.0.1", port), 5), server_hostname="localhost")


# ---------- clients that only begin ----------


class Crowd:
    """Connections of one address of this machine that say nothing."""

    def __init__(self) -> None:
        self.streams = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]()

    def count_open(self) -> int:
        """How many of them the server has not closed."""
        return sum(not (reader.at_eof() or reader.exception()) for reader, _ in self.streams)

    async def leave(self) -> None:
        for _, writer in self.streams:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in self.streams), return_exceptions=True)


@asynccontextmanager
async def crowding(port: int, number: int) -> AsyncIterator[Crowd]:
    crowd = Crowd()
    try:
        for _ in range(number):
            crowd.streams.append(await asyncio.open_connection("127.0.0.1", port))
        yield crowd
    finally:
        await crowd.leave()


async def is_served(port: int, trust: ssl.SSLContext, address: str) -> bool:
    try:
        streams = await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(address, 0), ssl=trust, server_hostname="localhost"
        )
    except OSError:
        return False
    wire = Wire(*streams)
    await wire.write(request("GET", "/", None, "Connection: close"))
    answer = await wire.read()
    await wire.close()
    return answer.status == 200


async def test_handshakes_of_one_address_are_limited_and_others_go_on(tmp_path: Path) -> None:
    patient = replace(QUICK, first_byte=60, per_address=10)
    async with serving(tmp_path, patient) as (port, _, trust), crowding(port, 30) as crowd:
        await until(lambda: asyncio.sleep(0, crowd.count_open() == 10 or None), "limit of handshakes")
        assert not await is_served(port, trust, "127.0.0.1")
        assert await is_served(port, trust, "127.1.0.1")
        await crowd.leave()

        async def is_served_again() -> bool | None:
            return await is_served(port, trust, "127.0.0.1") or None

        await until(is_served_again, "place of a handshake that ended")


async def test_where_all_places_are_taken_the_network_with_most_handshakes_makes_room(tmp_path: Path) -> None:
    patient = replace(QUICK, first_byte=60, per_address=10, connections=10)
    async with serving(tmp_path, patient) as (port, _, trust), crowding(port, 10) as crowd:
        assert await is_served(port, trust, "127.1.0.1")
        await until(lambda: asyncio.sleep(0, crowd.count_open() == 9 or None), "end of a handshake")


def is_open(one: socket.socket) -> bool:
    """Whether the server has not closed this connection, on which nothing was said."""
    try:
        return bool(one.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False


async def test_a_place_is_given_once_however_many_networks_ask_at_the_same_time(tmp_path: Path) -> None:
    """What makes room ends a moment later."""
    patient = replace(QUICK, first_byte=60, per_address=10, connections=10)
    async with serving(tmp_path, patient) as (port, _, _), crowding(port, 10) as crowd:
        others = [socket.socket() for _ in range(40)]
        for number, one in enumerate(others, 1):
            one.bind((f"127.{number}.0.1", 0))
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))

        async def count_places() -> bool | None:
            return crowd.count_open() + sum(map(is_open, others)) <= 12 or None

        try:
            await until(count_places, "end of all for whom there is no place")
            assert any(map(is_open, others))
        finally:
            for one in others:
                one.close()


async def test_handshakes_that_run_end_with_the_server(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with serving(tmp_path, replace(QUICK, first_byte=60)) as (port, _, _):
            crowd = await stack.enter_async_context(crowding(port, 3))
            assert crowd.count_open() == 3
        await until(lambda: asyncio.sleep(0, crowd.count_open() == 0 or None), "end of the handshakes")
