from typing import Any

import pytest
from openapi_spec_validator import validate

from esign.core.errors import CATALOGUE
from esign.web.rest.openapi import describe
from esign.web.values.schema import Reply
from tests.web.world import ENDPOINTS


class ThingMade(Reply):
    type: str
    thing_id: str


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return describe(ENDPOINTS, version="1.2.3", server="http://localhost", webhooks={"thing.made": ThingMade})


def operations(description: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method} {path}", operation)
        for path, item in description["paths"].items()
        for method, operation in item.items()
    ]


def test_the_description_is_valid_openapi(description: dict[str, Any]) -> None:
    assert description["openapi"] == "3.1.0"
    validate(description)


def test_every_endpoint_is_described_once(description: dict[str, Any]) -> None:
    expected = sorted(f"{endpoint.method.lower()} {endpoint.path}" for endpoint in ENDPOINTS)
    assert sorted(name for name, _ in operations(description)) == expected
    ids = [operation["operationId"] for _, operation in operations(description)]
    assert len(set(ids)) == len(ids)


def test_every_operation_shows_two_error_bodies_or_more_in_the_shape_of_the_contract(
    description: dict[str, Any],
) -> None:
    for name, operation in operations(description):
        shown = [
            example["value"]["error"]
            for status, answer in operation["responses"].items()
            if status[0] in "45"
            for example in answer["content"]["application/json"]["examples"].values()
        ]
        assert len(shown) >= 2, name
        assert all(error["code"] in CATALOGUE and error["message"] and error["requestId"] for error in shown)


def test_an_operation_shows_its_parameters_headers_and_schemas(description: dict[str, Any]) -> None:
    create = description["paths"]["/api/v1/things"]["post"]
    listed = description["paths"]["/api/v1/things"]["get"]
    send = description["paths"]["/api/v1/things/{id}/send"]["post"]
    assert [p["name"] for p in create["parameters"]] == ["Idempotency-Key"]
    assert [(p["name"], p["in"], p.get("required", False)) for p in listed["parameters"]] == [
        ("limit", "query", False),
        ("cursor", "query", False),
        ("If-None-Match", "header", False),
    ]
    assert {"ETag", "RateLimit", "X-Request-Id"} == {
        name for name in listed["responses"]["304"]["headers"] if not name.startswith("X-Rate")
    } - {"RateLimit-Policy"}
    assert [p["name"] for p in send["parameters"]] == ["id", "Idempotency-Key", "If-Match"]
    assert "requestBody" not in send
    assert set(create["responses"]) == {"201", "400", "401", "404", "409", "429", "500", "503"}
    assert {"Location", "ETag", "RateLimit", "X-Request-Id"} <= set(create["responses"]["201"]["headers"])
    schema = description["components"]["schemas"]["CreateThing"]
    assert schema["required"] == ["title"] and schema["additionalProperties"] is False
    reply = description["components"]["schemas"]["ThingReply"]
    assert reply["required"] == ["id", "title", "revision", "madeAt"]
    assert "insufficient_scope" in create["responses"]["401"]["content"]["application/json"]["examples"]


def test_a_public_operation_needs_no_key(description: dict[str, Any]) -> None:
    shown = description["paths"]["/api/v1/openapi.json"]["get"]
    assert shown["security"] == [] and "401" not in shown["responses"]


def test_webhooks_are_described_by_the_models_of_their_bodies(description: dict[str, Any]) -> None:
    body = description["webhooks"]["thing.made"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"] == {"$ref": "#/components/schemas/ThingMade"}
