"""T20: 25 ways in which machines open every link of every mail, from all sides at once; nothing changes by it.

What a browser does that runs the scripts and presses a button is tried in tests/browser/test_scanners.py.
"""

import asyncio
import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from email import message_from_bytes
from email.policy import SMTP as POLICY
from html import unescape
from pathlib import Path

import aiohttp

from tests.journeys.api import Api, Person, a_session, until
from tests.journeys.letters import LINK, part
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import open_to_read
from tests.reliability.served import MailConnection, PostOffice, Served, add_webhook, install

TARGET = (
    "25 profiles (HEAD, GET, prefetch, preview, ranges, old browsers), 4 at once, over every address of every mail: no"
    " status, event, mail, session or line of a trail but downloads changes; no 5xx; the links work afterwards"
)
AT_ONCE = 4
ADDRESS = re.compile(r"https?://[^\s\"'<>)]+")
BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
AGENTS = {
    "no agent": "",
    "browser": f"{BROWSER} AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
    "old browser": "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)",
    "safe links": f"{BROWSER} SafeLinks",
    "mail gateway": "MailGateway-URLScanner/2.1",
    "image proxy": "Mozilla/5.0 (via mail image proxy)",
    "chat preview": "LinkPreviewBot 1.0 (+link expanding)",
    "crawler": "Mozilla/5.0 (compatible; Crawler/2.1; +https://bot.example/)",
    "script": "python-requests/2.32",
    "command": "curl/8.5.0",
    "java": "Java/1.8.0_392",
}
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    **{f"GET, {name}": ("GET", {"User-Agent": agent}) for name, agent in AGENTS.items()},
    **{f"HEAD, {name}": ("HEAD", {"User-Agent": agent}) for name, agent in list(AGENTS.items())[:6]},
    "prefetch": ("GET", {"Purpose": "prefetch"}),
    "speculation": ("GET", {"Sec-Purpose": "prefetch;prerender"}),
    "moz prefetch": ("GET", {"X-Moz": "prefetch"}),
    "preview": ("GET", {"X-Purpose": "preview"}),
    "range": ("GET", {"Range": "bytes=0-1023"}),
    "any language": ("GET", {"Accept": "*/*", "Accept-Language": "*"}),
    "other site": ("GET", {"Referer": "https://mail.example/", "Sec-Fetch-Site": "cross-site"}),
    "OPTIONS": ("OPTIONS", {}),
}
TABLES = ("document", "recipient", "event", "outbox", "session", "member", "user", "ticket")
DOWNLOAD = "document.downloaded"


class KeptMail:
    """Every address of the installation in every mail that came."""

    def __init__(self) -> None:
        self.octets: list[bytes] = []

    def connect(self, office: PostOffice) -> MailConnection:
        """Return a connection that keeps what it is given."""
        octets = self.octets

        class KeepingConnection(MailConnection):
            def answer(self, line: bytes) -> None:
                if self.in_data:
                    octets.append(line)
                super().answer(line)

        return KeepingConnection(office)

    def list_addresses(self, base: str) -> list[str]:
        """Return the addresses, each once, in the order in which they came."""
        found: dict[str, None] = {}
        for octets in self.octets:
            message = message_from_bytes(octets.replace(b"\r\n..", b"\r\n."), policy=POLICY)
            for kind in ("plain", "html"):
                for address in ADDRESS.findall(unescape(part(message, kind))):
                    if address.startswith(base):
                        found[address] = None
        return list(found)


async def run(given: Sequence[str]) -> Figure:
    """Open every link in 25 ways."""
    asked = arguments.read(given, times=AT_ONCE)
    kept, bad = KeptMail(), list[str]()
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder), connect=kept.connect) as served:
            await served.start()
            await add_webhook(served)
            async with a_session() as session:
                api = Api(session, served.base, served.key)
                await furnish(api, served)
                before = await settle(served)
                addresses = kept.list_addresses(served.base)
                statuses = await scan(session, addresses, asked["times"])
                after = await settle(served)
                bad += compare(before, after)
                bad += [
                    f"{count} answers with {status}" for status, count in statuses.items() if status >= 500
                ]
                await sign_after_all(session, served, api)
            code = await served.stop()
            bad += [f"the server ended with {code}"] if code else []
            bad += ["the log holds a traceback"] if "Traceback" in served.log else []
    for line in bad[:20]:
        print(line)
    told = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    measured = (
        f"{len(WAYS)} profiles × {len(addresses)} addresses × {asked['times']}: {len(bad)} findings; {told}; the first"
        " document was signed and sealed afterwards"
    )
    return Figure("T20", TARGET, measured, not bad, len(bad), arguments.write("link_scanners", asked))


