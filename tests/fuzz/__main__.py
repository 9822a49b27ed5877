"""Ask every operation of the description what hypothesis can think of: python -m tests.fuzz [--cases N] [--seed N]

The server is the program as it is served, with its limits raised. Two keys ask, one of each mode. No answer may be a
failure of the server, nor of a status, a shape, a header or an error code that its operation does not describe. As
many mutated bodies follow, as `python -m tests.reliability bodies` sends them.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import schemathesis
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.errors import InvalidSchema
from schemathesis.specs.openapi import checks

from esign.web.api.endpoint_table import describe
from tests.api import described
from tests.fuzz.world import FuzzWorld
from tests.journeys.program import Program, configuration
from tests.reliability import bodies

HELD = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
LIMITS = """
[limits]
requests_per_minute = 100000
verifies_per_minute = 100000
auth_failures_per_minute = 100000
emails_per_day = 1000000
webhooks = 1000
templates = 100000
api_keys = 1000

[signing]
reads_per_minute = 0
writes_per_minute = 0
"""
TAME = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
UNIQUE = re.compile(r"req_\w+")
EACH = 5  # faults of one operation with one status are enough to see what is wrong
AS_DESCRIBED = 0.7  # of the cases; the others break a rule of the description


class Tally:
    """What was asked and answered."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.by_operation: dict[str, Counter[int]] = {}
        self.faults: dict[str, str] = {}
        self.not_drawn = 0  # cases that the library could not think of

    def count(self, operation: str, status: int) -> None:
        self.statuses[status] += 1
        self.by_operation.setdefault(operation, Counter())[status] += 1

    def skip(self) -> NoReturn:
        """Leave out a case that breaks a rule in a way that nothing can fit, and draw another."""
        self.not_drawn += 1
        reject()

    def blame(self, operation: str, status: int, error: Exception, how: str) -> None:
        """Each fault once: what is wrong, without the id of the request, and a call that shows it."""
        said = str(error).strip() or repr(error)
        place = f"{operation} {status}"
        same = [known for known in self.faults if known.startswith(f"{place}: ")]
        if len(same) < EACH:
            self.faults.setdefault(f"{place}: {UNIQUE.sub('…', said.splitlines()[0])}", f"{said}\n{how}")

    @property
    def asked(self) -> int:
        return self.statuses.total()

    @property
    def heard(self) -> int:
        """How many were let in: neither 401 nor 429."""
        return self.asked - self.statuses[401] - self.statuses[429]


def examine(world: FuzzWorld, operation: Any, cases: int, seed: int, tally: Tally) -> None:
    """The cases of one operation."""
    name = operation.definition.raw["operationId"]

    def check(drawn: tuple[Any, int]) -> None:
        case, random = drawn[0], Random(drawn[1])
        side = world.sides[random.random() < (0.8 if "/test/" in operation.path else 0.3)]
        world.reach(side, case, random)
        key = world.key_for(side, name)
        response = case.call(
            base_url=world.base,
            session=world.session,
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
        )
        tally.count(name, response.status_code)
        try:
            hold(case, response)
        except Exception as error:
            tally.blame(name, response.status_code, error, case.as_curl_command())
        is_json = "json" in response.headers.get("content-type", [""])[0]
        world.learn(side, case, response.status_code, response.json() if is_json else None)

    for mode, share in ((GenerationMode.POSITIVE, AS_DESCRIBED), (GenerationMode.NEGATIVE, 1 - AS_DESCRIBED)):
        drawn = draw_cases(operation.as_strategy(generation_mode=mode), tally)
        many = settings(TAME, max_examples=max(1, round(cases * share)))
        try:
            seeded(seed)(many(given(drawn)(check)))()
        except Unsatisfiable:  # there is no rule to break
            continue


@st.composite
def draw_cases(draw: Any, strategy: Any, tally: Tally) -> tuple[Any, int]:
    """A case of an operation, and the seed of what else is chosen by chance."""
    try:
        return draw(strategy), draw(st.integers(0, 2**32))
    except InvalidSchema:
        tally.skip()


def hold(case: Any, response: Any) -> None:
    """Against the description: once as everybody reads it, once as strictly as every other test here does."""
    case.validate_response(response, checks=HELD)
    headers = {name: values[0] for name, values in response.headers.items()}
    is_json = headers.get("content-type") == "application/json"
    path = response.request.path_url
    described.check(case.method, path, response.status_code, headers, response.json() if is_json else None)


def fuzz(world: FuzzWorld, cases: int, seed: int) -> Tally:
    """About as many cases as asked for, shared out evenly, with new things to act on now and then."""
    tally = Tally()
    loaded: Any = schemathesis.openapi.from_dict(describe())
    operations = [found.ok() for found in loaded.get_all_operations()]
    for n, operation in enumerate(operations):
        left = cases - tally.asked
        for side in world.sides:
            world.refresh(side)
        examine(world, operation, max(1, round(left / (len(operations) - n))), seed, tally)
    [create] = [one for one in operations if one.definition.raw["operationId"] == "createDocument"]
    while (
        left := cases - tally.asked
    ) > 0:  # some operations have few cases to think of, this one any number
        seed += 1
        examine(world, create, left, seed, tally)
    return tally


async def play(cases: int, seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        program = Program(configuration(Path(folder), LIMITS))
        await program.start()
        try:

            def work() -> Tally:
                world = FuzzWorld(program.base, program.config)
                world.seed()
                tally = fuzz(world, cases, seed)
                mutated = bodies.send_from_all(program.base, bodies.list_targets(world), cases, seed)
                print("mutated bodies", dict(sorted(mutated.statuses.items())))
                tally.faults |= {f"a mutated body {n}": fault for n, fault in enumerate(mutated.faults)}
                return tally

            tally = await asyncio.to_thread(work)
        finally:
            await program.stop()
        if "Traceback" in program.said:
            tally.faults["the log of the server"] = program.said[program.said.index("Traceback") - 500 :][
                :20_000
            ]
        return tally


def report(tally: Tally, seconds: float) -> bool:
    """Print what came of it; whether all is well."""
    for name, counts in tally.by_operation.items():
        print(f"{name:24}", *(f"{status}: {n:<4}" for status, n in sorted(counts.items())))
    print("in all", dict(sorted(tally.statuses.items())), f"and {tally.not_drawn} that could not be drawn")
    share = tally.heard / tally.asked
    print(
        f"{tally.asked} cases in {seconds:.0f} s; {share:.0%} of the answers are neither 401 nor 429 (at least 50 %)"
    )
    for fault, how in tally.faults.items():
        print(f"\nFAULT {fault}\n{how}", file=sys.stderr)
    return not tally.faults and share >= 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of the libraries, about cases that are meant to be odd
    began = time.perf_counter()
    tally = asyncio.run(play(asked.cases, asked.seed))
    return 0 if report(tally, time.perf_counter() - began) else 1


sys.exit(main())
