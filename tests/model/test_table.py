"""Every cell of the contract's table of attempts (2.1): what may be done in which status, and how it is refused."""

import pytest

from tests.api.site import SiteAnswer
from tests.model import rules
from tests.model.rules import (
    CLOSED,
    DAY,
    READS,
    RECIPIENTS,
    SENDERS,
    STATUSES,
    TABLE,
    Attempt,
    ModelPerson,
    Paper,
)
from tests.model.world import ModelWorld

pytestmark = pytest.mark.asyncio(loop_scope="module")

CELLS = [(kind, status) for kind in SENDERS for status in STATUSES]
BY_LINK = [(kind, status) for kind in RECIPIENTS for status in STATUSES if status != "draft"]
HARMLESS = (*READS, "duplicate", "edit externalId", "edit metadata")


@pytest.fixture(scope="module")
def known() -> dict[str, Paper]:
    """One document in each status, for attempts that leave it there."""
    return {}


async def a_paper(world: ModelWorld, status: str) -> Paper:
    """A document in this status, by the shortest way; a second recipient waits for her turn."""
    people = [ModelPerson("", "ada@example.test"), ModelPerson("", "bea@example.test", order=2)]
    people = people[:1] if status in ("sealing", "completed") else people
    document_id, ids = await world.create(people)
    paper = rules.create_paper(document_id, people)
    for person, id in zip(people, ids, strict=True):
        person.id = id
    if status == "draft":
        return paper
    await must(world, paper, Attempt("send"))
    for id, _, token in await world.read_mails():
        for person in people:
            if person.id == id:
                person.links.append(rules.Link(token))
    first = people[0]
    if status in ("sealing", "completed"):
        await must(world, paper, Attempt("complete", first.id, token=first.links[0].token))
    if status == "completed":
        await world.seal(broken=False)
    if status == "declined":
        await must(world, paper, Attempt("decline", first.id, token=first.links[0].token))
    if status == "cancelled":
        await must(world, paper, Attempt("cancel"))
    if status == "expired":
        await must(world, paper, Attempt("edit expiry", value=world.clock.now() + 1))
        world.clock.advance(milliseconds=1)
        await world.tick()
    assert await status_of(world, paper) == status
    return paper


async def must(world: ModelWorld, paper: Paper, act: Attempt) -> None:
    answer = await world.attempt(paper, act)
    assert answer.status in (200, 201), (act, answer)
    rules.attempt(paper, act, world.clock.now())


async def status_of(world: ModelWorld, paper: Paper) -> str:
    return str((await world.attempt(paper, Attempt("fetch"))).body["status"])


async def find_or_make_paper(world: ModelWorld, known: dict[str, Paper], status: str) -> Paper:
    if status not in known or await status_of(world, known[status]) != status:  # another test may seal all
        known[status] = await a_paper(world, status)
    return known[status]


def read_refusal(answer: SiteAnswer) -> tuple[str, str]:
    assert answer.status == 409, answer
    return answer.code, answer.body["error"]["currentStatus"]


@pytest.mark.parametrize(("kind", "status"), CELLS)
async def test_each_attempt_in_each_status(
    world: ModelWorld, known: dict[str, Paper], kind: str, status: str
) -> None:
    code = TABLE[kind].get(status)
    if kind == "retry-seal" and status == "sealing":
        code = "seal_not_failed"  # nothing failed yet; below it did
    paper = await (
        find_or_make_paper(world, known, status) if code or kind in HARMLESS else a_paper(world, status)
    )
    value = world.clock.now() + DAY if kind == "edit expiry" else 1
    answer = await world.attempt(paper, Attempt(kind, paper.people[0].id, value))
    if code:
        assert read_refusal(answer) == (code, status)
        assert await status_of(world, paper) == status
    else:
        assert answer.status in (200, 201), answer


@pytest.mark.parametrize(("kind", "status"), BY_LINK)
async def test_each_act_of_a_recipient_in_each_status(
    world: ModelWorld, known: dict[str, Paper], kind: str, status: str
) -> None:
    code = TABLE[kind].get(status)
    paper = await (find_or_make_paper(world, known, status) if code else a_paper(world, status))
    first = paper.people[0]
    answer = await world.attempt(paper, Attempt(kind, first.id, token=first.links[0].token))
    if code:
        assert read_refusal(answer) == (code, status)
    else:
        assert answer.status == 200, answer


async def test_a_seal_that_failed_may_be_retried(world: ModelWorld) -> None:
    paper = await a_paper(world, "sealing")
    await world.seal(broken=True)
    assert (await world.attempt(paper, Attempt("retry-seal"))).status == 200
    await world.seal(broken=False)
    assert await status_of(world, paper) == "completed"


async def test_a_draft_without_a_signer_is_not_ready(world: ModelWorld) -> None:
    document_id, _ = await world.create([])
    answer = await world.attempt(Paper(document_id), Attempt("send"))
    assert read_refusal(answer) == ("document_not_ready", "draft")


async def test_a_completed_document_under_retention_is_not_deleted(world: ModelWorld) -> None:
    paper = await a_paper(world, "completed")
    await world.retain(5)
    assert read_refusal(await world.attempt(paper, Attempt("delete"))) == ("retention_locked", "completed")
    world.clock.advance(days=5)
    assert (await world.attempt(paper, Attempt("delete"))).status == 200
    await world.retain(None)


@pytest.mark.parametrize("status", [s for s in STATUSES if s not in ("sent", "sealing")])
async def test_of_a_deleted_document_nothing_is_known_any_more(world: ModelWorld, status: str) -> None:
    paper = await a_paper(world, status)
    assert (await world.attempt(paper, Attempt("delete"))).status == 200
    for kind in SENDERS:
        value = world.clock.now() + DAY if kind == "edit expiry" else 1
        answer = await world.attempt(paper, Attempt(kind, paper.people[0].id, value))
        assert (answer.status, answer.code) == (404, "not_found"), kind


@pytest.mark.parametrize("status", STATUSES)
async def test_a_recipient_who_is_not_there_is_not_found_in_any_status(
    world: ModelWorld, known: dict[str, Paper], status: str
) -> None:
    paper = await find_or_make_paper(world, known, status)
    for kind in ("reorder a recipient", "remove a recipient", "correct a recipient", "link"):
        answer = await world.attempt(paper, Attempt(kind, "rcp_01kzt0v8q3e5m7p9r1s3t5v7w9", 1))
        assert answer.code == "not_found", kind


async def test_the_table_is_whole() -> None:
    """Each row of the contract stands in it, and each closed status answers alike."""
    assert len(CELLS) == 21 * 7
    for refusals in TABLE.values():
        assert len({refusals.get(status) for status in CLOSED}) == 1
