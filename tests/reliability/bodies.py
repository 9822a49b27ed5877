"""T6: mutated JSON bodies at a running server: python -m tests.reliability bodies [--count N] [--seed N]

Each body is the example of an operation, changed in one to four ways: bytes and slices of its text, or members and
values of what it says. No answer may be a failure of the server, and no answer may tell of one in the log.
"""

import argparse
import asyncio
import http.client
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from esign.web.api.endpoint_table import describe
from tests.fuzz.world import SEGMENTS, FuzzWorld, Side, find_example
from tests.journeys.program import Program, configuration

CLIENTS = 4
LATEST_P99 = 50.0  # milliseconds until a refusal
MOST_GROWTH = 0.05  # of the memory of the server, from a tenth of the bodies on
EXPECTED = frozenset({200, 201, 202, 204, 400, 401, 404, 409, 429})
LARGEST = 64 * 1024  # bytes
LIMITS = """
[limits]
requests_per_minute = 100000
verifies_per_minute = 100000
emails_per_day = 1000000
webhooks = 1000
templates = 100000

[signing]
reads_per_minute = 0
writes_per_minute = 0
"""
# Each ends what later bodies are sent to, or says nothing about bodies.
LEFT_OUT = frozenset({"changeApiKey", "changeSettings"})
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, 2**53, 2**63, 2**64, 10**400, "", " ", "a" * 300, "ä" * 200,
    "\u202e", "\u2028", "\x00", "\x7f",
    "👩‍👩‍👧‍👦" * 50, "\ufeff", "'; DROP TABLE document; --", "{{7*7}}", "%s%n", "../..",
    "a@b.test,c@d.test", "file:///etc/passwd", "2026-02-30T00:00:00Z", "9999-12-31T23:59:60Z", "NaN", [], {}, [[]],
    [None] * 30, {"": ""}, {"__proto__": {"a": 1}}, {"type": "signature"}, [{}] * 40,
)  # fmt: skip
WRITTEN: tuple[bytes, ...] = (
    b"NaN", b"Infinity", b"-", b"01", b"1e999", b"1e-999", b"0x10", b"\xff", b"\xed\xa0\x80", b"\\ud800", b'"', b"{",
    b"[" * 50, b"]" * 3, b",", b",,", b":", b"\\u0000", b"//", b"/**/", b"\x00", b"\xef\xbb\xbf", b"1" * 5000, b"\n\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """An operation with a body: where it is sent, with which key, and the text of a body that is taken."""

    name: str
    method: str
    path: str
    key: str
    body: bytes


@dataclass(slots=True)
class Answers:
    """What came back: how often each status, the milliseconds until each refusal, and what must not have come."""

    statuses: Counter[int] = field(default_factory=Counter)
    refusals: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def list_targets(world: FuzzWorld) -> list[Target]:
    """Return every operation that takes a body, with ids that exist, for the keys of both modes."""
    found = []
    for side in world.sides:
        for path, operations in describe()["paths"].items():
            for method, operation in operations.items():
                if "requestBody" not in operation or operation["operationId"] in LEFT_OUT:
                    continue
                if side is not world.live and path.endswith("/members"):
                    continue
                place = fill_path(side, path)
                if place is not None:
                    body = json.dumps(world.fill_value(side, find_example(operation), Random(1))).encode()
                    found.append(Target(operation["operationId"], method.upper(), place, side.key, body))
    return found


def fill_path(side: Side, path: str) -> str | None:
    """Return the path with ids of what this key can see, or None if there is nothing of that kind."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if part == "{id}":
            known = side.ids[SEGMENTS.get(parts[at - 1], "")]
            known = [one for one in known if side.below[one]] if "{rid}" in parts else known
            if not known:
                return None
            parts[at] = known[-1]
        elif part == "{rid}":
            parts[at] = side.below[parts[at - 2]][0]
    return "/".join(parts)


def mutate(body: bytes, random: Random) -> bytes:
    """Return the body with one to four changes, at most 64 KiB of it."""
    if random.random() < 0.5:
        value = json.loads(body)
        for _ in range(random.randint(1, 4)):
            value = change_value(value, random)
        body = write_value(value, random)
        if random.random() < 0.7:
            return body[:LARGEST]
    changed = bytearray(body)
    for _ in range(random.randint(1, 4)):
        random.choice(CHANGES)(changed, random)
    return bytes(changed[:LARGEST])


def write_value(value: Any, random: Random) -> bytes:
    """Return a value as JSON; a lone surrogate or a number that no float holds is written as it is."""
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def change_value(value: Any, random: Random) -> Any:
    """Return a value with one member or entry, at any depth, changed, removed, added or wrapped."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        name = random.choice(list(value))
        match random.randrange(7):
            case 0:
                return {key: each for key, each in value.items() if key != name}
            case 1:
                return {**value, random.choice((name.upper(), f"{name} ", "x" * 200, "", "id")): value[name]}
            case _:
                return {**value, name: change_value(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        match random.randrange(5):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value + [value[at]] * random.choice((1, 1, 30))
            case _:
                return [*value[:at], change_value(value[at], random), *value[at + 1 :]]
    match random.randrange(4):
        case 0:
            for _ in range(random.choice((1, 2, 19, 30))):
                value = [value]
            return value
        case 1 if isinstance(value, str):
            at = random.randint(0, len(value))
            odd = random.choice([each for each in ODD if isinstance(each, str)])
            return value[:at] + odd + value[at:]
        case _:
            return random.choice(ODD)


def flip_bit(body: bytearray, random: Random) -> None:
    """Flip one bit."""
    if body:
        body[random.randrange(len(body))] ^= 1 << random.randrange(8)


def cut_slice(body: bytearray, random: Random) -> None:
    """Remove up to 40 bytes, or all that follows."""
    at = random.randint(0, len(body))
    del body[at : at + random.randint(1, 40) if random.random() < 0.8 else len(body)]


def repeat_slice(body: bytearray, random: Random) -> None:
    """Write a piece of the body again at another place."""
    at = random.randint(0, len(body))
    piece = bytes(body[at : at + random.choice((1, 10, 100, 1000))])
    to = random.randint(0, len(body))
    body[to:to] = piece * random.choice((1, 1, 2, 20))


def insert_text(body: bytearray, random: Random) -> None:
    """Write something that is no JSON, or nearly none, anywhere."""
    at = random.randint(0, len(body))
    body[at:at] = random.choice(WRITTEN)


CHANGES: tuple[Callable[[bytearray, Random], None], ...] = (flip_bit, cut_slice, repeat_slice, insert_text)


def send_bodies(base: str, targets: list[Target], count: int, seed: int) -> Answers:
    """Send `count` mutated bodies one after the other over one connection, and return what was answered."""
    random, answers = Random(seed), Answers()
    place = urlsplit(base)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    for _ in range(count):
        target = random.choice(targets)
        body = mutate(target.body, random)
        headers = {"Authorization": f"Bearer {target.key}", "Content-Type": "application/json"}
        begun = time.perf_counter()
        try:
            connection.request(target.method, target.path, body, headers)
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            answers.faults.append(f"{target.name}: {type(error).__name__} {error}: {body[:300]!r}")
            connection.close()
            continue
        answers.statuses[answer.status] += 1
        if answer.status not in EXPECTED:
            answers.faults.append(f"{target.name}: {answer.status} {said[:300]!r}: {body[:300]!r}")
        elif answer.status >= 400:
            answers.refusals.append((time.perf_counter() - begun) * 1000)
    connection.close()
    return answers


def send_from_all(base: str, targets: list[Target], count: int, seed: int) -> Answers:
    """Send `count` bodies from four connections at once, and return what was answered to all."""
    whole = Answers()
    with ThreadPoolExecutor(CLIENTS) as pool:
        parts = [
            pool.submit(send_bodies, base, targets, count // CLIENTS, seed * CLIENTS + n)
            for n in range(CLIENTS)
        ]
        for part in parts:
            answers = part.result()
            whole.statuses += answers.statuses
            whole.refusals += answers.refusals
            whole.faults += answers.faults
    return whole


def read_memory(pid: int) -> int:
    """Return the memory in use by a process, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [size] = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(size) * 1024


async def run_bodies(count: int, seed: int) -> list[str]:
    """Send the bodies to a server of their own, print the figures, and return what missed its target."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(configuration(Path(folder), LIMITS))
        await program.start()
        try:

            def prepare() -> list[Target]:
                world = FuzzWorld(program.base, program.config)
                world.seed()
                return list_targets(world)

            targets = await asyncio.to_thread(prepare)
            first = await asyncio.to_thread(send_from_all, program.base, targets, count // 10, seed)
            before = read_memory(program.process.pid)
            rest = await asyncio.to_thread(
                send_from_all, program.base, targets, count - count // 10, seed + 1
            )
            after = read_memory(program.process.pid)
        finally:
            await program.stop()
        return judge(first, rest, after / before - 1, len({target.name for target in targets}), program.said)


def judge(first: Answers, rest: Answers, growth: float, operations: int, said: str) -> list[str]:
    """Print the figures of a run, and return each miss. `growth` is that of the memory, `said` the log."""
    times = sorted(first.refusals + rest.refusals)
    statuses = first.statuses + rest.statuses
    p99 = times[int(len(times) * 0.99)]
    print(f"{statuses.total()} bodies to {operations} operations: {dict(sorted(statuses.items()))}")
    print(f"refusals: p50 {times[len(times) // 2]:.1f} ms, p99 {p99:.1f} ms (at most {LATEST_P99:.0f})")
    print(f"memory of the server: {growth:+.1%} (at most {MOST_GROWTH:.0%})")
    misses = [*first.faults, *rest.faults][:20]
    if "Traceback" in said:
        misses.append(f"a traceback in the log: {said[said.index('Traceback') - 300 :][:3000]}")
    if p99 > LATEST_P99:
        misses.append(f"refusals took {p99:.1f} ms at p99")
    if growth > MOST_GROWTH:
        misses.append(f"the memory of the server grew by {growth:.1%}")
    return misses


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability bodies", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    begun = time.perf_counter()
    misses = asyncio.run(run_bodies(asked.count, asked.seed))
    for miss in misses:
        print(f"MISSED {miss}")
    print(f"{time.perf_counter() - begun:.0f} s, {len(misses)} missed")
    return 1 if misses else 0
