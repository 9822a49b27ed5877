"""T9: two at once at the same document, key or webhook of a running server: one wins, the loser hears why."""

import asyncio
import hashlib
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.cli.installation import load_config, open_installation
from esign.core.actor import Mode
from esign.core.instant import rfc3339
from esign.core.people.api_key import Scope
from esign.core.webhook.webhook_signature import sign
from tests.journeys.api import Answer, Api, Person, a_session, a_signature, until
from tests.journeys.receiver import Delivered, Receiver
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.kept import find_faults, open_to_read
from tests.reliability.served import Served, install

TARGET = "11 pairs × 200 rounds: one winner each, the loser told 409 or 404; one seal for each signed document; no 5xx"
SETTINGS = "\n[webhooks]\nattempts_at_once = 1\n"
REVOKED_KEYS = "auth_failures_per_minute = 100000"  # each of them is asked with once more
ALIVE = 40
SEAL_SECONDS = 600.0
LOST = {404, 409}
EXPIRES_MS = 2_000  # after which a document expires, so that a slow machine can still say so
SPREAD = 0.01  # seconds by which one of the two may be ahead
ADA, BEA = "ada@example.test", "bea@example.test"
Act = Callable[[], Awaitable[Answer]]


@dataclass(frozen=True)
class Reader:
    """Somebody who has read the page and needs one request to sign or to decline."""

    person: Person
    consent: str

    async def complete(self) -> Answer:
        given = {"answers": {"signature": a_signature()}, "consent": self.consent}
        return await self.person.post("complete", given)

    async def decline(self) -> Answer:
        return await self.person.decline("no")


async def read_page(session: aiohttp.ClientSession, link: str) -> Reader:
    """Return who has opened a link."""
    person = Person(session, link)
    found = re.search(r'data-consent="([0-9a-f]{64})"', (await person.open()).content.decode())
    assert found
    return Reader(person, found[1])


@dataclass
class Track:
    """The server, a client of it, and what came of the rounds."""

    served: Served
    session: aiohttp.ClientSession
    api: Api
    random: random.Random
    keys: list[str] = field(default_factory=list)
    firsts: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    signed: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    bad: list[str] = field(default_factory=list)

    async def send_document(self, *addresses: str) -> tuple[str, list[str], list["Reader"]]:
        """Return the id of a document that is out, the ids of its recipients, and them with its page before them."""
        people = [{"name": address[:3].title(), "email": address} for address in addresses]
        document = await self.api.send_document(recipients=people)
        ids = [recipient["id"] for recipient in (await self.api.get(document))["recipients"]]
        links = [
            str((await self.api.ok("POST", f"/documents/{document}/recipients/{id}/link"))["url"])
            for id in ids
        ]
        return document, ids, [await read_page(self.session, link) for link in links]

    async def race(self, name: str, first: Act, second: Act) -> tuple[Answer, Answer]:
        """Return the answers of two that start at once or within a hundredth of a second; which is first is drawn."""
        barrier = asyncio.Barrier(2)

        async def start(act: Act, seconds: float) -> Answer:
            await barrier.wait()
            await asyncio.sleep(seconds)
            return await act()

        heads = [self.random.choice((0.0, self.random.uniform(0, SPREAD))) for _ in range(2)]
        if self.random.random() < 0.5:
            one, other = await asyncio.gather(start(first, heads[0]), start(second, heads[1]))
        else:
            other, one = await asyncio.gather(start(second, heads[1]), start(first, heads[0]))
        self.rounds[name] += 1
        self.firsts[name] += one.status < 300
        self.check(max(one.status, other.status) < 500, name, one, other)
        return one, other

    def check(self, holds: bool, name: str, *seen: object) -> None:
        """Note what was seen where something does not hold."""
        if not holds:
            told = [(item.status, item.content[:200]) if isinstance(item, Answer) else item for item in seen]
            self.bad.append(f"{name}: {told}")

    def check_winner(self, name: str, one: Answer, other: Answer) -> bool:
        """Note it unless exactly one has won and the other was refused; return whether the first has won."""
        won = [answer.status < 300 for answer in (one, other)]
        loser = other if won[0] else one
        self.check(won.count(True) == 1 and loser.status in LOST, name, one, other)
        return won[0]

    async def check_end(self, name: str, document: str, signed: bool, otherwise: str) -> None:
        """Note it unless the document is signed, or has the other status."""
        status = await self.api.status(document)
        self.check(status in (("sealing", "completed") if signed else (otherwise,)), name, status, signed)
        if signed:
            self.signed.add(document)


async def run(given: Sequence[str]) -> Figure:
    """Race 200 times in each of eleven ways, all ways beside each other."""
    asked = arguments.read(given, rounds=200, seed=1)
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder), SETTINGS) as served:
            track = await race_all(served, asked["rounds"], asked["seed"])
    for line in track.bad[:20]:
        print(line)
    shares = ", ".join(f"{name} {track.firsts[name]}" for name in RACES)
    measured = (
        f"{sum(track.rounds.values())} rounds, {len(track.bad)} findings; {len(track.signed)} documents signed, each"
        f" sealed once; of {asked['rounds']} the first of the pair succeeded: {shares}"
    )
    return Figure("T9", TARGET, measured, not track.bad, len(track.bad), arguments.write("races", asked))


