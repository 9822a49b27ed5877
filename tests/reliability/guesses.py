"""T22: keys, links, codes and passwords are guessed at a running server; few guesses are looked at, others go on."""

import asyncio
import re
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from esign.core.actor import Mode
from esign.core.people import api_key
from tests.journeys.api import V1, Api, Person, a_session
from tests.journeys.program import meanwhile
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.served import Served, install

TARGET = (
    "10,000 keys of right shape, 1,000 links, 100 codes of each kind, 1,000 passwords of one account for a minute: at"
    " most 20 keys a minute, 30 links and those under way, 5 codes, and 10 passwords and then one in 15 s looked at;"
    " the owner of each goes on meanwhile; no 5xx"
)
KEYS_A_MINUTE, LINKS, CODES, PASSWORDS, PACE = 20, 30, 5, 10, 15.0
AHEAD = 6  # of the passwords whose wait grows from half a second to 15
AT_ONCE = 20
COMMAND_SECONDS = 600.0  # on a machine that does other work
PASSWORD = "quiet copper kettle 41"
CSRF = re.compile(r'name="csrf" value="([^"]+)"')
Ask = Callable[[int], Awaitable[int]]


@asynccontextmanager
async def come_from(address: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A client at another address of this machine, with cookies of its own."""
    connector = aiohttp.TCPConnector(local_addr=(address, 0), limit=AT_ONCE)
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=jar) as session:
        yield session


async def run(given: Sequence[str]) -> Figure:
    """Guess, each kind from another address."""
    asked = arguments.read(given, keys=10_000, links=1_000, codes=100, passwords=1_000, seconds=60)
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            invitation = await invite(served)
            await served.start()
            keys, seconds = await guess_keys(served, asked["keys"], bad)
            links = await guess_links(served, asked["links"], bad)
            codes = [
                await guess_codes(served, method, asked["codes"], bad)
                for method in ("email_code", "access_code")
            ]
            passwords = await guess_passwords(served, invitation, asked["passwords"], asked["seconds"], bad)
            code = await served.stop()
            bad += [f"the server ended with {code}"] if code else []
            bad += ["the log holds a traceback"] if "Traceback" in served.log else []
    expect(bad, "keys looked at", keys[401], KEYS_A_MINUTE * (1 + int(seconds / 60)))
    expect(bad, "links looked at", links[404], LINKS + AT_ONCE)  # and those that were under way by then
    for found in codes:
        expect(bad, "codes looked at", found[0], CODES)
    late = AHEAD + int(asked["seconds"] / PACE)
    expect(bad, "passwords looked at", sum(passwords.values()) - passwords[429], PASSWORDS + late)
    every: Counter[int] = keys + links + passwords
    bad += [f"{count} answers with {status}" for status, count in every.items() if status >= 500]
    for line in bad[:20]:
        print(line)
    measured = (
        f"{len(bad)} findings; looked at: {keys[401]} of {asked['keys']} keys in {seconds:.0f} s, {links[404]} of"
        f" {asked['links']} links, {codes[0][0]} and {codes[1][0]} of {asked['codes']} mailed and agreed codes,"
        f" {sum(passwords.values()) - passwords[429]} of {sum(passwords.values())} passwords in {asked['seconds']} s;"
        " the right key, link and password worked meanwhile from another address"
    )
    return Figure("T22", TARGET, measured, not bad, len(bad), arguments.write("guesses", asked))


def expect(bad: list[str], what: str, found: int, most: int) -> None:
    """Note more than the limit, and none at all: then the guesses did not get as far as the limit."""
    if not 0 < found <= most:
        bad.append(f"{found} {what}, expected at most {most}")


async def ask_often(number: int, ask: Ask) -> Counter[int]:
    """Return how often each status was answered, of so many questions, some at once."""
    room, statuses = asyncio.Semaphore(AT_ONCE), Counter[int]()

    async def one(turn: int) -> None:
        async with room:
            statuses[await ask(turn)] += 1

    await asyncio.gather(*(one(turn) for turn in range(number)))
    return statuses


async def guess_keys(served: Served, number: int, bad: list[str]) -> tuple[Counter[int], float]:
    """Return what keys that nobody has were answered, and the seconds it took; the right key works meanwhile."""
    url = f"{served.base}{V1}/documents?limit=1"
    began = time.perf_counter()
    async with come_from("127.0.0.2") as stranger, come_from("127.0.0.3") as owner:

        async def ask(turn: int) -> int:
            key = api_key.compose_key(Mode.LIVE, f"{turn:030}")
            if turn % 100 == 0:
                async with owner.get(url, headers={"Authorization": f"Bearer {served.key}"}) as answer:
                    if answer.status != 200:
                        bad.append(f"the right key was answered {answer.status}")
            async with stranger.get(url, headers={"Authorization": f"Bearer {key}"}) as answer:
                return answer.status

        return await ask_often(number, ask), time.perf_counter() - began


async def guess_links(served: Served, number: int, bad: list[str]) -> Counter[int]:
    """Return what links that nobody has were answered; a right link works meanwhile."""
    async with a_session() as session, come_from("127.0.0.4") as stranger, come_from("127.0.0.5") as owner:
        await Api(session, served.base, served.key).send_document(
            recipients=[{"name": "Ada", "email": "ada@example.test"}]
        )
        link = await served.office.wait_for_link("ada@example.test")

        async def ask(turn: int) -> int:
            async with stranger.get(f"{served.base}/s/{turn:043}/original.pdf") as answer:
                return answer.status

        found = await ask_often(number, ask)
        if (await Person(owner, link).view()).status != 200:
            bad.append("the right link does not work")
    return found


async def guess_codes(served: Served, method: str, number: int, bad: list[str]) -> tuple[int, int]:
    """Return how many wrong codes were looked at and how many were not."""
    email = f"{method}@example.test"
    person = {"name": "Bea", "email": email, "authentication": method}
    if method == "access_code":
        person["accessCode"] = "Blue-4711-heron"
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        document = await api.send_document(recipients=[person])
        reader = Person(session, await served.office.wait_for_link(email))
        if method == "email_code" and (await reader.send_code()).status != 200:
            bad.append("no code was sent")

        async def ask(turn: int) -> int:
            return (await reader.enter(f"{turn:06}")).status

        statuses = await ask_often(number, ask)
        bad += [f"wrong codes were answered {dict(statuses)}"] if statuses[200] else []
        trail = await api.trail(document)
        looked = trail.count("recipient.authentication_failed")
    return looked, number - looked


async def invite(served: Served) -> str:
    """Return the link by which an owner joins."""
    made = await meanwhile(
        *(
            "users",
            "create",
            "--email",
            "owner@example.test",
            "--name",
            "Owner",
            "--role",
            "owner",
            "--config",
        ),
        served.config,
        seconds=COMMAND_SECONDS,
    )
    return made.out.strip()


async def fill_in(session: aiohttp.ClientSession, url: str, **fields: str) -> int:
    """Send the form of a page; return the status."""
    async with session.get(url) as page:
        found = CSRF.search(await page.text())
    headers = {
        "Origin": url.partition("/sign-in")[0].partition("/invitation")[0],
        "Sec-Fetch-Site": "same-origin",
    }
    form = {"csrf": found[1] if found else "", **fields}
    async with session.post(url, data=form, headers=headers, allow_redirects=False) as answer:
        await answer.read()
        return answer.status


async def guess_passwords(
    served: Served, invitation: str, number: int, seconds: float, bad: list[str]
) -> Counter[int]:
    """Return what wrong passwords of one account were answered; its owner signs in meanwhile."""
    url = f"{served.base}/sign-in"
    statuses: Counter[int] = Counter()
    async with come_from("127.0.0.7") as owner:
        joined = await fill_in(owner, invitation, name="Owner", password=PASSWORD)
        bad += [] if joined == 303 else [f"joining was answered {joined}"]
    async with come_from("127.0.0.6") as stranger, come_from("127.0.0.8") as other:

        async def guess(turn: int) -> None:
            statuses[
                await fill_in(stranger, url, email="owner@example.test", password=f"wrong {turn} kettle")
            ] += 1

        async def guess_all() -> None:
            for start in range(0, number, AT_ONCE):
                await asyncio.gather(*(guess(start + turn) for turn in range(AT_ONCE)))

        guessing = asyncio.create_task(guess_all())
        await asyncio.wait([guessing], timeout=seconds / 2)
        began = time.perf_counter()
        came = await fill_in(other, url, email="owner@example.test", password=PASSWORD)
        if came != 303:
            bad.append(f"the right password was answered {came}")
        if time.perf_counter() - began > PACE:
            bad.append(f"the owner waited {time.perf_counter() - began:.0f} s")
        await asyncio.wait([guessing], timeout=seconds / 2)
        guessing.cancel()
        await asyncio.gather(guessing, return_exceptions=True)
    return statuses
