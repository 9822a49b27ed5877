"""Random lives of documents, step by step, held against the model of the contract's state machines (section 2)."""

import asyncio
import copy
import os
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from esign.core.instant import parse
from tests.api.site import SiteAnswer
from tests.model import rules
from tests.model.rules import (
    DAY,
    HOUR,
    MINUTE,
    OF_ONE,
    OK,
    RECIPIENTS,
    SENDERS,
    TABLE,
    Attempt,
    ModelPerson,
    Paper,
)
from tests.model.world import ModelStage, ModelWorld, both, call_of

T = TypeVar("T")

# Every change 100 lives; `TESTS_MODEL=2000` is a night's run, each time another one and with longer lives.
EXAMPLES = int(os.environ.get("TESTS_MODEL", "100"))
NIGHT = "TESTS_MODEL" in os.environ
STEPS = 50 if NIGHT else 30
EDITS = SENDERS[: SENDERS.index("send")]
ACTS = SENDERS[len(EDITS) :]
NEW = ("add a recipient", "link", "duplicate")  # what answers something the model cannot know

FAILING = "sealing, once in vain"
# Where most can be tried, most lives begin.
FIRST = (*rules.STATUSES, "sent", "sent", "sent", FAILING, FAILING)

papers = st.integers(0, 3)
people = st.integers(0, 3)
values = st.integers(0, 4)
roles = st.sampled_from(["signer", "signer", "signer", "approver", "viewer", "cc"])
groups = st.lists(st.tuples(st.integers(1, 3), roles), min_size=1, max_size=3)
Group = list[tuple[int, str]]
Tried = tuple[str, int, int, int]


def several(kinds: Sequence[str]) -> st.SearchStrategy[list[Tried]]:
    """Attempts of these kinds: each with the numbers of a document and of a recipient, and a value."""
    return st.lists(st.tuples(st.sampled_from(kinds), papers, people, values), min_size=1, max_size=5)


alone = st.sampled_from([kind for kind in TABLE if kind not in NEW])
spans = st.sampled_from([MINUTE, 20 * MINUTE, HOUR, HOUR, DAY, DAY, 3 * DAY, 3 * DAY, 31 * DAY])


