import json
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from esign.core.errors import CATALOGUE
from esign.core.webhook import PUBLISHED
from esign.web.api import ENDPOINTS, describe
from tests.api import described
from tests.api.site import Site, a_request

KEPT = Path(__file__).parents[2] / "docs" / "openapi.json"
OPERATIONS = [
    (f"{method} {path}", operation)
    for path, item in describe()["paths"].items()
    for method, operation in item.items()
]


def test_the_description_is_valid_openapi() -> None:
    assert describe()["openapi"] == "3.1.0" and describe()["info"]["version"].startswith("1.")
    validate(describe())


def test_the_kept_copy_is_the_generated_one() -> None:
    kept = KEPT.read_text("utf-8")
    assert json.loads(kept) == json.loads(json.dumps(describe())), "run esign openapi > docs/openapi.json"


@pytest.mark.asyncio(loop_scope="module")
async def test_it_is_served_without_a_key_to_everybody(site: Site) -> None:
    answer = await site.ask("GET", "/openapi.json", key=None)
    assert answer.status == 200 and answer.body == json.loads(json.dumps(describe()))
    assert "x-ratelimit-limit" not in answer.headers
    assert (await site.ask("GET", "/openapi.json", key="nonsense")).status == 200
    assert (await site.ask("HEAD", "/openapi.json", key=None)).headers["content-length"] == str(
        len(answer.content)
    )


def test_every_endpoint_of_the_table_is_described() -> None:
    assert sorted(name for name, _ in OPERATIONS) == sorted(f"{e.method.lower()} {e.path}" for e in ENDPOINTS)


@pytest.mark.parametrize("operation", [o for _, o in OPERATIONS], ids=[name for name, _ in OPERATIONS])
def test_an_operation_shows_its_success_and_two_error_bodies_or_more(operation: dict[str, Any]) -> None:
    [(status, success)] = [item for item in operation["responses"].items() if item[0][0] == "2"]
    assert status in ("200", "201")
    content = success["content"]["application/json"]
    assert "example" in content or operation["security"] == []  # only this description itself is too long
    errors = [
        example["value"]["error"]
        for status, answer in operation["responses"].items()
        if status[0] in "45"
        for example in answer["content"]["application/json"]["examples"].values()
    ]
    assert len(errors) >= 2 and {error["code"] for error in errors} <= CATALOGUE.keys()
    assert set(operation["responses"]) <= {"200", "201", "400", "401", "404", "409", "429", "500", "503"}


def examples() -> list[tuple[str, Any]]:
    """Each schema that shows an example, with it."""
    schemas = describe()["components"]["schemas"]
    return [(name, example) for name, schema in schemas.items() for example in schema.get("examples", [])]


@pytest.mark.parametrize("name, example", examples(), ids=[name for name, _ in examples()])
def test_every_example_is_what_its_schema_says(name: str, example: Any) -> None:
    faults = list(described.validator("components", "schemas", name).iter_errors(example))
    assert not faults, f"{faults[0].json_path}: {faults[0].message}"


@pytest.mark.asyncio(loop_scope="module")
async def test_the_example_of_a_request_works_when_its_file_is_a_real_one(site: Site) -> None:
    body = describe()["components"]["schemas"]["CreateDocument"]["examples"][0]
    document = await site.created(**{**body, "file": a_request()["file"]})
    shown = describe()["components"]["schemas"]["DocumentReply"]["examples"][0]
    assert document.keys() == shown.keys()
    assert document["recipients"][0].keys() == shown["recipients"][0].keys()
    assert document["recipients"][0]["fields"][0].keys() == shown["recipients"][0]["fields"][0].keys()


def test_every_answer_always_has_every_member() -> None:
    """What is not there is null: a client need not ask whether a member exists (contract 3.1)."""
    schemas = describe()["components"]["schemas"]
    answers = {
        name: s for name, s in schemas.items() if "Input" not in name and not name.startswith("Create")
    }
    del answers["Error"]
    optional = {
        name: missing
        for name, schema in answers.items()
        if schema.get("type") == "object"
        and name.endswith(("Reply", "Page", "Created", "Deleted", "Descriptor", "Event", "Data"))
        and (missing := set(schema["properties"]) - set(schema.get("required", [])))
    }
    assert optional == {}


def test_every_event_that_is_sent_is_described() -> None:
    assert list(describe()["webhooks"]) == list(PUBLISHED)


def test_the_types_of_fields_are_told_apart_by_their_type() -> None:
    fields = describe()["components"]["schemas"]["RecipientInput"]["properties"]["fields"]["items"]
    assert fields["discriminator"]["propertyName"] == "type" and len(fields["oneOf"]) == 10


def test_an_answer_that_is_not_as_described_is_noticed() -> None:
    """The check behind every other test of these bites."""
    headers = {"x-request-id": "req_1", **described.EVERYWHERE}
    whole = {**headers, **dict.fromkeys((name.lower() for name in described.RATES), "1"), "location": "/"}
    good = {"id": "doc_1", "status": "draft"}
    create = "/api/v1/documents"
    described.check("POST", create, 201, whole, good)
    for wrong in ({**good, "title": "a"}, {"id": "doc_1"}, {**good, "status": "unknown"}):
        with pytest.raises(AssertionError):
            described.check("POST", create, 201, whole, wrong)
    with pytest.raises(AssertionError):
        described.check("POST", create, 202, whole, good)
    with pytest.raises(AssertionError):
        described.check("POST", create, 201, headers, good)
    error = {"error": {"code": "document_not_draft", "message": "m", "requestId": "req_1"}}
    with pytest.raises(AssertionError):
        described.check("GET", create, 409, whole, error)
