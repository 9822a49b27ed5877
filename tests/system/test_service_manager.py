"""What is told to a service manager, and what is taken from it."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from esign.system.service_manager import ServiceManager, take_sockets
from tests.socket_passing import passed_sockets


@contextmanager
def listening_manager(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address)
        receiver.setblocking(False)
        yield receiver


async def receive(receiver: socket.socket) -> str:
    async with asyncio.timeout(10):
        return (await asyncio.get_running_loop().sock_recv(receiver, 1000)).decode()


@pytest.mark.parametrize("kind", ["path", "abstract"])
async def test_start_life_and_end_are_told(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "notify") if kind == "path" else f"\0esign-test-{os.getpid()}"
    with listening_manager(path) as receiver:
        environ = {"NOTIFY_SOCKET": path.replace("\0", "@"), "WATCHDOG_USEC": "20000", "OTHER": "stays"}
        manager = ServiceManager(environ)
        assert environ == {"OTHER": "stays"}
        async with manager.announce("serving"):
            assert await receive(receiver) == "READY=1\nSTATUS=serving"
            for _ in range(3):
                assert await receive(receiver) == "WATCHDOG=1"
        said = await receive(receiver)
        while said == "WATCHDOG=1":
            said = await receive(receiver)
        assert said == "STOPPING=1"


async def test_a_long_start_asks_for_more_time_until_it_is_ready(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")
    with listening_manager(path) as receiver:
        manager = ServiceManager({"NOTIFY_SOCKET": path})
        async with manager.extend_start(0.01):
            for _ in range(3):
                assert (await receive(receiver)).startswith("EXTEND_TIMEOUT_USEC=60000000")
            async with manager.announce("serving"):
                said = await receive(receiver)
                while said.startswith("EXTEND"):
                    said = await receive(receiver)
                assert said.startswith("READY=1")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await asyncio.get_running_loop().sock_recv(receiver, 1000)


async def test_the_watchdog_of_another_process_is_not_fed(tmp_path: Path) -> None:
    environ = {"NOTIFY_SOCKET": str(tmp_path / "n"), "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"}
    assert ServiceManager(environ).watchdog_seconds == 0


async def test_without_a_manager_or_with_a_deaf_one_nothing_happens(tmp_path: Path) -> None:
    for environ in ({}, {"NOTIFY_SOCKET": str(tmp_path / "nobody")}):
        async with ServiceManager(dict(environ)).announce("serving"):
            pass


PASSED = """
import os, socket
from esign.system.service_manager import take_sockets
taken = take_sockets()
print([(name, one.getsockname()[1], os.get_inheritable(one.fileno())) for name, one in taken], take_sockets(),
      [name for name in os.environ if name.startswith("LISTEN_")])
"""


def run_with_sockets(program: str, *listeners: socket.socket, names: str = "", pid: str = "") -> str:
    """What a program prints to which these sockets are passed."""
    with passed_sockets(*listeners, names=names, pid=pid) as (command, numbers):
        return subprocess.run(
            (*command, sys.executable, "-c", program),
            pass_fds=numbers,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()


def test_passed_sockets_are_taken_once_with_their_names() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = one.getsockname()[1], other.getsockname()[1]
        said = run_with_sockets(PASSED, one, other, names="https:http")
    assert said == f"[('https', {ports[0]}, False), ('http', {ports[1]}, False)] [] []"


def test_sockets_of_another_process_are_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        assert run_with_sockets(PASSED, one, pid="1") == "[] [] []"


def test_nothing_is_taken_where_nothing_was_passed() -> None:
    assert take_sockets({}) == []
    assert take_sockets({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "x"}) == []