class Life(RuleBasedStateMachine):
    """What is kept here is the model; after every step the installation must show the same."""

    runner: ClassVar[asyncio.Runner]
    stage: ClassVar[ModelStage]
    cells: ClassVar[set[tuple[str, str]]]
    moves: ClassVar[set[str]]

    def __init__(self) -> None:
        super().__init__()
        self.world = ModelWorld(self.stage)
        self.papers: list[Paper] = []
        self.retained: int | None = None
        self.run(self.world.open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @property
    def now(self) -> int:
        return self.world.clock.now()

    # ---------- rules ----------

    @initialize(status=st.sampled_from(FIRST), group=groups)
    def begin(self, status: str, group: Group) -> None:
        """A document in this status, by the shortest way."""
        paper = self.new_paper([*group, (2, "signer")])
        if status != "draft":
            self.must(paper, "send")
        if status in ("sealing", FAILING, "completed"):
            self.everybody(paper)
        if status == FAILING:
            self.seal(broken=True)
        if status == "completed":
            self.seal(broken=False)
        if status == "declined":
            self.must(paper, "decline", self.pending(paper)[0])
        if status == "cancelled":
            self.must(paper, "cancel")
        if status == "expired":
            self.pass_time(31 * DAY)
        self.look()
        assert paper.status == ("sealing" if status == FAILING else status)

    @rule(group=groups)
    def create(self, group: Group) -> None:
        if len(self.papers) < 4:
            self.look(self.new_paper(group))

    @rule(tried=several(EDITS))
    def edit(self, tried: list[Tried]) -> None:
        """A program changes documents or the people on them."""
        self.try_all(tried)

    @rule(tried=several(ACTS))
    def act(self, tried: list[Tried]) -> None:
        """A program does something else with documents."""
        self.try_all(tried)

    @rule(tried=several(RECIPIENTS))
    def recipient(self, tried: list[Tried]) -> None:
        """Whoever holds a link uses it, also an old one."""
        self.try_all(tried)

    @rule(number=papers, failures=st.sampled_from([0, 0, 1, 4]))
    def everybody_signs(self, number: int, failures: int) -> None:
        """The seal then fails so often, each time when it is due."""
        self.everybody(self.paper(number))
        for n in range(failures):
            self.seal(broken=True)
            self.pass_time(rules.SEAL_RETRIES[n], ticks=False)

    @rule(
        first=alone,
        second=alone,
        number=papers,
        who=st.tuples(people, people),
        value=st.tuples(values, values),
    )
    def at_once(
        self, first: str, second: str, number: int, who: tuple[int, int], value: tuple[int, int]
    ) -> None:
        """Two attempts race: what both answer is what one order of them would."""
        paper = self.paper(number)
        one, other = (
            self.plan_attempt(paper, kind, n, v)
            for kind, n, v in zip((first, second), who, value, strict=True)
        )
        if one is None or other is None:
            return
        self.cells.update((act.kind, paper.status) for act in (one, other))
        found = self.run(both(self.world.attempt(paper, one), self.world.attempt(paper, other)))
        self.explain(paper, (one, other), found)
        self.look(self.paper(number))

    @rule(span=spans, ticks=st.booleans())
    def pass_time(self, span: int, ticks: bool = True) -> None:
        """The clock steps on; with `ticks` the program notices by itself."""
        self.world.clock.advance(milliseconds=span)
        if ticks:
            self.run(self.world.tick())
            rules.tick(self.papers, self.now)
        self.look()

    @rule(broken=st.booleans())
    def seal(self, broken: bool) -> None:
        """The seals that are due are tried, with or without the key."""
        self.run(self.world.seal(broken))
        rules.seal(self.papers, self.now, broken)
        self.look()

    @rule(days=st.sampled_from([None, 5]))
    def retain(self, days: int | None) -> None:
        self.run(self.world.retain(days))
        self.retained = days

    @rule(kind=alone, number=papers, who=people, value=values, wait=st.integers(0, 40))
    def crash(self, kind: str, number: int, who: int, value: int, wait: int) -> None:
        """Killed while an attempt is under way: it happened whole or not at all; what was answered happened."""
        paper = self.paper(number)
        act = self.plan_attempt(paper, kind, who, value)
        if act is None:
            return
        answer = self.run(self.world.crash_during(self.world.attempt(paper, act), wait / 4000))
        status = self.run(self.find_paper(paper))
        after = copy.deepcopy(paper)
        expected = rules.attempt(after, act, self.now, self.retained)
        if answer is not None:
            self.same(act, expected, answer)
        rules.meet(paper, self.now)
        if answer is not None or status == self.show_paper(after):
            self.put_back(paper, after)
        else:
            assert status == self.show_paper(paper), act
        rules.restart(self.papers, self.now)
        self.look()

    @rule(wait=st.integers(0, 20))
    def crash_while_sealing(self, wait: int) -> None:
        """Killed while seals are under way: each is there whole, or due again."""
        if not any(paper.status == "sealing" for paper in self.papers):
            return
        self.run(self.world.crash_during(self.world.seal(broken=False), wait / 40))
        for paper in self.papers:
            found = self.run(self.find_paper(paper))
            if paper.status == "sealing" and found is not None and found[0] == "completed":
                rules.seal_paper(paper, self.now)
        rules.restart(self.papers, self.now)
        self.look()

    # ---------- how ----------

    def paper(self, number: int) -> Paper:
        return self.papers[number % len(self.papers)]

    def new_paper(self, group: Group) -> Paper:
        asked = [
            ModelPerson("", f"first{len(self.papers)}.{n}@example.test", order, role)
            for n, (order, role) in enumerate(group)
        ]
        document_id, ids = self.run(self.world.create(asked))
        for person, id in zip(asked, ids, strict=True):
            person.id = id
        self.papers.append(rules.create_paper(document_id, asked))
        return self.papers[-1]

    def try_all(self, tried: list[Tried]) -> None:
        """One after the other; the links that were mailed meanwhile are seen at the end."""
        touched = []
        for kind, number, who, value in tried:
            paper = self.paper(number)
            act = self.plan_attempt(paper, kind, who, value)
            if act is not None:
                self.do(paper, act)
                touched.append(paper)
        self.look(*touched)

    def plan_attempt(self, paper: Paper, kind: str, who: int, value: int) -> Attempt | None:
        """The attempt with its recipient, link and value found; None where there is nobody to make it."""
        person = paper.people[who % len(paper.people)] if paper.people else None
        token = None
        if kind in RECIPIENTS:
            if person is None or not person.links:
                return None
            token = person.links[-1 - value % len(person.links)].token
        if kind == "edit expiry":
            value = self.now + (1 + value) * DAY
            if paper.expires_at is not None:
                value = min(value, max(self.now + 1, paper.sent_at + 365 * DAY))
        id = person.id if person else "rcp_01kzt0v8q3e5m7p9r1s3t5v7w9"
        return Attempt(kind, id if kind in OF_ONE else None, value, token)

    def do(self, paper: Paper, act: Attempt) -> None:
        answer = self.run(self.world.attempt(paper, act))
        rules.meet(paper, self.now)
        self.cells.add((act.kind, paper.status))
        self.same(act, rules.attempt(paper, act, self.now, self.retained), answer)
        if answer.status < 400:
            self.learn(paper, act, answer)

    def learn(self, paper: Paper, act: Attempt, answer: SiteAnswer) -> None:
        """What only the installation can say: ids and links."""
        if act.kind == "add a recipient":
            paper.people[-1].id = answer.body["id"]
        if act.kind == "link":
            until = min(self.now + DAY, paper.expires_at or 0)
            token = answer.body["url"].rpartition("/")[2]
            next(p for p in paper.people if p.id == act.who).links.append(rules.Link(token, until))
        if act.kind == "duplicate" and len(self.papers) < 4:
            ids = self.run(self.world.people_of(answer.body["id"]))
            again = [
                ModelPerson(id, person.email, person.order, person.role)
                for id, person in zip(ids, paper.people, strict=True)
            ]
            self.papers.append(rules.create_paper(answer.body["id"], again))
            copied = self.papers[-1]
            copied.title, copied.metadata, copied.reminders = paper.title, paper.metadata, paper.reminders

    def same(self, act: Attempt, expected: rules.ModelAnswer, answer: SiteAnswer) -> None:
        assert read_refusal(answer) == (expected.code, expected.status if answer.status == 409 else None), (
            act,
            answer,
        )

    def explain(
        self, paper: Paper, acts: tuple[Attempt, Attempt], found: tuple[SiteAnswer, SiteAnswer]
    ) -> None:
        """One order of the two gives what was answered; the model goes on from there.

        Where both do, such as a reminder beside a signature, it goes on from the one that gives what is there.
        """
        tried, fitting = [], []
        for order in ((0, 1), (1, 0)):
            after = copy.deepcopy(paper)
            answers = {n: rules.attempt(after, acts[n], self.now, self.retained) for n in order}
            fits = [
                read_refusal(found[n])
                == (answers[n].code, answers[n].status if found[n].status == 409 else None)
                for n in order
            ]
            if all(fits):
                if not after.deleted:
                    rules.meet(after, self.now)
                fitting.append(after)
            tried.append((order, answers))
        if fitting:
            events = self.run(self.world.read_events(paper))
            there = self.run(self.find_paper(paper)), list(events.values())
            same = [after for after in fitting if (self.show_paper(after), list_events(after)) == there]
            self.put_back(paper, (same or fitting)[0])
            return
        first = 0 if found[0].status < 400 else 1
        overtaken = found[1 - first]
        assert acts[1 - first].kind == "send" and overtaken.code == "revision_mismatch", (acts, found, tried)
        rules.attempt(paper, acts[first], self.now, self.retained)

    def put_back(self, paper: Paper, state: Paper) -> None:
        self.papers[self.papers.index(paper)] = state

    def must(self, paper: Paper, kind: str, person: ModelPerson | None = None) -> None:
        token = self.live(paper, person) if person else None
        self.do(paper, Attempt(kind, person.id if person else None, token=token))
        self.look(paper)

    def live(self, paper: Paper, person: ModelPerson) -> str:
        return next(k.token for k in reversed(person.links) if rules.lives(paper, k, self.now))

    def pending(self, paper: Paper) -> list[ModelPerson]:
        return [p for p in paper.people if p.pending]

    def everybody(self, paper: Paper) -> None:
        """Whoever is asked signs, until nobody is."""
        rules.meet(paper, self.now)
        while paper.status == "sent" and not paper.deleted:
            self.must(paper, "complete", self.pending(paper)[0])

    # ---------- what is held against the model after every step ----------

    def look(self, *changed: Paper) -> None:
        """These documents, or all, show what the model says, and their events are those of the model."""
        mailed = self.run(self.world.read_mails())
        for paper in {paper.id: paper for paper in changed or self.papers}.values():
            if not paper.deleted:
                rules.meet(paper, self.now)
            assert self.run(self.find_paper(paper)) == self.show_paper(paper)
            assert self.run(self.world.events_of(paper)) == list_events(paper)
            self.moves.update(paper.moves)
        self.hand_out(mailed)

    def hand_out(self, mailed: list[tuple[str, str, str]]) -> None:
        """The links that were mailed are theirs to whom they went."""
        everybody = {p.id: p for paper in self.papers for p in paper.people}
        for id, address, token in mailed:
            assert everybody[id].email == address
            everybody[id].links.append(rules.Link(token))

    def show_paper(self, paper: Paper) -> tuple[Any, ...] | None:
        if paper.deleted:
            return None
        return (
            paper.status,
            paper.title,
            paper.external_id,
            paper.metadata,
            paper.expires_at,
            paper.reminders,
            paper.seal_failures > 0,
            [(p.id, p.email, p.order, p.status, p.reminders_sent) for p in paper.people],
        )

    async def find_paper(self, paper: Paper) -> tuple[Any, ...] | None:
        answer = await self.world.ask(call_of(paper, Attempt("fetch")))
        if answer.status == 404:
            return None
        body = answer.body
        expires = None if body["expiresAt"] is None else parse(body["expiresAt"])
        return (
            body["status"],
            body["title"],
            body["externalId"],
            body["metadata"],
            expires,
            body["reminders"]["enabled"],
            body["sealError"] is not None,
            [(r["id"], r["email"], r["order"], r["status"], r["remindersSent"]) for r in body["recipients"]],
        )

    def teardown(self) -> None:
        for paper in self.papers:
            self.run(self.world.check_trail(paper))
        self.run(self.world.close())
        self.world.check_file()


def list_events(paper: Paper) -> list[tuple[str, str | None]]:
    """The events of a document that are still told: of a deleted one, that it was deleted."""
    return paper.events[-1:] if paper.deleted else paper.events


def read_refusal(answer: SiteAnswer) -> tuple[str, str | None]:
    """The code and the `currentStatus` of an answer."""
    if answer.status < 400:
        return OK, None
    return answer.code, answer.body["error"].get("currentStatus")


@pytest.fixture
def life(tmp_path: Path) -> Iterator[type[Life]]:
    """The machine with the loop in which all lives pass, and the stage that they share."""
    with asyncio.Runner(debug=False) as runner:
        Life.runner, Life.stage = runner, ModelStage(tmp_path)
        Life.cells, Life.moves = set(), set()
        runner.run(Life.stage.open())
        yield Life
        runner.run(Life.stage.close())


def test_every_life_of_a_document_is_as_the_contract_says(life: type[Life]) -> None:
    run_state_machine_as_test(
        life,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not NIGHT,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink) if NIGHT else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert {f"D{n}" for n in range(1, 13)} <= life.moves
    cells = {(kind, status) for kind in TABLE for status in rules.STATUSES}
    missed = (
        cells - life.cells - {(kind, "draft") for kind in RECIPIENTS}
    )  # before it is sent nobody has a link
    assert EXAMPLES < 1000 or not missed, (
        f"{len(missed)} cells of the table were not visited: {sorted(missed)}"
    )
