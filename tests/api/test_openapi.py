import json
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from esign.core.errors import CATALOGUE
from esign.core.webhook.webhook import ALL_EVENTS
from esign.web.api import words
from esign.web.api.endpoint_table import ENDPOINTS, describe
from tests.api import described
from tests.api.site import Site

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
    head = await site.ask("HEAD", "/openapi.json", key=None)
    assert head.headers["content-length"] == answer.headers["content-length"]


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
    assert set(operation["responses"]) <= {
        "200",
        "201",
        "304",
        "400",
        "401",
        "404",
        "409",
        "429",
        "500",
        "503",
    }


def examples() -> list[tuple[str, Any]]:
    """Each schema that shows an example, with it."""
    schemas = describe()["components"]["schemas"]
    return [(name, example) for name, schema in schemas.items() for example in schema.get("examples", [])]


def list_media_examples(content: dict[str, Any]) -> list[Any]:
    """The examples of one media type."""
    alone = [content["example"]] if "example" in content else []
    return alone + [example["value"] for example in content.get("examples", {}).values()]


def bodies() -> list[tuple[tuple[str, ...], Any]]:
    """Every example of a body that an operation or an event shows, with the place of its media type."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for kind in ("paths", "webhooks"):
        for path, methods in describe()[kind].items():
            for method, operation in methods.items():
                holders: dict[tuple[str, ...], Any] = {("requestBody",): operation.get("requestBody", {})}
                holders |= {("responses", s): answer for s, answer in operation["responses"].items()}
                for steps, holder in holders.items():
                    for media, content in holder.get("content", {}).items():
                        place = (kind, path, method, *steps, "content", media, "schema")
                        found += [(place, example) for example in list_media_examples(content)]
    return found


def test_every_body_that_is_shown_is_what_its_operation_says() -> None:
    assert len(bodies()) > 700
    for place, example in bodies():
        faults = list(described.validator(*place).iter_errors(example))
        assert not faults, f"{place}: {faults[0].instance_path}: {faults[0].message}"


def test_every_operation_that_takes_or_gives_a_body_shows_one() -> None:
    for name, operation in OPERATIONS:
        if "requestBody" in operation:
            assert list_media_examples(operation["requestBody"]["content"]["application/json"]), name
        for status, answer in operation["responses"].items():
            if status == "304":
                assert "content" not in answer
                continue
            content = answer["content"]["application/json"]
            assert list_media_examples(content) or operation["operationId"] == "getDescription", (
                f"{name} {status}"
            )


def test_the_example_of_an_event_is_of_that_event() -> None:
    for name, item in describe()["webhooks"].items():
        example = item["post"]["requestBody"]["content"]["application/json"]["example"]
        assert example["type"] == name
        assert item["post"]["summary"] == words.EVENTS[name]


def test_every_code_of_an_answer_is_named_in_its_description_and_shown() -> None:
    seen = set()
    for name, operation in OPERATIONS:
        for status, answer in operation["responses"].items():
            if status[0] in "45":
                named = set(re.findall(r"^- `(\w+)`:", answer["description"], re.MULTILINE))
                examples = answer["content"]["application/json"]["examples"]
                assert named == set(examples) and named, (name, status)
                assert all(CATALOGUE[code][0] == int(status) for code in named)
                assert all(example["value"]["error"]["code"] == c for c, example in examples.items())
                seen |= named
    assert seen <= CATALOGUE.keys()


def test_operations_have_names_that_a_program_can_use() -> None:
    names = [operation["operationId"] for _, operation in OPERATIONS]
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)+", name) for name in names), names
    assert len(set(names)) == len(names)


def test_operations_tags_and_parameters_are_described() -> None:
    """What is missing is written in esign/web/api/words.py, or where the handler is."""
    tags = {tag["name"]: tag["description"] for tag in describe()["tags"]}
    for name, operation in OPERATIONS:
        assert operation["summary"] and operation["description"].strip()[0].isupper(), name
        [tag] = operation["tags"]
        assert tags[tag], f"{tag} has no line in words.TAGS"
        for parameter in operation["parameters"]:
            assert parameter.get("description"), (
                f"{name}: {parameter['name']} has no line in words.PARAMETERS"
            )
            if parameter["in"] == "path":
                assert "  " not in parameter["description"] and " ." not in parameter["description"]
                assert parameter.get("example"), f"{name}: {parameter['name']} has no noun in words.NOUNS"


# The name and, in an answer, the format say all there is to say.
PLAIN = {"id", "title", "email", "name", "to", "text", "url", "page", "pageCount", "createdAt", "updatedAt"}


def test_members_are_described_where_the_name_does_not_say_it_all() -> None:
    """What is missing is written in esign/web/api/words.py."""
    missing = [
        f"{name}.{member}"
        for name, schema in describe()["components"]["schemas"].items()
        for member, value in schema.get("properties", {}).items()
        if member not in PLAIN and "description" not in value
    ]
    assert missing == [], "these have no line in words.MEMBERS"


def test_every_line_in_the_words_is_of_something() -> None:
    """A line whose member is gone is taken away."""
    schemas = describe()["components"]["schemas"]
    members = {member for schema in schemas.values() for member in schema.get("properties", {})}
    owners = {*schemas, *words.KINDS.values()}
    lost = [
        place
        for place in words.MEMBERS
        if place.rpartition(".")[2] not in members
        or (place.partition(".")[1] and place.split(".")[0] not in owners)
    ]
    assert lost == []


@pytest.mark.parametrize("name, example", examples(), ids=[name for name, _ in examples()])
def test_every_example_is_what_its_schema_says(name: str, example: Any) -> None:
    faults = list(described.validator("components", "schemas", name).iter_errors(example))
    assert not faults, f"{faults[0].instance_path}: {faults[0].message}"


@pytest.mark.asyncio(loop_scope="module")
async def test_the_example_of_a_request_works_as_it_stands(site: Site) -> None:
    body = describe()["components"]["schemas"]["CreateDocument"]["examples"][0]
    document = await site.create_draft(**body)
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
    assert list(describe()["webhooks"]) == list(ALL_EVENTS)


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
