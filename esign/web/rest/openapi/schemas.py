"""The models of requests, queries, answers and events as JSON Schema, with descriptions of their members."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from esign.web.rest.endpoint import ApiRoute
from esign.web.rest.openapi.words import ApiWords

Json = dict[str, Any]
REF = "#/components/schemas/{model}"


class Schemas:
    """Every model of the table as JSON Schema, each once."""

    def __init__(
        self, routes: Iterable[ApiRoute], events: Iterable[type[BaseModel]], words: ApiWords
    ) -> None:
        used: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "serialization") for model in events]
        for route in routes:
            used += [(model, "validation") for model in (route.body, route.query) if model is not None]
            used += [(route.reply, "serialization")] if route.reply is not None else []
        self._places, found = models_json_schema(used, ref_template=REF)
        self.defined: dict[str, Json] = found.get("$defs", {})
        queries = {route.query for route in routes if route.query is not None}
        self._queries = {model: self.defined.pop(self._name(model, "validation")) for model in queries}
        bare = {route.body for route in routes if route.body is not None and not route.body.model_fields}
        for model in bare:
            del self.defined[self._name(model, "validation")]
        self._words = words
        for name, schema in self.defined.items():
            self._add_descriptions(name, schema)

    def describe_content(self, model: type[BaseModel], mode: JsonSchemaMode) -> Json:
        """Return the content object of a model for `application/json`, with its examples."""
        content: Json = {"schema": self._places[model, mode]}
        examples = self.defined[self._name(model, mode)].get("examples", ())
        if len(examples) == 1:
            content["example"] = examples[0]
        elif examples:
            content["examples"] = {f"form{n}": {"value": value} for n, value in enumerate(examples, 1)}
        return {"application/json": content}

    def parameters(self, model: type[BaseModel]) -> Iterator[Json]:
        """Yield the parameter objects of a model of query parameters."""
        schema = self._queries[model]
        for name, member in schema["properties"].items():
            text = member.get("description") or self._words.parameters.get(name)
            yield {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": {key: value for key, value in member.items() if key != "description"},
                **({"description": text} if text else {}),
            }

    def _add_descriptions(self, name: str, schema: Json) -> None:
        """Add descriptions to the members of a schema whose annotations have none."""
        words = self._words
        for member, value in schema.get("properties", {}).items():
            value.pop("title", None)
            places = (f"{name}.{member}", f"{words.kinds.get(name, name)}.{member}", member)
            text = next((words.members[place] for place in places if place in words.members), None)
            if text and "description" not in value:
                value["description"] = text

    def _name(self, model: type[BaseModel], mode: JsonSchemaMode) -> str:
        """Return the name under which the model's schema is defined."""
        return str(self._places[model, mode]["$ref"]).rpartition("/")[2]