async def race_all(served: Served, rounds: int, seed: int) -> Track:
    """Return what came of all rounds, once every seal is made and the server has ended."""
    text = served.config.read_text("utf-8").replace("[limits]", f"[limits]\n{REVOKED_KEYS}", 1)
    served.config.write_text(text, "utf-8")
    keys = await make_keys(served, rounds)
    await served.start()
    async with a_session() as session:
        api = Api(session, served.base, served.key)
        track = Track(served, session, api, random.Random(seed), keys)
        hook = await api.webhook(f"{served.receiver.url}", "template.created")
        async with asyncio.TaskGroup() as group:
            for name, race in RACES.items():
                group.create_task(repeat(track, name, race, rounds, hook))
        await until(lambda: are_sealed(served.database), "seal of every signed document", SEAL_SECONDS)
    code = await served.stop()
    track.check(code == 0, "stop", code)
    # The events of a deleted document go with it, but for the one that tells of it.
    track.bad += [
        fault for fault in find_faults(served.database) if fault.partition(" ")[0] not in track.deleted
    ]
    with closing(open_to_read(served.database)) as connection:
        sealed = {row[0] for row in connection.execute("SELECT id FROM document WHERE status = 'completed'")}
        jobs = dict(
            connection.execute(
                "SELECT document_id, count(*) FROM outbox WHERE kind = 'seal' GROUP BY document_id"
            )
        )
    track.check(sealed == track.signed, "seals", sealed ^ track.signed)
    track.check(all(count == 1 for count in jobs.values()), "seal jobs", jobs)
    track.check("Traceback" not in served.log, "log", "holds a traceback")
    return track


async def repeat(
    track: Track, name: str, race: Callable[[Track, Any], Awaitable[None]], rounds: int, hook: Any
) -> None:
    """Run one way of racing again and again."""
    for _ in range(rounds):
        try:
            await race(track, hook)
        except AssertionError as error:  # an answer that nothing should have refused
            track.check(False, name, str(error)[:300])


async def make_keys(served: Served, number: int) -> list[str]:
    """Return keys that are there to be revoked; no more are alive at once than an organisation may have."""
    wish = KeyWish("race", Mode.LIVE, frozenset({Scope.ALL}))
    async with open_installation(load_config(served.config)) as installation:
        return [(await accounts.create_key(installation, wish))[1] for _ in range(min(number, ALIVE))]


async def are_sealed(path: Path) -> bool | None:
    """Return True when no document waits for its seal, else None."""
    with closing(open_to_read(path)) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM document WHERE status = 'sealing'")
    return count == 0 or None


# ---------- the eleven ways ----------


async def sign_both(track: Track, hook: Any) -> None:
    """The last two sign: both have signed, and there is one seal."""
    document, _, [ada, bea] = await track.send_document(ADA, BEA)
    one, other = await track.race("sign/sign", ada.complete, bea.complete)
    track.check(one.status == other.status == 200, "sign/sign", one, other)
    await track.check_end("sign/sign", document, True, "")


async def sign_twice(track: Track, hook: Any) -> None:
    """The same person twice."""
    document, _, [ada] = await track.send_document(ADA)
    one, other = await track.race("sign/same", ada.complete, ada.complete)
    track.check_winner("sign/same", one, other)
    await track.check_end("sign/same", document, True, "")


async def sign_or_decline(track: Track, hook: Any) -> None:
    document, _, [ada] = await track.send_document(ADA)
    one, other = await track.race("sign/decline", ada.complete, ada.decline)
    signed = track.check_winner("sign/decline", one, other)
    await track.check_end("sign/decline", document, signed, "declined")


async def sign_or_cancel(track: Track, hook: Any) -> None:
    document, _, [ada] = await track.send_document(ADA)
    cancel = f"/documents/{document}/cancel"
    one, other = await track.race("sign/cancel", ada.complete, lambda: track.api.call("POST", cancel, {}))
    signed = track.check_winner("sign/cancel", one, other)
    await track.check_end("sign/cancel", document, signed, "cancelled")


async def sign_or_expire(track: Track, hook: Any) -> None:
    """A signature at the moment at which the time is over, and somebody who looks at it then."""
    document, _, [ada] = await track.send_document(ADA)
    at = round(time.time() * 1000) + EXPIRES_MS
    await track.api.ok("PATCH", f"/documents/{document}", {"expiresAt": rfc3339(at)})

    async def sign_late() -> Answer:
        await asyncio.sleep(max(0.0, at / 1000 - time.time() + track.random.uniform(-5, 1) * SPREAD))
        return await ada.complete()

    async def look() -> Answer:
        await asyncio.sleep(max(0.0, at / 1000 - time.time()))
        return await track.api.call("GET", f"/documents/{document}")

    signed, _ = await track.race("sign/expire", sign_late, look)
    name = "sign/expire"
    track.check(signed.status == 200 or signed.code == "document_not_sent", name, signed)
    await track.check_end(name, document, signed.status == 200, "expired")


