"""An authority for certificates on this machine: pebble, with a DNS server that says what a test wants."""

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.https.pairs import make_authority, make_pair
from tests.ports import reserve_port

HOST = "sign.example.com"
LIVES = 90 * 86_400  # seconds of a certificate, as at Let's Encrypt
PATIENCE = 20.0


@dataclass
class Pebble:
    """`http_port` is the port at which it asks for proofs; `trust` are the roots of its own https."""

    folder: Path
    http_port: int
    directory: str
    trust: Path
    dns: str
    ports: tuple[int, int]
    validity: int = LIVES
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Return when it answers; it knows nothing of an earlier life."""
        config = {
            "listenAddress": f"127.0.0.1:{self.ports[0]}",
            "managementListenAddress": f"127.0.0.1:{self.ports[1]}",
            "certificate": str(self.folder / "own.pem"),
            "privateKey": str(self.folder / "own.key"),
            "httpPort": self.http_port,
            "tlsPort": self.ports[1],  # unused
            "certificateValidityPeriod": self.validity,
        }
        file = self.folder / "pebble.json"
        file.write_text(json.dumps({"pebble": config}))
        with (self.folder / "pebble.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                "pebble", "-config", file, "-dnsserver", self.dns,
                env={"PEBBLE_VA_NOSLEEP": "1", "PATH": "/usr/bin:/bin"},
                stdout=log, stderr=log,
            )  # fmt: skip
        await until_open(self.ports[0])

    async def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            await self.process.wait()
            self.process = None

    @property
    def said(self) -> str:
        return (self.folder / "pebble.log").read_text()


@dataclass(frozen=True)
class Dns:
    """The DNS as pebble sees it: every name leads to one address."""

    management: int

    async def lead_to(self, address: str) -> None:
        async with aiohttp.ClientSession() as session:
            for path, ip in (("set-default-ipv4", address), ("set-default-ipv6", "")):
                url = f"http://127.0.0.1:{self.management}/{path}"
                async with session.post(url, json={"ip": ip}) as answer:
                    assert answer.status == 200


@asynccontextmanager
async def running_pebble(folder: Path, validity: int = LIVES) -> AsyncIterator[tuple[Pebble, Dns]]:
    """An authority that runs, and its DNS."""
    assert shutil.which("pebble") and shutil.which("pebble-challtestsrv"), "packaging/test installs pebble"
    write_own_certificate(folder)
    directory, management, dns, steering, http = (reserve_port() for _ in range(5))
    server = await asyncio.create_subprocess_exec(
        "pebble-challtestsrv", "-defaultIPv6", "", "-dns01", f"127.0.0.1:{dns}",
        "-management", f"127.0.0.1:{steering}", "-http01", "", "-https01", "", "-tlsalpn01", "",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    pebble = Pebble(
        folder,
        http,
        f"https://127.0.0.1:{directory}/dir",
        folder / "root.pem",
        f"127.0.0.1:{dns}",
        (directory, management),
        validity,
    )
    try:
        await until_open(steering)
        await pebble.start()
        yield pebble, Dns(steering)
    finally:
        await pebble.stop()
        server.kill()
        await server.wait()


def write_own_certificate(folder: Path) -> None:
    """Write what the authority shows to its clients."""
    folder.mkdir()
    root = make_authority()
    own = make_pair("localhost", "127.0.0.1", issuer=root)
    (folder / "own.pem").write_bytes(own.chain)
    (folder / "own.key").write_bytes(own.key)
    (folder / "root.pem").write_bytes(root.chain)


async def until_open(port: int) -> None:
    """Return when something listens."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                await asyncio.sleep(0.02)
            else:
                return