async def furnish(api: Api, served: Served) -> None:
    """Documents in most states, with mails about them, and an invitation to the office."""
    people = [{"name": name.title(), "email": f"{name}@example.test"} for name in ("ada", "bob", "vera")]
    await api.send_document(
        externalId="open",
        recipients=[people[0], people[1] | {"role": "approver"}, people[2] | {"role": "viewer"}],
    )
    for name in ("signed", "declined", "cancelled", "code"):
        person = {"name": name.title(), "email": f"{name}@example.test"}
        if name == "code":
            person["authentication"] = "email_code"
        document = await api.send_document(externalId=name, recipients=[person])
        reader = Person(api.session, await served.office.wait_for_link(person["email"]))
        if name == "signed":
            await reader.sign()
        elif name == "declined":
            assert (await reader.decline("no")).status == 200
        elif name == "cancelled":
            await api.ok("POST", f"/documents/{document}/cancel", {"notify": True})
        else:
            assert (await reader.send_code()).status == 200
    await api.ok("POST", "/members", {"email": "clerk@example.test", "name": "Clerk", "role": "member"})
    await served.office.wait_for_link("ada@example.test")


async def settle(served: Served) -> dict[str, Counter[str]]:
    """Return every row of what could change, once no job and no delivery waits."""

    async def is_quiet() -> bool | None:
        with closing(open_to_read(served.database)) as connection:
            [(count,)] = connection.execute(
                "SELECT (SELECT count(*) FROM outbox WHERE state = 'pending')"
                " + (SELECT count(*) FROM delivery WHERE status = 'pending')"
            )
        return count == 0 or None

    await until(is_quiet, "end of all jobs", 120)
    with closing(open_to_read(served.database)) as connection:
        present = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        rows = {
            name: Counter(
                hashlib.sha256(repr(row).encode()).hexdigest()
                for row in connection.execute(f"SELECT * FROM {name}")
            )
            for name in TABLES
            if name in present
        }
        rows["audit"] = Counter(
            f"{document} {kind}"
            for document, kind in connection.execute("SELECT document_id, type FROM audit")
        )
    return rows


async def scan(session: aiohttp.ClientSession, addresses: Sequence[str], times: int) -> Counter[int]:
    """Ask for every address in every way, so often at once; return how often each status came."""
    statuses: Counter[int] = Counter()

    async def ask(method: str, address: str, headers: dict[str, str]) -> None:
        async with session.request(method, address, headers=headers) as answer:
            await answer.read()
            statuses[answer.status] += 1

    for method, headers in WAYS.values():
        for address in addresses:
            await asyncio.gather(*(ask(method, address, headers) for _ in range(times)))
    return statuses


def compare(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> list[str]:
    """Return a line for each table in which a row was added, changed or lost; downloads may be added to a trail."""
    bad = []
    for name, rows in before.items():
        gone, new = rows - after[name], after[name] - rows
        new = Counter({row: count for row, count in new.items() if DOWNLOAD not in row})
        if gone or new:
            bad.append(f"{name}: {gone.total()} rows gone, {new.total()} new ones {list(new)[:3]}")
    return bad


async def sign_after_all(session: aiohttp.ClientSession, served: Served, api: Api) -> None:
    """Sign by links that were scanned, to the seal."""
    [document] = (await api.ok("GET", "/documents?externalId=open"))["data"]
    for name in ("ada", "bob"):
        link = served.office.links[f"{name}@example.test"]
        assert LINK.match(link)
        await Person(session, link).sign(None if name == "ada" else {})

    async def is_sealed() -> bool | None:
        return await api.status(document["id"]) == "completed" or None

    await until(is_sealed, "seal", 120)
