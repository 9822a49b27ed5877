"""Reading: one document, lists, health, the office's list and the first byte of the signing page."""

import asyncio

import aiohttp

from tests.bench import drive
from tests.bench.dense import make_dense_pdf
from tests.bench.installation import (
    BenchInstallation,
    authorize,
    command,
    document,
    install_program,
    make_key,
)
from tests.bench.links import make_link
from tests.bench.table import Figure

PATH = "/api/v1/documents"
PASSWORD = "copper kettle under nine maples"
ROUNDS = 5


async def measure_document(most: float) -> Figure:
    async with install_program() as at:
        path = (await create_documents(at, 1))[0]
        return await compare(at, path, most)


async def measure_list(count: int, most: float) -> Figure:
    """A page of `count` of a hundred documents."""
    async with install_program() as at:
        await create_documents(at, 100)
        return await compare(at, f"{PATH}?limit={count}", most)


async def measure_health(most: float) -> Figure:
    async with install_program() as at:
        return await compare(at, "/healthz", most)


async def compare(at: BenchInstallation, path: str, most: float) -> Figure:
    """Eight connections in turns with the bare hello, which may be `most` times as fast.

    Each round has a key of its own: one key may ask no more than 100,000 times a minute, which is less than all rounds
    take.
    """
    keys = [await asyncio.to_thread(make_key, at.folder) for _ in range(drive.ROUNDS)]
    found = await drive.compare_rates(f"{at.base}{path}", [authorize(key) for key in keys])
    text = f"{found.rate:,.0f}/s, 1/{found.times:.1f} of the bare hello, p99 {found.p99:.1f} ms"
    return Figure(text, found.times <= most, f"The bare hello: {found.bare:,.0f}/s.")


async def measure_office_list(most: float) -> Figure:
    """The page of the office with 25 documents, asked for over one connection."""
    async with install_program() as at:
        for path in (await create_documents(at, 40))[::2]:
            await at.call("POST", f"{path}/send", {})
        cookie = await sign_in(at)
        return await time_page(f"{at.base}/documents", {"Cookie": cookie}, most)


async def measure_signing_page(most: float) -> Figure:
    """The page of a link that has just been sent; wrk counts whole answers, whose first byte is no later."""
    async with install_program() as at:
        path = (await create_documents(at, 1))[0]
        person = (await at.call("POST", f"{path}/send", {}))["recipients"][0]
        return await time_page(await make_link(at, path, person["id"]), {}, most)


async def time_page(url: str, headers: dict[str, str], most: float) -> Figure:
    await drive.drive_wrk(url, headers, connections=1, seconds=1)  # warms up
    rounds = [await drive.drive_wrk(url, headers, connections=1) for _ in range(ROUNDS)]
    best = sorted(rounds, key=lambda one: one.median)[len(rounds) // 2]
    return Figure(f"{best.median:.1f} ms, p99 {best.p99:.1f} ms", best.median <= most)


async def create_documents(at: BenchInstallation, count: int) -> list[str]:
    """Create a dense document and copies of it; return their paths."""
    made = await at.call("POST", PATH, document(make_dense_pdf(2), recipients=2))
    original = f"{PATH}/{made['id']}"
    copies = [await at.call("POST", f"{original}/duplicate", {}) for _ in range(count - 1)]
    return [original, *(f"{PATH}/{copy['id']}" for copy in copies)]


async def sign_in(at: BenchInstallation) -> str:
    """Return the cookies of an owner who has just joined."""
    names = ("--email", "ada@example.com", "--name", "Ada", "--role", "owner")
    link = (await asyncio.to_thread(command, at.folder, "users", "create", *names)).strip()
    jar = aiohttp.CookieJar(unsafe=True)  # also for a host without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        async with browser.post(link, data={"name": "Ada", "password": PASSWORD}) as answer:
            await answer.read()
        async with browser.get(f"{at.base}/documents") as answer:
            if answer.status != 200 or answer.url.path != "/documents":
                raise RuntimeError(f"signing in led to {answer.url.path}: {answer.status}")
    return "; ".join(f"{one.key}={one.value}" for one in jar)
