"""Two at once at the same document, key or webhook: one wins, the loser hears why, and nothing is done twice."""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.people.api_key import Scope
from esign.core.webhook.webhook_signature import sign
from esign.jobs import worker
from tests.api.site import SiteAnswer
from tests.journeys.receiver import Delivered, receiving
from tests.journeys.site import new_key
from tests.model import rules
from tests.model.rules import Attempt, ModelPerson, Paper
from tests.model.world import Call, ModelWorld

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUNDS = int(os.environ.get("TESTS_ROUNDS", "20"))  # a night's run takes 200
Work = Callable[[], Awaitable[Any]]


async def send_paper(world: ModelWorld, *people: ModelPerson) -> Paper:
    """A document that is out, everybody with the link of the mail."""
    people = people or (ModelPerson("", "ada@example.test"),)
    document_id, ids = await world.create(people)
    for person, id in zip(people, ids, strict=True):
        person.id, person.links = id, []
    paper = rules.create_paper(document_id, list(people))
    assert (await world.attempt(paper, Attempt("send"))).status == 200
    for id, _, token in await world.read_mails():
        for person in people:
            if person.id == id:
                person.links.append(rules.Link(token))
                await world.consent(token)  # the page is read before anybody races
    return paper


def by(person: ModelPerson, kind: str) -> Attempt:
    return Attempt(kind, person.id, token=person.links[0].token)


async def at_once(round: int, *works: Work) -> list[Any]:
    """Both from the same moment on; every second round the other one is the first in line."""
    barrier = asyncio.Barrier(len(works))

    async def start(work: Work) -> Any:
        await barrier.wait()
        return await work()

    turned = works[round % 2 :] + works[: round % 2]
    found = await asyncio.gather(*(start(work) for work in turned))
    return found[-(round % 2) :] + found[: -(round % 2)] if round % 2 else found


def won(answers: list[SiteAnswer]) -> list[bool]:
    return [answer.status < 400 for answer in answers]


async def facts(world: ModelWorld, paper: Paper) -> tuple[str, list[str]]:
    """The status, and the types of the published events; their sequence has no gap (I-b)."""
    status = (await world.attempt(paper, Attempt("fetch"))).body["status"]
    rows = await world.runtime.db.all(
        "SELECT sequence, body FROM event WHERE document_id = :id ORDER BY sequence", id=paper.id
    )
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    return status, [json.loads(row["body"])["type"] for row in rows]


async def seals_once(world: ModelWorld, paper: Paper, round: int) -> None:
    """There is one job for the seal; in some rounds it is done, too."""
    jobs = await world.runtime.db.all(
        "SELECT 1 FROM outbox WHERE kind = 'seal' AND document_id = :id", id=paper.id
    )
    assert len(jobs) == 1
    if round % 8:
        return
    await world.seal(broken=False)
    status, types = await facts(world, paper)
    assert (status, types.count("document.completed")) == ("completed", 1)


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_the_last_two_sign_and_there_is_one_seal(world: ModelWorld, round: int) -> None:
    paper = await send_paper(world, ModelPerson("", "ada@example.test"), ModelPerson("", "bea@example.test"))
    first, second = paper.people
    answers = await at_once(
        round,
        lambda: world.attempt(paper, by(first, "complete")),
        lambda: world.attempt(paper, by(second, "complete")),
    )
    assert all(won(answers))
    status, types = await facts(world, paper)
    assert (status, types.count("recipient.completed")) == ("sealing", 2)
    await seals_once(world, paper, round)


