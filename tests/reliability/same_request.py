"""T10: the same request many times at once, with clients that leave and a server that is killed: one effect each."""

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from tests.journeys.api import Answer, Api, a_request, a_session
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.served import Served, install

TARGET = (
    "100 keys × 50 at once, 20 % of the clients leave; 100 changed bodies; 20 kills with 25 in flight: one document for"
    " each key, every answer of a key the same bytes, changed bodies refused, the first repeat after a kill answered"
)
AT_ONCE = 40  # connections; one address may hold 50
LEAVING = 5  # one of so many clients does not wait for its answer
IN_FLIGHT = 25
IN_PROGRESS = "idempotency_in_progress"
COME_AGAIN = (IN_PROGRESS, "rate_limited")  # a key may have a bounded number of files in the queue


@dataclass
class Tally:
    """What was answered: for each key its documents as they were told, and what should not have been."""

    told: dict[str, set[bytes]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    refusals: list[float] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    def note(self, key: str, answer: Answer, seconds: float) -> None:
        """Note one answer, and the seconds it took if it says that the first is still under way."""
        if answer.status == 201:
            self.told.setdefault(key, set()).add(answer.content)
            name = "replayed" if "Idempotent-Replayed" in answer.headers else "made"
        else:
            name = answer.code
            if name not in COME_AGAIN:
                self.bad.append(f"{key}: {answer.status} {answer.content[:200]!r}")
            if name == IN_PROGRESS:
                self.refusals.append(seconds)
        self.counts[name] = self.counts.get(name, 0) + 1


async def run(given: Sequence[str]) -> Figure:
    """Ask 5,000 times with 100 keys, then with other bodies, then with a server that is killed 20 times."""
    asked = arguments.read(given, keys=100, times=50, kills=20, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            tally = Tally()
            await served.start()
            async with a_session() as session:
                api = Api(session, served.base, served.key)
                await ask_often(api, tally, asked["keys"], asked["times"])
                await change_bodies(api, tally, asked["keys"])
                await kill_in_flight(served, api, tally, asked["kills"], random.Random(asked["seed"]))
            code = await served.stop()
            judge(served, tally, asked["keys"] + asked["kills"] * IN_FLIGHT)
            tally.bad += [f"the server ended with {code}"] if code else []
    for line in tally.bad[:20]:
        print(line)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(tally.counts.items()))
    refusals = sorted(tally.refusals) or [0.0]
    measured = (
        f"{asked['keys']} keys × {asked['times']} and {asked['kills']} kills, {len(tally.bad)} findings; {counts};"
        f" {len(tally.told)} keys, a document each; {IN_PROGRESS} said after"
        f" {1000 * refusals[len(refusals) // 2]:.0f} ms in the median"
    )
    return Figure(
        "T10", TARGET, measured, not tally.bad, len(tally.bad), arguments.write("same_request", asked)
    )


async def ask_often(api: Api, tally: Tally, keys: int, times: int) -> None:
    """Ask with each key so many times, all mixed; every fifth client leaves at once. Then once more, for a replay."""
    room = asyncio.Semaphore(AT_ONCE)

    async def ask(number: int, turn: int) -> None:
        async with room:
            name = f"storm-{number}"
            if turn % LEAVING == LEAVING - 1:
                await leave(api, name, turn / 1000)
            else:
                began = time.perf_counter()
                answer = await create(api, name)
                tally.note(name, answer, time.perf_counter() - began)

    await asyncio.gather(*(ask(number, turn) for number in range(keys) for turn in range(times)))
    for number in range(keys):
        name = f"storm-{number}"
        answer = await insist(api, name)
        tally.note(name, answer, 0.0)
        if "Idempotent-Replayed" not in answer.headers and name in tally.told and len(tally.told[name]) > 1:
            tally.bad.append(f"{name} was made again")


async def create(api: Api, name: str) -> Answer:
    """Ask for one document with this key."""
    return await api.call("POST", "/documents", a_request(externalId=name), idempotency_key=name)


async def insist(api: Api, name: str) -> Answer:
    """Ask until the answer is not one that asks to come again."""
    while (answer := await create(api, name)).status != 201 and answer.code in COME_AGAIN:  # noqa: ASYNC110  it is the server that is asked
        await asyncio.sleep(0.2)
    return answer


async def leave(api: Api, name: str, seconds: float) -> None:
    """Ask, and close the connection after so many seconds whatever has come by then."""
    with suppress(TimeoutError):
        await asyncio.wait_for(create(api, name), seconds)


async def change_bodies(api: Api, tally: Tally, keys: int) -> None:
    """Ask with each key for something else, which is refused."""
    for number in range(keys):
        body = a_request(externalId=f"storm-{number}", title="Other")
        answer = await api.call("POST", "/documents", body, idempotency_key=f"storm-{number}")
        if answer.status != 409 or answer.code != "idempotency_key_reused":
            tally.bad.append(f"another body: {answer.status} {answer.content[:200]!r}")


async def kill_in_flight(served: Served, api: Api, tally: Tally, kills: int, moments: random.Random) -> None:
    """Kill the server with requests in flight; once it is up, the first repeat of each is answered with 201."""
    for life in range(kills):
        names = [f"life-{life}-{number}" for number in range(IN_FLIGHT)]
        flying = [asyncio.create_task(create(api, name)) for name in names]
        await asyncio.sleep(moments.uniform(0.0, 1.0))
        await served.kill()
        came = await asyncio.gather(*flying, return_exceptions=True)
        await served.start()
        for name, answer in zip(names, came, strict=True):
            if isinstance(answer, Answer):
                tally.note(name, answer, 0.0)
            elif not isinstance(answer, (aiohttp.ClientError, ConnectionError)):
                raise answer
        repeats = await asyncio.gather(*(create(api, name) for name in names))
        for name, answer in zip(names, repeats, strict=True):
            if answer.status == 429:  # the queue of one key has room for fewer
                answer = await insist(api, name)
            if answer.status != 201:
                tally.bad.append(f"{name} after a kill: {answer.status} {answer.content[:200]!r}")
            else:
                tally.note(name, answer, 0.0)


def judge(served: Served, tally: Tally, keys: int) -> None:
    """Note a key with two answers, a document too many or too few, and whatever else is wrong."""
    tally.bad += [f"{key} was told {len(said)} things" for key, said in tally.told.items() if len(said) > 1]
    connection = open_to_read(served.database)
    try:
        [(made, names)] = connection.execute("SELECT count(*), count(DISTINCT external_id) FROM document")
    finally:
        connection.close()
    if not made == names == keys == len(tally.told):
        tally.bad.append(f"{keys} keys, {len(tally.told)} answered, {made} documents with {names} names")
    tally.bad += find_faults(served.database)
    if "Traceback" in served.log:
        tally.bad.append("the log holds a traceback")
