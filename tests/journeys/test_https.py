"""The program speaks https by itself: as a process with files, and with an authority in this process."""

import asyncio
import errno
import re
import signal
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from esign.app import PLAIN_CONNECTIONS, App, open_runtime, run_plain
from esign.cli.exit_codes import describe_refusal
from esign.config import Config
from esign.jobs import renew_https
from esign.runtime import Runtime
from esign.store.engine.connections import FILE
from esign.system.clock import SystemClock
from esign.web.http.listeners import open_listeners
from esign.web.http.server import run_server_on
from tests.fakes import FakeClock
from tests.https.conftest import connect, find_shown, read_serial
from tests.https.pairs import make_authority, make_pair
from tests.https.pebble import HOST, Pebble, running_pebble
from tests.journeys.api import until
from tests.journeys.program import COMMAND, Program, assert_readable, environment, esign
from tests.ports import reserve_port
from tests.pristine import SPARE, lay_database
from tests.socket_passing import passed_sockets


class Here(AbstractResolver):
    """Every name leads to this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host="127.0.0.1",
                port=port,
                family=family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    async def close(self) -> None:
        pass


def browser(root: bytes) -> aiohttp.ClientSession:
    """A client that trusts this root alone and believes every name is here."""
    context = ssl.create_default_context(cadata=root.decode())
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context, resolver=Here()))


async def get(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
    async with session.get(url, allow_redirects=False) as answer:
        body = await answer.json() if "json" in answer.content_type else await answer.text()
        return answer.status, answer.headers.get("Location") or body


# ---------- an authority ----------


@dataclass
class SecureSite:
    """A program in this process with certificates of pebble; its clock stands still."""

    runtime: Runtime
    clock: FakeClock
    pebble: Pebble
    port: int

    @property
    def base(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def plain(self) -> str:
        return f"http://{HOST}:{self.pebble.http_port}"

    async def order(self) -> int:
        return await renew_https.tick(self.runtime)

    async def trust(self) -> aiohttp.ClientSession:
        """A browser that trusts what pebble issues in this life."""
        own = ssl.create_default_context(cafile=str(self.pebble.trust))
        url = f"https://127.0.0.1:{self.pebble.ports[1]}/roots/0"
        async with aiohttp.ClientSession() as session, session.get(url, ssl=own) as answer:
            return browser(await answer.read())


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[SecureSite]:
    async with AsyncExitStack() as stack:
        pebble, _ = await stack.enter_async_context(running_pebble(tmp_path / "pebble"))
        taken, clock = pebble.http_port, FakeClock(SystemClock().now())
        port = next(found for found in iter(reserve_port, None) if found != taken)
        server = {
            "https": "auto",
            "host": "127.0.0.1",
            "port": port,
            "http_port": pebble.http_port,
            "base_url": f"https://{HOST}:{port}",
            "acme_directory": pebble.directory,
            "acme_trust": pebble.trust,
        }
        storage = {"data_dir": tmp_path / "data", "spare_mib": SPARE}
        config = Config.model_validate({"server": server, "storage": storage})
        lay_database(config.storage.data_dir / FILE)
        runtime = await stack.enter_async_context(open_runtime(config, clock))
        app = App(runtime)
        stack.push_async_callback(app.settle)
        sockets = open_listeners(config.server)
        assert runtime.https is not None
        await stack.enter_async_context(run_plain(app, sockets))
        await stack.enter_async_context(run_server_on(sockets.server, app, app.front, runtime.https.tls))
        yield SecureSite(runtime, clock, pebble, port)


async def test_from_nothing_to_https_and_on_under_load(secure: SecureSite) -> None:
    """The first certificate, and its renewal while requests go on: none fails, and no connection is cut."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(resolver=Here())) as plain:
        status, said = await get(plain, f"{secure.plain}/sign-in")
        assert (status, said) == (
            503,
            "This server has no certificate for https yet. \n".replace(". \n", ".\n"),
        )
        status, ready = await get(plain, f"{secure.plain}/readyz")
        assert (status, ready["checks"]["https"]) == (503, "no certificate")
        assert await secure.order() == 1
        assert await get(plain, f"{secure.plain}/sign-in?a=1") == (308, f"{secure.base}/sign-in?a=1")
        assert (await get(plain, f"{secure.plain}/readyz"))[1]["checks"]["https"] == "ok"
    async with await secure.trust() as session:
        async with session.get(f"{secure.base}/sign-in") as page:
            assert page.status == 200 and "max-age" in page.headers["Strict-Transport-Security"]
        secure.clock.advance(days=61)
        reader, writer = await connect(secure.port)
        done, answers, first = asyncio.Event(), [0], read_serial(writer)
        assert await ask_over(reader, writer) == b"HTTP/1.1 200 OK\r\n"

        async def load(**headers: str) -> None:
            """Ask again and again, over one connection or over a new one each time."""
            while not done.is_set():
                async with session.get(f"{secure.base}/healthz", headers=headers) as answer:
                    assert answer.status == 200
                answers[0] += 1

        async with asyncio.TaskGroup() as group:
            for headers in ({}, {}, {"Connection": "close"}):
                group.create_task(load(**headers))
            await until(lambda: asyncio.sleep(0, answers[0] > 20 or None), "requests before")
            assert await secure.order() == 1
            before = answers[0]
            await until(lambda: asyncio.sleep(0, answers[0] > before + 20 or None), "requests behind")
            done.set()
        assert await find_shown(secure.port) != first
        assert await ask_over(reader, writer) == b"HTTP/1.1 200 OK\r\n", "the connection from before goes on"
        writer.close()


