"""Tries to reach forbidden addresses through `esign.net`: by 200 spellings, 40 scripts of a name server, 10 redirects.

`python -m tests.reliability.forbidden_attempts` prints, as JSON, the ports that may be dialled and what was tried.
"""

import asyncio
import json
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast

from esign.net import OutboundClient, RequestFailed, TargetRefused, TargetRules
from esign.net.cares_resolver import NameResolver
from esign.net.time_limits import TimeLimits
from esign.system.clock import SystemClock
from tests.net.receiver import answering, receiving

HEADERS, BODY = {"Content-Type": "application/json"}, b"{}"
SOON = TimeLimits(5.0, connect=2.0)
PUBLIC, PUBLIC6 = "93.184.216.34", "2606:4700:4700::1111"
FORBIDDEN = (
    "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.5.5", "172.31.255.255", "192.168.1.1", "169.254.169.254", "0.0.0.0",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.7", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
)  # fmt: skip
FORBIDDEN6 = (
    "::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "ff02::1", "2001:db8::1",
    "2001:0:7f00:1::", "2002:7f00:1::", "3fff::1", "5f00::1", "100::1", "64:ff9b::7f00:1", "::ffff:127.0.0.1",
    "::127.0.0.1", "200::1", "4000::1", "8000::7f00:1",
)  # fmt: skip
NXDOMAIN = 3


@dataclass(frozen=True)
class Said:
    """One answer of the name server to both questions for a name; `alias` is said before the addresses."""

    four: tuple[str, ...] = ()
    six: tuple[str, ...] = ()
    alias: bool = False
    code: int = 0


def spell(address: str) -> list[str]:
    """Return an IPv4 address in nine ways in which some program reads it."""
    one, two, three, four = map(int, address.split("."))
    number = int(ip_address(address))
    return [
        address,
        str(number),
        f"0x{number:08x}",
        f"0{one:o}.0{two:o}.0{three:o}.0{four:o}",
        f"{one}.{two}.{three * 256 + four}",
        f"[::ffff:{address}]",
        f"[64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}]",
        f"ok.test@{address}",
        f"{address}.",
    ]


def list_urls() -> list[str]:
    """Return 200 addresses of receivers that nobody may reach."""
    hosts = [host for address in FORBIDDEN for host in spell(address)] + [f"[{six}]" for six in FORBIDDEN6]
    return [f"{'http' if number % 2 else 'https'}://{host}/hook" for number, host in enumerate(hosts)]


def list_scripts() -> dict[str, list[Said]]:
    """Return 40 names, each with the answers that the name server gives one after the other, the last for ever."""
    scripts: dict[str, list[Said]] = {}
    for n, (four, six) in enumerate(zip(FORBIDDEN[:8], FORBIDDEN6[:8], strict=True)):
        scripts[f"rebound{n}.test"] = [Said((PUBLIC,)), Said((four,))]
        scripts[f"mixed{n}.test"] = [Said((PUBLIC, four), (PUBLIC6,))]
        scripts[f"six{n}.test"] = [Said((), (six,))]
        scripts[f"alias{n}.test"] = [Said((four,), alias=True)]
        scripts[f"late{n}.test"] = [Said(code=NXDOMAIN), Said((four,), (six,))]
    return scripts


class NameServer(asyncio.DatagramProtocol):
    """Answers by scripts, with a time to live of 0."""

    def __init__(self, scripts: dict[str, list[Said]]) -> None:
        self.scripts = scripts
        self.turns: Counter[str] = Counter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        end = data.index(b"\0", 12) + 5
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        name = ".".join(labels).lower()
        script = self.scripts.get(name, [Said(code=NXDOMAIN)])
        said = script[min(self.turns[name], len(script) - 1)]
        self.transport.sendto(self.write_answer(data, end, said), addr)

    def write_answer(self, data: bytes, end: int, said: Said) -> bytes:
        """Return the answer to one question."""
        family = socket.AF_INET if data[end - 4 : end - 2] == b"\0\1" else socket.AF_INET6
        found = said.four if family == socket.AF_INET else said.six
        kind = data[end - 4 : end - 2]
        owner, records = b"\xc0\x0c", []
        if said.alias and found:
            alias = b"\x05other\x04test\0"
            records.append(b"\xc0\x0c\0\5\0\1\0\0\0\0" + len(alias).to_bytes(2, "big") + alias)
            owner = alias
        for address in found:
            packed = socket.inet_pton(family, address)
            records.append(owner + kind + b"\0\1\0\0\0\0" + len(packed).to_bytes(2, "big") + packed)
        head = (
            data[:2] + bytes((0x81, 0x80 | said.code)) + b"\0\1" + len(records).to_bytes(2, "big") + bytes(4)
        )
        return head + data[12:end] + b"".join(records)


@asynccontextmanager
async def outbound(rules: TargetRules, resolver: NameResolver) -> AsyncIterator[OutboundClient]:
    """The client by which webhooks leave."""
    out = OutboundClient(lambda: rules, SystemClock(), resolve=resolver)
    try:
        yield out
    finally:
        await out.close()


async def attempt(out: OutboundClient, url: str) -> str:
    """Return `address_refused` or another word for why nothing was sent, `failed`, or the status of an answer."""
    try:
        return str((await out.post(url, BODY, HEADERS, plain_allowed=True, limits=SOON)).status)
    except TargetRefused as refusal:
        return str(refusal).partition(":")[0]
    except RequestFailed:
        return "failed"


async def try_names(scripts: dict[str, list[Said]], server: NameServer, resolver: NameResolver) -> list[str]:
    """Return what came of each name whose owner changes or mixes its addresses."""
    found = []
    async with outbound(TargetRules(), resolver) as out:
        for name, script in scripts.items():
            for turn in range(len(script) - 1):
                try:
                    await resolver(name)  # as when the webhook was registered
                except OSError:
                    assert script[turn].code == NXDOMAIN
                server.turns[name] += 1
            found.append(await attempt(out, f"https://{name}/hook"))
    return found


async def try_redirects(resolver: NameResolver, inner: int) -> tuple[list[int], list[str]]:
    """Return the ports that may be dialled and what came of answers that send elsewhere."""
    ports, found = [], []
    targets = (f"http://127.0.0.1:{inner}/", "http://169.254.169.254/latest/")
    for status in (301, 302, 303, 307, 308):
        for target in targets:
            moved = f"HTTP/1.1 {status} Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
            async with receiving(answering(moved.encode())) as receiver:
                ports.append(receiver.port)
                async with outbound(TargetRules(loopback_allowed=True), resolver) as out:
                    found.append(await attempt(out, f"http://127.0.0.1:{receiver.port}/"))
                assert len(receiver.requests) == 1
    return ports, found


async def main() -> None:
    scripts = list_scripts()
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: NameServer(scripts), local_addr=("127.0.0.1", 0)
    )
    port = transport.get_extra_info("sockname")[1]
    resolver = NameResolver([f"127.0.0.1:{port}"])
    async with receiving() as inner:
        async with outbound(TargetRules(), resolver) as out:
            urls = [await attempt(out, url) for url in list_urls()]
        names = await try_names(scripts, server, resolver)
        ports, moved = await try_redirects(resolver, inner.port)
    await resolver.close()
    transport.close()
    told = {"dialled": ports, "server": port, "urls": urls, "names": names, "redirects": moved}
    print(json.dumps(told | {"inner": inner.connections}))


if __name__ == "__main__":
    asyncio.run(main())
