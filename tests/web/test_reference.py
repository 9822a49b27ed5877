"""The page at /api: all of the description is on it, and what it offers to copy is what it says."""

import html
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from esign.config import Config
from esign.core.errors import CATALOGUE
from esign.web.api.endpoint_table import describe
from esign.web.pages import Pages
from esign.web.reference import VERIFICATION, build_context, render_reference
from esign.web.reference.operations import name_variable
from esign.web.reference.schema_members import describe_bounds

OPERATIONS = [
    (method, path, operation)
    for path, item in describe()["paths"].items()
    for method, operation in item.items()
]


@pytest.fixture(scope="module")
def page() -> str:
    return render_reference(Pages.load(), Config()).decode()


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    return build_context(Config())


def test_every_operation_stands_on_the_page_once(page: str) -> None:
    for _, path, operation in OPERATIONS:
        assert page.count(f'id="{operation["operationId"]}"') == 1
        assert html.escape(operation["summary"]) in page and path in page


def test_every_event_and_every_code_can_be_led_to(page: str) -> None:
    for name in describe()["webhooks"]:
        assert f'id="event-{name}"' in page
    for code in CATALOGUE:
        assert f'id="code-{code}"' in page


def test_every_link_inside_the_page_leads_somewhere(page: str) -> None:
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets and targets <= set(re.findall(r'id="([^"]+)"', page))


def test_no_place_stands_twice(page: str) -> None:
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_an_operation_shows_each_parameter_member_and_code_of_its_own(shown: dict[str, Any]) -> None:
    found = {one["id"]: one for tag in shown["tags"] for one in tag["operations"]}
    assert found.keys() == {operation["operationId"] for _, _, operation in OPERATIONS}
    create = found["createDocument"]
    [form] = create["body"]
    rows = {row["name"]: row for row in form["rows"]}
    assert rows["fileName"]["required"] and rows["fileName"]["bounds"] == "1–255 characters, no folders"
    assert rows["send"]["default"] == "false" and not rows["send"]["required"]
    assert "file_encrypted" in dict(create["refusals"])["400"]
    assert [row["name"] for row in create["parameters"]] == ["Idempotency-Key"]
    assert len(found["createTemplate"]["body"]) == 2
    assert json.loads(create["example"])["status"] == "draft"


def test_every_object_that_a_table_leads_to_is_shown(shown: dict[str, Any]) -> None:
    named = {
        piece["object"]
        for tag in shown["tags"]
        for one in tag["operations"]
        for form in one["body"]
        for row in form["rows"]
        for piece in row["type"]
        if piece["object"]
    }
    assert named <= {one["name"] for one in shown["objects"]} and "RecipientInput" in named


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 9}, "1–9 characters"),
        ({"type": "integer", "minimum": 3}, "at least 3"),
        ({"type": "array", "maxItems": 50}, "at most 50 entries"),
        ({"anyOf": [{"type": "integer", "maximum": 4}, {"type": "null"}]}, "at most 4"),
        ({"enum": ["a", "b"]}, "one of a, b"),
        ({"type": "string", "pattern": "^a$"}, "matches ^a$"),
        ({"type": "string"}, ""),
    ],
)
def test_bounds_are_told_in_words(schema: dict[str, Any], said: str) -> None:
    assert ", ".join(describe_bounds(schema)) == said


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("/api/v1/documents/{id}/send", "id", "DOCUMENT"),
        ("/api/v1/documents/{id}/recipients/{rid}", "rid", "RECIPIENT"),
        ("/api/v1/webhooks/{id}/deliveries/{did}", "did", "DELIVERY"),
        ("/api/v1/api-keys/{id}", "id", "API_KEY"),
    ],
)
def test_ids_in_a_call_have_names(path: str, name: str, expected: str) -> None:
    assert name_variable(path, name) == expected


def test_the_way_to_check_a_signature_takes_the_known_answer_and_nothing_else() -> None:
    secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    body = '{"type":"webhook.test","timestamp":"2026-11-21T00:00:00.000Z","data":{"message":"ping"}}'
    headers = {
        "webhook-id": "evt_01kzt0v8q3e5m7p9r1s3t5v7w9",
        "webhook-timestamp": "1795219200",
        "webhook-signature": "v1,old v1,kdabQavh8LsLZObHtP9DJ76PgXmEJTUGV26OW7Td9QA=",
    }
    at = f"{VERIFICATION}\ntime.time = lambda: 1795219200\n"
    tried = [(secret, headers, body), (secret, headers, body + " ")]
    tried += [(secret, {**headers, "webhook-timestamp": "1795219201"}, body)]
    calls = "".join(f"print(authentic({s!r}, {h!r}, {b!r}.encode()))\n" for s, h, b in tried)
    late = f"time.time = lambda: 1795219501\nprint(authentic({secret!r}, {headers!r}, {body!r}.encode()))\n"
    ran = subprocess.run(
        [sys.executable, "-c", at + calls + late], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.split() == ["True", "False", "False", "False"]