async def test_silent_connections_to_plain_http_take_no_place_of_https(secure: SecureSite) -> None:
    """Of 300 from 30 networks the plain port keeps as many as it may, answers a newcomer, and https has its own."""
    assert await secure.order() == 1
    surplus, ended = 300 - PLAIN_CONNECTIONS, 0

    async def wait_for_end(reader: asyncio.StreamReader) -> None:
        nonlocal ended
        with suppress(ConnectionResetError):
            await reader.read()
        ended += 1

    async with asyncio.TaskGroup() as group:
        opened = []
        for number in range(300):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", secure.pebble.http_port, local_addr=(f"127.0.{1 + number // 10}.1", 0)
            )
            opened.append((writer, group.create_task(wait_for_end(reader))))
        await until(lambda: asyncio.sleep(0, ended == surplus or None), "end of what is too many")
        newcomer = aiohttp.TCPConnector(resolver=Here(), local_addr=("127.0.200.1", 0))
        async with aiohttp.ClientSession(connector=newcomer) as plain:
            assert (await get(plain, f"{secure.plain}/sign-in"))[0] == 308
        async with await secure.trust() as session:
            assert (await get(session, f"{secure.base}/sign-in"))[0] == 200
        for writer, task in opened:
            task.cancel()
            writer.close()
        assert ended <= surplus + 1, "the newcomer took the place of one"


