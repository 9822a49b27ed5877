"""Name servers that hang: nobody else waits for them, and the program ends in time."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

import pytest

from esign.mail.failure import TemporaryFailure
from esign.mail.message import MessageAddresses, NamedMailbox, compose_message
from esign.mail.sheet import Letter
from esign.mail.smtp import SmtpServer
from esign.net import OutboundClient, RequestFailed, TargetRefused, TargetRules
from esign.net.cares_resolver import NameResolver, write_address
from esign.net.time_limits import TimeLimits
from esign.system.clock import SystemClock
from esign.system.system_lookup import THREADS, SystemLookup
from tests.net.receiver import receiving

HEADERS = {"Content-Type": "application/json"}
SOON = 5.0  # seconds; far below what a hanging name server takes


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a name server on loopback that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield server.getsockname()[1]


@contextlib.asynccontextmanager
async def name_server(*addresses: str, code: int = 0) -> AsyncIterator[int]:
    """A name server that gives these IPv4 addresses, or this code of an error, for every name."""

    class Answers(asyncio.DatagramProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast(asyncio.DatagramTransport, transport)

        def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
            end = data.index(b"\0", 12) + 5
            wants = data[end - 4 : end - 2]
            found = [socket.inet_aton(one) for one in addresses] if wants == b"\0\1" else []
            head = (
                data[:2] + bytes((0x81, 0x80 | code)) + b"\0\1" + len(found).to_bytes(2, "big") + b"\0\0\0\0"
            )
            records = b"".join(b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + one for one in found)
            self.transport.sendto(head + data[12:end] + records, addr)

    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Answers, local_addr=("127.0.0.1", 0)
    )
    try:
        yield transport.get_extra_info("sockname")[1]
    finally:
        transport.close()


@contextlib.asynccontextmanager
async def outbound(resolver: NameResolver, rules: TargetRules | None = None) -> AsyncIterator[OutboundClient]:
    found = rules or TargetRules(allow_private=True)
    out = OutboundClient(lambda: found, SystemClock(), resolve=resolver)
    try:
        yield out
    finally:
        await out.close()
        await resolver.close()


async def test_names_that_get_no_answer_hold_up_no_other_delivery_and_no_thread(silent_server: int) -> None:
    async with receiving() as receiver, outbound(NameResolver([f"127.0.0.1:{silent_server}"])) as out:
        hanging = [
            asyncio.create_task(out.post(f"http://slow{n}.example.test:9999/", b"{}", HEADERS))
            for n in range(100)
        ]
        await asyncio.sleep(0.05)
        async with asyncio.timeout(SOON):
            answer = await out.post(f"http://127.0.0.1:{receiver.port}/", b"{}", HEADERS)
            await asyncio.gather(*(asyncio.to_thread(int) for _ in range(40)))
        assert answer.status == 200
        assert not any(task.done() for task in hanging)
        async with asyncio.timeout(SOON):
            await out.close()
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)


async def test_a_name_without_answer_is_a_failed_attempt_in_time(silent_server: int) -> None:
    async with outbound(NameResolver([f"127.0.0.1:{silent_server}"])) as out:
        with pytest.raises(RequestFailed, match=r"^connect_timeout: "):
            await out.post("http://slow.example.test:9999/", b"{}", HEADERS, limits=TimeLimits(connect=0.2))


async def test_what_a_name_server_says_is_judged_as_before() -> None:
    async with receiving() as receiver, name_server("127.0.0.1") as port:
        async with outbound(NameResolver([f"127.0.0.1:{port}"])) as out:
            url = f"http://hooks.example.test:{receiver.port}/"
            assert (await out.post(url, b"{}", HEADERS)).status == 200
        async with outbound(NameResolver([f"127.0.0.1:{port}"]), TargetRules()) as out:
            with pytest.raises(TargetRefused, match="address_refused"):
                await out.post(f"https://hooks.example.test:{receiver.port}/", b"{}", HEADERS)
        assert receiver.connections == 1


async def test_one_forbidden_address_among_others_bars_the_name() -> None:
    async with (
        name_server("93.184.216.34", "169.254.169.254") as port,
        outbound(NameResolver([f"127.0.0.1:{port}"]), TargetRules()) as out,
    ):
        with pytest.raises(TargetRefused, match="address_refused"):
            await out.post("https://hooks.example.test/", b"{}", HEADERS)


@pytest.mark.parametrize("code", [2, 5])  # SERVFAIL, REFUSED
async def test_a_name_server_that_cannot_say_is_not_taken_for_a_name_without_address(code: int) -> None:
    async with name_server(code=code) as port, outbound(NameResolver([f"127.0.0.1:{port}"])) as out:
        with pytest.raises(RequestFailed, match=r"^name_unanswered: "):
            await out.post("http://hooks.example.test:9999/", b"{}", HEADERS)


@pytest.mark.parametrize("code", [0, 3])  # NXDOMAIN
async def test_a_name_that_does_not_exist_is_told(code: int) -> None:
    async with name_server(code=code) as port, outbound(NameResolver([f"127.0.0.1:{port}"])) as out:
        with pytest.raises(RequestFailed, match=r"^name_not_found: "):
            await out.post("http://nowhere.example.test:9999/", b"{}", HEADERS)


async def test_the_hosts_file_counts() -> None:
    resolver = NameResolver()
    try:
        assert set(await resolver("localhost")) & {"127.0.0.1", "::1"}
    finally:
        await resolver.close()


def test_an_address_within_an_interface_keeps_its_number() -> None:
    assert write_address(b"fe80::1", 0, 0, 3) == "fe80::1%3"
    assert write_address(b"192.0.2.1", 0) == "192.0.2.1" and write_address(b"::1", 0, 0, 0) == "::1"


# ---------- names of the settings ----------


class Hanging:
    """A resolver of the system that hangs for some names until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked: list[str] = []

    def __call__(self, host: str, *rest: Any, **more: Any) -> Any:
        self.asked.append(host)
        if host.startswith("slow"):
            self.let_go.wait(60)
        return socket.getaddrinfo("127.0.0.1", *rest, **more)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    found = Hanging()
    yield found
    found.let_go.set()


