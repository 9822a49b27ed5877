"""Holds the table of the contract's rows and their tests (`table/*.toml`) against the program and the tests there are.

Each file is one section of the contract. A row is named in our own words; where the program has a name for it (a
route, a state move, an event, an error code, a limit, a scope, a type), the row begins with that name and a colon.
"""

import ast
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from esign.config import LimitSettings
from esign.core.document.document import FieldType, RecipientStatus, Role, Status
from esign.core.errors import CATALOGUE
from esign.core.people.api_key import Scope
from esign.core.webhook.webhook import ALL_EVENTS
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.rest import V1
from tests.model.rules import TABLE as ATTEMPTS

ROOT = Path(__file__).parents[2]
FILES = sorted((Path(__file__).parent / "table").glob("*.toml"))
SECTIONS = {
    "1",
    "2.1",
    "2.1 attempts",
    "2.2",
    "3.1",
    "3.2",
    "3.2 create",
    "3.2 recipient",
    "3.2 PATCH",
    "3.2 files",
}
SECTIONS |= {"3.2 list", "3.2 links", "3.3", "3.4", "3.5", "4 fields", "4 common", "4 roles", "5 events"}
SECTIONS |= {"5 delivery", "6", "7", "8 keys", "8 test mode", "9", "invariants"}


@cache
def table() -> dict[str, dict[str, list[str]]]:
    """Section, row, and the tests that hold it."""
    found: dict[str, dict[str, list[str]]] = {}
    for file in FILES:
        found |= tomllib.loads(file.read_text("utf-8"))
    return found


ROWS = [(section, row) for section, rows in table().items() for row in rows]


def names(*sections: str) -> set[str]:
    """What the rows of these sections begin with."""
    return {row.partition(":")[0] for section in sections for row in table()[section]}


@cache
def functions(path: str) -> frozenset[str]:
    """The tests of a file, by reading it."""
    module = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(module) if isinstance(node, kinds))


@pytest.mark.parametrize(("section", "row"), ROWS)
def test_every_row_is_held_by_tests_that_exist(section: str, row: str) -> None:
    tests = table()[section][row]
    assert tests, "a row without a test"
    for test in tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), test
        assert name.startswith("test_") and name in functions(path), test


def test_every_section_of_the_contract_has_its_rows() -> None:
    assert table().keys() == SECTIONS and all(table().values())


def test_every_route_has_its_row() -> None:
    routes = {f"{endpoint.method} {endpoint.path.removeprefix(V1)}" for endpoint in ENDPOINTS}
    assert names("3.2", "3.3", "3.4", "3.5") - {"GET /healthz, GET /readyz"} == routes


def test_every_move_of_a_document_and_of_a_recipient_has_its_row() -> None:
    assert names("2.1") == {f"D{n}" for n in range(1, 13)}
    reached = {row.partition("→")[2].partition(":")[0].strip() for row in table()["2.2"] if "→" in row}
    assert reached == set(RecipientStatus)


def test_every_attempt_in_every_status_has_its_row() -> None:
    """The statuses of the table of attempts are those of the program."""
    assert names("2.1 attempts") == ATTEMPTS.keys()
    assert set(Status) == {"draft", "sent", "sealing", "completed", "declined", "expired", "cancelled"}


def test_every_event_has_its_row() -> None:
    assert names("5 events") == set(ALL_EVENTS)


def test_every_error_code_has_its_row() -> None:
    assert names("6") == CATALOGUE.keys()


def test_every_limit_of_the_settings_has_its_row() -> None:
    assert names("7") >= LimitSettings.model_fields.keys()


def test_every_type_role_and_scope_has_its_row() -> None:
    assert names("4 fields") == set(FieldType)
    assert names("4 roles") >= set(Role)
    assert set(Scope) <= words(table()["8 keys"])


def words(rows: Iterable[str]) -> set[str]:
    return {word for row in rows for word in re.findall(r"[a-z]+:[a-z]+|\*", row)}