@pytest.mark.parametrize("round", range(ROUNDS))
@pytest.mark.parametrize("other", ["complete", "decline", "cancel"])
async def test_a_signature_and_what_would_prevent_it(world: ModelWorld, other: str, round: int) -> None:
    """Twice the same signature, signature against refusal, and (A18) signature against withdrawal."""
    paper = await send_paper(world)
    [person] = paper.people
    against = by(person, other) if other != "cancel" else Attempt(other)
    answers = await at_once(
        round,
        lambda: world.attempt(paper, by(person, "complete")),
        lambda: world.attempt(paper, against),
    )
    assert won(answers).count(True) == 1
    [loser] = [answer for answer in answers if answer.status >= 400]
    status, types = await facts(world, paper)
    assert loser.status == 409 and loser.body["error"]["currentStatus"] == status
    if won(answers)[0] or other == "complete":
        assert status == "sealing" and types.count("recipient.completed") == 1
        await seals_once(world, paper, round)
        assert not {"document.declined", "document.cancelled"} & set(types)
    else:
        assert status in ("declined", "cancelled") and "recipient.completed" not in types


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_a_signature_and_the_end_of_its_time(world: ModelWorld, round: int) -> None:
    paper = await send_paper(world)
    [person] = paper.people
    await world.attempt(paper, Attempt("edit expiry", value=world.clock.now() + 1))

    async def over() -> None:
        await asyncio.sleep(round / 5000)
        world.clock.advance(milliseconds=1)
        await world.tick()

    answer, _ = await at_once(0, lambda: world.attempt(paper, by(person, "complete")), over)
    status, types = await facts(world, paper)
    if answer.status == 200:
        assert status == "sealing" and "document.expired" not in types
        await seals_once(world, paper, round)
    else:
        assert (answer.code, status) == ("document_not_sent", "expired")
        assert types.count("document.expired") == 1 and "recipient.completed" not in types


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_it_is_sent_once(world: ModelWorld, round: int) -> None:
    document_id, [ada] = await world.create([ModelPerson("", "ada@example.test")])
    paper, send = rules.create_paper(document_id, []), Attempt("send")
    answers = await at_once(round, lambda: world.attempt(paper, send), lambda: world.attempt(paper, send))
    assert won(answers).count(True) == 1
    [loser] = [answer for answer in answers if answer.status >= 400]
    assert loser.status == 409 and loser.code in ("document_not_draft", "revision_mismatch")
    _, types = await facts(world, paper)
    assert (types.count("document.sent"), types.count("recipient.sent")) == (1, 1)
    assert [id for id, _, _ in await world.read_mails()].count(ada) == 1


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_what_is_sent_is_what_was_seen(world: ModelWorld, round: int) -> None:
    """Sending and changing with the same `If-Match`."""
    document_id, _ = await world.create([ModelPerson("", "ada@example.test")])
    paper, seen = rules.create_paper(document_id, []), {"If-Match": '"1"'}
    answers = await at_once(
        round,
        lambda: world.ask(Call("POST", f"/documents/{paper.id}/send"), **seen),
        lambda: world.ask(Call("PATCH", f"/documents/{paper.id}", {"title": "Other"}), **seen),
    )
    assert won(answers).count(True) == 1
    [loser] = [answer for answer in answers if answer.status >= 400]
    assert loser.status == 409 and loser.code in ("document_not_draft", "revision_mismatch")
    found = (await world.attempt(paper, Attempt("fetch"))).body
    expected = ("sent", "agreement") if won(answers)[0] else ("draft", "Other")
    assert (found["status"], found["title"]) == expected


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_a_file_is_handed_out_whole_or_not_at_all_while_it_is_deleted(
    world: ModelWorld, round: int
) -> None:
    document_id, _ = await world.create([ModelPerson("", "ada@example.test")])
    paper = rules.create_paper(document_id, [])
    sha256 = (await world.attempt(paper, Attempt("fetch"))).body["fileSha256"]
    deleted, file = await at_once(
        round,
        lambda: world.attempt(paper, Attempt("delete")),
        lambda: world.attempt(paper, Attempt("download original")),
    )
    assert deleted.status == 200
    if file.status == 200:
        assert hashlib.sha256(file.content).hexdigest() == sha256
    else:
        assert file.code == "not_found"


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_a_corrected_address_and_the_signature_of_the_old_one(world: ModelWorld, round: int) -> None:
    """Whoever the sender no longer means cannot sign any more; who has signed is not corrected."""
    paper = await send_paper(world)
    [person] = paper.people
    signed, corrected = await at_once(
        round,
        lambda: world.attempt(paper, by(person, "complete")),
        lambda: world.attempt(paper, Attempt("correct a recipient", person.id, 7)),
    )
    assert won([signed, corrected]).count(True) == 1, (signed, corrected)
    found = (await world.attempt(paper, Attempt("fetch"))).body
    if signed.status == 200:
        assert found["recipients"][0]["email"] == "ada@example.test"
        assert corrected.code in ("document_not_draft", "recipient_already_completed")
        await seals_once(world, paper, round)
    else:
        assert signed.code == "not_found" and found["recipients"][0]["status"] == "sent"
        asked = [address for id, address, _ in await world.read_mails() if id == person.id]
        assert asked == ["person7@example.test"]


@pytest.mark.parametrize("round", range(ROUNDS))
async def test_a_key_is_revoked_and_used(world: ModelWorld, round: int) -> None:
    key = await new_key(world.runtime, frozenset({Scope.ALL}), Mode.LIVE)
    bearer = {"Authorization": f"Bearer {key}"}
    revoked, used = await at_once(
        round,
        lambda: world.ask(Call("DELETE", "/api-keys/current"), **bearer),
        lambda: world.ask(Call("GET", "/documents"), **bearer),
    )
    assert revoked.status == 200
    assert used.status == 200 or used.code == "api_key_revoked"
    assert (await world.ask(Call("GET", "/documents"), **bearer)).code == "api_key_revoked"


@pytest.mark.parametrize("grace", [0, 24])
@pytest.mark.parametrize("round", range(ROUNDS // 2))
async def test_every_delivery_is_signed_by_a_secret_that_lives_while_it_is_rotated(
    world: ModelWorld, round: int, grace: int
) -> None:
    async with receiving() as receiver:
        hook = {"url": receiver.url, "events": ["document.created"]}
        made = (await world.ask(Call("POST", "/webhooks", hook))).body
        at = f"/webhooks/{made['id']}"
        await world.create([ModelPerson("", "ada@example.test")])
        rotated, _ = await at_once(
            round,
            lambda: world.ask(Call("POST", f"{at}/rotate-secret", {"graceHours": grace})),
            lambda: worker.drain_jobs(world.runtime, "webhook"),
        )
        [delivered] = receiver.came
        old, new = (signs(secret, delivered) for secret in (made["secret"], rotated.body["secret"]))
        assert old or new
        assert grace or not (old and new)
        assert (await world.ask(Call("DELETE", at))).status == 200


def signs(secret: str, delivered: Delivered) -> bool:
    """Whether this secret is among those that signed."""
    stamp = int(delivered.headers["webhook-timestamp"])
    return sign(secret, delivered.id, stamp, delivered.body) in delivered.headers["webhook-signature"].split()
