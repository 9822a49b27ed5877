"""Feed what reads the text of strangers with inputs that coverage chooses: python -m tests.fuzz.guided TARGET [SECONDS]

It needs atheris, which has no builds for all that esign runs on and is therefore in no lock: pip install atheris. A
finding ends the run with a traceback and leaves the input in a file `crash-…` in the working folder.

Targets: `json` (the strict loader of bodies), `head` (the guard in front of every request), `fields` (the bodies of
requests and what a recipient enters), `audit` (the recomputation of an audit trail from a file).
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import atheris  # type: ignore[import-untyped]

with atheris.instrument_imports(include=["esign"]):
    from esign.core.document import audit_file
    from esign.core.document.document import FieldType
    from esign.core.document.field_types import INK, InvalidValue
    from esign.core.document.field_values import check_answer, prefill
    from esign.core.errors import Problem
    from esign.web.api.document_requests import CreateDocument
    from esign.web.api.examples import CREATE_DOCUMENT
    from esign.web.api.webhooks import CreateWebhook
    from esign.web.http import strict_json, validation
    from esign.web.http.request_guard import Guard
    from tests.core.document.test_audit import FACTS, chain
    from tests.factories import a_field, a_recipient, an_answer
    from tests.fakes import FakeClock
    from tests.reliability.bodies import change_value, write_value

SECONDS = 60
LARGEST = 8192  # bytes of an input
TODAY = date(2026, 11, 28)
MODELS = (CreateDocument, CreateWebhook)
BODY = {**CREATE_DOCUMENT, "file": "JVBERi0="}


def load_json(content: bytes) -> object:
    """Load a body. What is taken must be writable again as JSON; what is not raises a problem."""
    try:
        value = strict_json.load(content)
    except Problem as problem:
        assert problem.code == "invalid_json", problem
        return None
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def check_fields(content: bytes) -> None:
    """Check a value as bodies of requests, and as the answer and the prefilled value of each type of field."""
    value = load_json(content)
    for model in MODELS:
        with suppress(Problem):
            validation.check(model, value)
    for field_type in FieldType:
        field = a_field(field_type)
        with suppress(InvalidValue):
            found = check_answer(field, value, RECIPIENT, TODAY)
            check_answer(replace(field, value=found), value, RECIPIENT, TODAY)
        if isinstance(value, str | bool):
            with suppress(InvalidValue):
                prefill(field, value)


def check_head(content: bytes) -> None:
    """Ask with a head cut out of the input: method, path, query, then a name and a value for each line."""
    method, path, query, *lines = (*content.split(b"\n"), b"", b"", b"")[:80]
    headers = [(*line.split(b":", 1), b"")[:2] for line in lines]
    scope: dict[str, Any] = {
        "type": "http",
        "method": method.decode("latin-1"),
        "path": path.decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in headers],
        "client": ("192.0.2.1", 1),
        "scheme": "http",
        "http_version": "1.1",
    }
    statuses: list[int] = []

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    LOOP.run_until_complete(GUARD(scope, receive, send))  # type: ignore[arg-type]
    assert statuses in ([204], [400]), statuses


async def receive() -> Mapping[str, Any]:
    """Return an empty body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def answer(scope: Mapping[str, Any], receive: object, send: Callable[..., Any]) -> None:
    """Answer what the guard lets through."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def mutate_json(content: bytes, largest: int, seed: int) -> bytes:
    """Change what the input says, where it is JSON and in half of the cases; else its bytes."""
    random = Random(seed)
    if random.random() < 0.5:
        with suppress(ValueError, RecursionError):
            return write_value(change_value(json.loads(content), random), random)[:largest]
    return bytes(atheris.Mutate(content, largest))


def recompute_trail(content: bytes) -> None:
    """Recompute a trail. One without a fault must be one of those that it was made from."""
    found = audit_file.recompute(content)
    if not found.broken and found.entries:
        audit_file.list_completions(content)


PLAIN = [each for each in FieldType if each not in INK]
TRAIL = chain(*FACTS)
RECIPIENT = a_recipient()
LOOP = asyncio.new_event_loop()
GUARD = Guard(answer, clock=FakeClock(), is_own_host=lambda host, path: host == "sign.example.com")
HEAD = (
    b"GET\n/api/v1/documents\nlimit=2\nHost:sign.example.com\nAuthorization:Bearer esk_live_1\nUser-Agent:x"
)
TARGETS: dict[str, tuple[Callable[[bytes], object], Sequence[bytes]]] = {
    "json": (load_json, [json.dumps(BODY).encode(), b'{"a": [1, -0, 30.0, "\\ud83d\\ude00", null]}']),
    "head": (check_head, [HEAD]),
    "fields": (
        check_fields,
        [json.dumps(BODY).encode(), *(json.dumps(an_answer(a_field(each))).encode() for each in PLAIN)],
    ),
    "audit": (recompute_trail, [audit_file.write_audit_file("doc_1", TRAIL)]),
}


def main() -> None:
    """Run one target for some seconds, beginning with inputs that it takes."""
    name, *rest = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"{__doc__}")
    seconds = int(rest[0]) if rest else SECONDS
    check, seeds = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds):
            (Path(folder) / f"{number}").write_bytes(seed)
        options = [f"-max_total_time={seconds}", f"-max_len={LARGEST}", "-print_final_stats=1"]
        mutator = {} if name == "head" else {"custom_mutator": mutate_json}
        atheris.Setup([sys.argv[0], folder, *options], check, **mutator)
        atheris.Fuzz()


main()
