"""T13: 200 spellings of forbidden addresses, 40 scripts of a name server, 10 redirects: the kernel is asked for none.

strace records every connection and datagram of a process that tries them through `esign.net` (`forbidden_attempts`).
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.journeys.program import environment
from tests.reliability import arguments
from tests.reliability.figures import Figure

TARGET = (
    "200 spellings, 40 scripts of a name server (rebound, mixed, IPv6 only, aliases, no address and then one), 10"
    " redirects: 0 connections and 0 datagrams to a forbidden address"
)
TRACED = ("strace", "-f", "-qq", "-yy", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o")
CALL = re.compile(r"(connect|sendto|sendmsg|sendmmsg)\(\d+<(TCP|UDP)(?:v6)?:")
TARGETED = re.compile(
    r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")|->([^\]]+):(\d+)\]'
)
PROBED = (
    9  # a datagram socket is connected to this port to learn which address would be used; nothing is sent
)


async def run(given: Sequence[str]) -> Figure:
    """Run the attempts under strace and count what left."""
    asked = arguments.read(given)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        trace = Path(folder) / "trace"
        process = await asyncio.create_subprocess_exec(
            *TRACED,
            str(trace),
            *(sys.executable, "-m", "tests.reliability.forbidden_attempts"),
            env=environment(),
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        told = json.loads(out)
        lines = await asyncio.to_thread(trace.read_text, "utf-8", "replace")
    allowed = {("TCP", port) for port in told["dialled"]} | {("UDP", told["server"])}
    bad, seen = [], Counter[str]()
    for call, kind, address, port in read_calls(lines):
        # A datagram socket that is connected sends nothing by that, and a stream sends nothing without.
        if (call == "connect") == (kind == "UDP"):
            continue
        if (kind, port) in allowed and address == "127.0.0.1":
            seen[kind] += 1
        else:
            bad.append(f"{call} of {kind} to {address} port {port}")
    bad += [f"url {number} ended with {end}" for number, end in enumerate(told["urls"]) if end.isdigit()]
    bad += [f"name {n} ended with {end}" for n, end in enumerate(told["names"]) if end != "address_refused"]
    bad += ["a redirect was followed"] if told["inner"] else []
    if seen["TCP"] != len(told["redirects"]) or not seen["UDP"]:
        bad.append(f"the trace shows {dict(seen)}, not what was allowed: it would not show the rest")
    for line in bad[:20]:
        print(line)
    measured = (
        f"{len(told['urls'])} spellings, {len(told['names'])} scripts, {len(told['redirects'])} redirects: {len(bad)}"
        f" findings; the trace shows {seen['TCP']} connections, all to the receivers that redirect, and {seen['UDP']}"
        " questions to the name server"
    )
    return Figure("T13", TARGET, measured, not bad, len(bad), arguments.write("forbidden_addresses", asked))


def read_calls(trace: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield call, kind, address and port of each connection and datagram; of a datagram that is an answer, too."""
    answers = re.compile(
        r"sendto\(\d+<UDP:\[127\.0\.0\.1:\d+\]>"
    )  # by the name server of the attempts itself
    for line in trace.splitlines():
        if not (found := CALL.search(line)) or answers.search(line):
            continue
        target = TARGETED.search(line)
        address = (target[2] or target[3] or target[4]) if target else "an unknown address"
        port = int(target[1] or target[5]) if target else 0
        yield found[1], found[2], address, port