async def send_twice(track: Track, hook: Any) -> None:
    document = await track.api.create()
    send = lambda: track.api.call("POST", f"/documents/{document}/send", {})  # noqa: E731  both do the same
    track.check_winner("send/send", *await track.race("send/send", send, send))
    mails = [entry for entry in await track.api.trail(document) if entry == "document.sent"]
    track.check(len(mails) == 1, "send/send", mails)


async def send_or_change(track: Track, hook: Any) -> None:
    """What is sent is what was seen."""
    document = await track.api.create()
    one, other = await track.race(
        "send/patch",
        lambda: track.api.call("POST", f"/documents/{document}/send", {}, if_match='"1"'),
        lambda: track.api.call("PATCH", f"/documents/{document}", {"title": "Other"}, if_match='"1"'),
    )
    sent = track.check_winner("send/patch", one, other)
    found = await track.api.get(document)
    expected = ("sent", "agreement") if sent else ("draft", "Other")
    track.check((found["status"], found["title"]) == expected, "send/patch", found["status"], found["title"])


async def delete_or_download(track: Track, hook: Any) -> None:
    """The file comes whole or not at all; the deletion always succeeds."""
    document = await track.api.create()
    sha256 = (await track.api.get(document))["fileSha256"]
    path = f"/documents/{document}"
    track.deleted.add(document)
    deleted, file = await track.race(
        "delete/download",
        lambda: track.api.call("DELETE", path),
        lambda: track.api.call("GET", f"{path}/files/original", accept="application/pdf"),
    )
    whole = file.status == 200 and hashlib.sha256(file.content).hexdigest() == sha256
    track.check(deleted.status == 200 and (whole or file.status == 404), "delete/download", deleted, file)


async def rotate_or_deliver(track: Track, hook: Any) -> None:
    """Each delivery is signed by a secret that lives: the one before the rotation or the one after it."""
    document = await track.api.create()
    track.served.receiver.came.clear()
    path = f"/webhooks/{hook['id']}"
    made, rotated = await track.race(
        "rotate/deliver",
        lambda: track.api.call("POST", "/templates", {"fromDocumentId": document}),
        lambda: track.api.call("POST", f"{path}/rotate-secret", {"graceHours": 0}),
    )
    track.check(made.status == 201 and rotated.status == 200, "rotate/deliver", made, rotated)
    old, new = str(hook["secret"]), str(rotated.body["secret"])
    delivered = await until(lambda: find_delivery(track.served.receiver), "delivery", 120)
    signed = [is_signed_by(delivered, secret) for secret in (old, new)]
    track.check(signed.count(True) == 1, "rotate/deliver", signed)
    hook["secret"] = new
    await track.api.ok("DELETE", f"/templates/{made.body['id']}")


async def find_delivery(receiver: Receiver) -> Delivered | None:
    """Return what has come, if anything has."""
    return receiver.came[0] if receiver.came else None


def is_signed_by(delivered: Delivered, secret: str) -> bool:
    """Return whether this secret is among those that signed."""
    stamp = int(delivered.headers["webhook-timestamp"])
    return sign(secret, delivered.id, stamp, delivered.body) in delivered.headers["webhook-signature"].split()


async def correct_or_sign(track: Track, hook: Any) -> None:
    """Whoever the sender no longer means cannot sign; whoever has signed is not corrected."""
    document, [recipient], [ada] = await track.send_document(ADA)
    path = f"/documents/{document}/recipients/{recipient}"
    signed, corrected = await track.race(
        "sign/correct", ada.complete, lambda: track.api.call("PATCH", path, {"email": BEA})
    )
    won = track.check_winner("sign/correct", signed, corrected)
    [found] = (await track.api.get(document))["recipients"]
    track.check(found["email"] == (ADA if won else BEA), "sign/correct", found["email"])
    await track.check_end("sign/correct", document, won, "sent")


async def revoke_or_use(track: Track, hook: Any) -> None:
    """A key that is used while it is revoked: it works or it does not, and never afterwards."""
    if not track.keys:
        track.keys = await make_keys(track.served, ALIVE)
    api = Api(track.session, track.served.base, track.keys.pop())
    revoked, used = await track.race(
        "revoke/use",
        lambda: api.call("DELETE", "/api-keys/current"),
        lambda: api.call("GET", "/documents?limit=1"),
    )
    after = await api.call("GET", "/documents?limit=1")
    track.check(revoked.status == 200 and used.status in (200, 401), "revoke/use", revoked, used)
    track.check(after.status == 401 and after.code == "api_key_revoked", "revoke/use", after)


RACES: dict[str, Callable[[Track, Any], Awaitable[None]]] = {
    "sign/sign": sign_both,
    "sign/same": sign_twice,
    "sign/decline": sign_or_decline,
    "sign/cancel": sign_or_cancel,
    "sign/expire": sign_or_expire,
    "send/send": send_twice,
    "send/patch": send_or_change,
    "delete/download": delete_or_download,
    "rotate/deliver": rotate_or_deliver,
    "sign/correct": correct_or_sign,
    "revoke/use": revoke_or_use,
}