async def test_a_hanging_system_resolver_holds_a_thread_of_its_own(hanging: Hanging) -> None:
    lookup = SystemLookup(hanging, patience=0.1)
    async with asyncio.timeout(SOON):
        found = await asyncio.gather(*(lookup("slow.test") for _ in range(20)), return_exceptions=True)
        assert all(isinstance(one, OSError) for one in found) and hanging.asked == ["slow.test"]
        assert await lookup("mail.test") == ["127.0.0.1"] and await lookup("192.0.2.1") == ["192.0.2.1"]
        await asyncio.gather(*(asyncio.to_thread(int) for _ in range(40)))
        for n in range(THREADS - 1):
            with pytest.raises(OSError, match="did not answer"):
                await lookup(f"slow{n}.test")
        with pytest.raises(OSError, match="too many names"):
            await lookup("another.test")
        hanging.let_go.set()
        while lookup._asked:  # noqa: ASYNC110  the threads tell nobody
            await asyncio.sleep(0.01)
        assert await lookup("another.test") == ["127.0.0.1"]


def a_message() -> EmailMessage:
    return compose_message(
        Letter("Please sign", "Please sign.", "<p>Please sign.</p>"),
        MessageAddresses(NamedMailbox("sign@example.test"), NamedMailbox("ada@example.test")),
        message_id="eml_1@example.test",
        at=0,
    )


async def test_a_mail_whose_server_has_no_answer_from_its_name_server_waits(hanging: Hanging) -> None:
    smtp = SmtpServer("slow.test", 25, "none", lookup=SystemLookup(hanging, patience=0.1))
    with pytest.raises(TemporaryFailure, match=r"did not answer for slow\.test"):
        await smtp.send(a_message())


def test_the_program_ends_while_a_lookup_hangs(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text(
        "import asyncio, threading\n"
        "from esign.system.system_lookup import SystemLookup\n"
        "async def main():\n"
        "    lookup = SystemLookup(lambda *a, **k: threading.Event().wait(600), patience=0.1)\n"
        "    try:\n"
        "        await lookup('slow.test')\n"
        "    except OSError as error:\n"
        "        print(error)\n"
        "asyncio.run(main())\n"
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, timeout=60, check=True)
    assert b"did not answer" in ran.stdout