async def ask_over(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The status line of an answer over a connection that stays open."""
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: sign.example.com\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(len(b'{"status":"ok"}'))
    return head.partition(b"\r\n")[0] + b"\r\n"


async def test_what_is_wrong_is_told_to_machines_in_short_and_on_port_80_with_the_remedy(
    secure: SecureSite,
) -> None:
    await secure.pebble.stop()
    assert await secure.order() == 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(resolver=Here())) as plain:
        status, ready = await get(plain, f"{secure.plain}/readyz")
        assert status == 503
        assert ready["checks"]["https"] == "no certificate: the authority cannot be reached"
        assert ready["warnings"] == ["https: the authority cannot be reached"]
        status, said = await get(plain, f"{secure.plain}/")
        assert status == 503 and "The authority at 127.0.0.1 can’t be reached." in said
        await secure.pebble.start()
        secure.clock.advance(minutes=1)
        assert await secure.order() == 1
        secure.clock.advance(days=61)
        await secure.pebble.stop()
        assert await secure.order() == 0
        status, ready = await get(plain, f"{secure.plain}/readyz")
        assert (status, ready["checks"]["https"]) == (200, "ok"), "the certificate holds for 29 days more"
        assert ready["warnings"] == ["https: the authority cannot be reached"]
        secure.clock.advance(days=30)
        status, ready = await get(plain, f"{secure.plain}/readyz")
        assert ready["checks"]["https"] == "certificate expired: the authority cannot be reached"


# ---------- files, and a service manager ----------


@dataclass
class SecureProgram:
    """`esign serve` with certificate files, started as systemd starts it: with sockets and a place for notes."""

    program: Program
    notes: list[str]
    folder: Path
    root: bytes
    ports: tuple[int, int]

    async def wait_for_note(self, note: str, times: int = 1) -> None:
        await until(lambda: asyncio.sleep(0, self.notes.count(note) >= times or None), note)


async def read_notes(receiver: socket.socket, notes: list[str]) -> None:
    """Collect what the program tells its service manager."""
    while True:
        notes.append((await asyncio.get_running_loop().sock_recv(receiver, 1000)).decode())


@asynccontextmanager
async def secure_program(folder: Path) -> AsyncIterator[SecureProgram]:
    root = make_authority()
    pair = make_pair("sign.example.com", issuer=root)
    (folder / "site.pem").write_bytes(pair.chain)
    (folder / "site.key").write_bytes(pair.key)
    config = folder / "esign.toml"
    config.write_text(
        '[server]\nhttps = "files"\nport = 443\nbase_url = "https://sign.example.com"\n'
        'https_certificate = "site.pem"\nhttps_key = "site.key"\n'
        '[storage]\ndata_dir = "data"\nspare_mib = 4\n[metrics]\ntoken = "for Prometheus alone"\n'
    )
    (folder / "data").mkdir(mode=0o700)
    lay_database(folder / "data" / FILE)
    with (
        socket.create_server(("127.0.0.1", 0)) as https,
        socket.create_server(("127.0.0.1", 0)) as http,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver,
    ):
        receiver.bind(str(folder / "notify"))
        receiver.setblocking(False)
        program = Program(config)
        with (
            program.log.open("ab") as log,
            passed_sockets(https, http, names="https:http") as (command, numbers),
        ):
            program._process = await asyncio.create_subprocess_exec(
                *command, *COMMAND, "serve", "--config", config,
                env=environment({"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "400000"}),
                stderr=log, pass_fds=numbers,
            )  # fmt: skip
        ports = https.getsockname()[1], http.getsockname()[1]
        notes = list[str]()
        reading = asyncio.create_task(read_notes(receiver, notes))
        try:
            yield SecureProgram(program, notes, folder, root.chain, ports)
        finally:
            reading.cancel()
            if program.process.returncode is None:
                await program.kill()


async def read_time_left(session: aiohttp.ClientSession, base: str) -> float:
    """Return the seconds until the certificate for HTTPS ends, as Prometheus sees them."""
    async with session.get(
        f"{base}/metrics", headers={"Authorization": "Bearer for Prometheus alone"}
    ) as answer:
        text = await answer.text()
    [left] = re.findall(r'^esign_certificate_left_seconds\{certificate="https"\} (\S+)$', text, re.MULTILINE)
    return float(left)


async def test_a_service_with_files_and_sockets_of_the_service_manager(tmp_path: Path) -> None:
    async with secure_program(tmp_path) as site, browser(site.root) as session:
        await site.wait_for_note("READY=1\nSTATUS=serving https://sign.example.com")
        await site.wait_for_note("WATCHDOG=1", 2)
        base = f"https://sign.example.com:{site.ports[0]}"
        assert (await get(session, f"{base}/healthz"))[0] == 200
        assert 364 * 86_400 < await read_time_left(session, base) < 365 * 86_400
        plain = f"http://sign.example.com:{site.ports[1]}"
        assert await get(session, f"{plain}/sign-in") == (308, "https://sign.example.com/sign-in")
        (tmp_path / "site.pem").write_bytes(b"no certificate")

        async def warn() -> bool | None:
            said = (await get(session, f"{base}/readyz"))[1]
            return said.get("warnings") == ["https: there is no certificate in its file"] or None

        await until(warn, "the warning")
        assert await site.program.stop(signal.SIGTERM) == 0
        await site.wait_for_note("STOPPING=1")
        notes = [note for note in site.notes if not note.startswith("EXTEND_TIMEOUT_USEC=")]
        assert set(notes[1:-1]) == {"WATCHDOG=1"} and notes[-1] == "STOPPING=1"
        said = site.program.said
        assert_readable(said)
        assert f"https: {tmp_path}/site.pem holds no certificate in PEM" in said.replace("\\u2019", "’")


@pytest.mark.parametrize(
    ("server", "code", "said"),
    [
        (
            'https = "files"\nbase_url = "https://sign.example.com"\n'
            'https_certificate = "none.pem"\nhttps_key = "none.key"',
            2,
            "none.pem cannot be read (No such file or directory)",
        ),
        ('user = "no-such-user"', 2, "server.user: there is no user no-such-user on this machine"),
        ('https = "auto"', 2, "server.base_url: not set; an address such as https://sign.example.com"),
    ],
)
def test_what_keeps_it_from_starting_has_a_sentence_and_a_code(
    tmp_path: Path, server: str, code: int, said: str
) -> None:
    config = tmp_path / "esign.toml"
    port = "" if "port" in server else f"port = {reserve_port()}\n"
    config.write_text(
        f'[server]\n{port}http_port = 0\n{server}\n[storage]\ndata_dir = "data"\nspare_mib = 4\n', "utf-8"
    )
    ran = esign("serve", "--config", config)
    assert (ran.code, said in ran.err) == (code, True), ran.err


def test_a_port_below_1024_without_the_right_names_three_ways() -> None:
    """No test opens one: whether it may depends on the machine."""
    code, said = describe_refusal(PermissionError(errno.EACCES, "::, port 443: Permission denied"))
    assert code == 1
    assert said == (
        "::, port 443: Permission denied; set server.port to 1024 or more, start esign as root with server.user, let"
        " systemd open the port, or give esign AmbientCapabilities=CAP_NET_BIND_SERVICE"
    )
