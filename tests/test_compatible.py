"""The check that keeps a release from breaking the programs of the one before, over the description as it is."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esign.web.api.endpoint_table import describe

SCRIPT = Path(__file__).parents[1] / "packaging" / "compatible"
Json = dict[str, Any]
Change = Callable[[Json, Json], object]  # what is changed in the document, and in its schemas


def compare_descriptions(folder: Path, change: Change, version: str = "1.1.0") -> list[str]:
    """What the check says of this description and a changed one of the next version."""
    old = json.loads(json.dumps(describe()))
    new = copy.deepcopy(old)
    change(new, new["components"]["schemas"])
    new["info"]["version"] = version
    for name, description in (("old", old), ("new", new)):
        (folder / name).write_text(json.dumps(description), "utf-8")
    ran = subprocess.run(
        [sys.executable, SCRIPT, folder / "old", folder / "new"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == bool(ran.stderr), ran
    return ran.stderr.splitlines()


def operation(document: Json, method: str, path: str) -> Json:
    found: Json = document["paths"][f"/api/v1{path}"][method]
    return found


ADDED: dict[str, Change] = {
    "an endpoint": lambda d, s: d["paths"].update({"/api/v1/new": d["paths"]["/api/v1/account"]}),
    "an optional member": lambda d, s: s["CreateDocument"]["properties"].update(colour={"type": "string"}),
    "a member of an answer": lambda d, s: s["DocumentReply"]["properties"].update(colour={"type": "string"}),
    "an event": lambda d, s: d["webhooks"].update({"a.b": d["webhooks"]["document.sent"]}),
    "a longer text": lambda d, s: s["DuplicateDocument"]["properties"]["title"]["anyOf"][0].update(
        maxLength=999
    ),
    "a status": lambda d, s: s["DocumentReply"]["properties"]["status"]["enum"].append("paused"),
    "an optional parameter": lambda d, s: operation(d, "get", "/documents")["parameters"].append(
        {"in": "query", "name": "colour", "schema": {"type": "string"}}
    ),
    "an error code": lambda d, s: operation(d, "get", "/account")["responses"]["404"]["content"][
        "application/json"
    ]["examples"].update(new_code={}),
}
BROKEN: dict[str, tuple[Change, str]] = {
    "an endpoint is gone": (lambda d, s: d["paths"].pop("/api/v1/account"), "GET /api/v1/account is gone"),
    "an event is gone": (lambda d, s: d["webhooks"].pop("document.sent"), "document.sent is gone"),
    "another name": (
        lambda d, s: operation(d, "get", "/account").update(operationId="other"),
        "is called other instead of getAccount",
    ),
    "a new required member": (
        lambda d, s: s["CreateDocument"]["required"].append("title"),
        "POST /api/v1/documents/title is required now",
    ),
    "a member is not taken": (
        lambda d, s: s["CreateDocument"]["properties"].pop("title"),
        "POST /api/v1/documents/title is not taken any more",
    ),
    "a shorter text": (
        lambda d, s: s["DuplicateDocument"]["properties"]["title"]["anyOf"][0].update(maxLength=9),
        "maxLength is 9 now",
    ),
    "fewer values": (
        lambda d, s: s["InviteMember"]["properties"]["role"]["enum"].remove("owner"),
        "are taken now",
    ),
    "a member of an answer is gone": (
        lambda d, s: s["DocumentPage"]["properties"].pop("hasMore"),
        "hasMore is gone",
    ),
    "a member of an answer may be missing": (
        lambda d, s: s["DocumentReply"]["required"].remove("seal"),
        "seal may be missing now",
    ),
    "another type in an answer": (
        lambda d, s: s["DocumentReply"]["properties"].update(title={"type": "integer"}),
        "string and integer do not fit",
    ),
    "another type in an event": (
        lambda d, s: s["EventDocument"]["properties"].update(title={"type": "integer"}),
        "string and integer do not fit",
    ),
    "a parameter is gone": (
        lambda d, s: operation(d, "get", "/documents").update(parameters=[]),
        "does not take the parameter",
    ),
    "a header is gone": (
        lambda d, s: operation(d, "post", "/documents")["responses"]["201"]["headers"].pop("Location"),
        "is without the header Location",
    ),
    "another status for the same case": (
        lambda d, s: operation(d, "get", "/account")["responses"].update(
            {"400": operation(d, "get", "/account")["responses"].pop("404")}
        ),
        "answers not_found with 400 instead of 404",
    ),
    "another status of a success": (
        lambda d, s: operation(d, "post", "/documents")["responses"].pop("201"),
        "does not answer 201 any more",
    ),
}


def test_the_same_description_is_compatible_with_itself(tmp_path: Path) -> None:
    assert compare_descriptions(tmp_path, lambda d, s: None, describe()["info"]["version"]) == []


@pytest.mark.parametrize("change", ADDED.values(), ids=ADDED)
def test_what_is_added_breaks_nobody(tmp_path: Path, change: Change) -> None:
    assert compare_descriptions(tmp_path, change) == []


@pytest.mark.parametrize(("change", "said"), BROKEN.values(), ids=BROKEN)
def test_what_a_program_may_rely_on_is_missed(tmp_path: Path, change: Change, said: str) -> None:
    found = compare_descriptions(tmp_path, change)
    assert found and all(said in sentence for sentence in found), found


def test_a_change_comes_with_a_higher_version(tmp_path: Path) -> None:
    [said] = compare_descriptions(tmp_path, ADDED["an event"], "1.0.0")
    assert "must rise above 1.0.0" in said
    assert any("major" in sentence for sentence in compare_descriptions(tmp_path, ADDED["an event"], "2.0.0"))
