"""The calls that the page at /api offers to copy, run in a shell against a running server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.web.reference import build_context
from tests.api.site import Site, a_request

NOT_NOW = {
    "revokeCurrentApiKey",  # ends the key of every other test
    "registerWebhook",  # its example is an address of the network
}


@pytest.fixture(scope="module")
def calls(site: Site) -> dict[str, Any]:
    """Every operation of the page by its name."""
    shown = build_context(site.runtime.config)
    return {found["id"]: found for tag in shown["tags"] for found in tag["operations"]}


async def run(command: str, folder: Path, **variables: str) -> tuple[int, str]:
    """The status and the body; the only thing added is the question for the status."""
    shell = await asyncio.create_subprocess_exec(
        *("sh", "-c", command + ' -w "\\n%{http_code}"'),
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **variables},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await shell.communicate()
    body, _, status = out.decode().rpartition("\n")
    return int(status), body


async def make_examples(site: Site) -> dict[str, str]:
    """What the variables of the calls stand for: a draft, somebody on it, and one of everything else."""
    draft = await site.create_draft()
    template = await site.ok("POST", "/templates", {"fromDocumentId": draft["id"]})
    member = await site.ok(
        "POST", "/members", {"email": f"{draft['id']}@example.test", "name": "M", "role": "member"}
    )
    await site.new_key()
    keys = (await site.ok("GET", "/api-keys"))["data"]
    hook = await site.ok("POST", "/webhooks", {"url": "http://localhost:9999/", "events": ["document.sent"]})
    tested = await site.ok("POST", f"/webhooks/{hook['id']}/test")
    [event] = (await site.ok("GET", "/events?limit=1"))["data"]
    return {
        "WEBHOOK": hook["id"],
        "DELIVERY": tested["deliveryId"],
        "EVENT": event["id"],
        "KEY": site.key,
        "DOCUMENT": draft["id"],
        "RECIPIENT": draft["recipients"][0]["id"],
        "TEMPLATE": template["id"],
        "MEMBER": member["id"],
        "API_KEY": keys[0]["id"],
    }


SIMPLE = [
    *("listDocuments", "createDocument", "getDocument", "sendDocument", "getAuditTrail", "changeDocument"),
    *(
        "deleteDocument",
        "duplicateDocument",
        "getPages",
        "addRecipient",
        "removeRecipient",
        "changeRecipient",
    ),
    *("listTemplates", "createTemplate", "getTemplate", "deleteTemplate", "useTemplate"),
    *("listApiKeys", "getApiKey", "renameApiKey", "revokeApiKey", "getAccount", "getUsage", "getSettings"),
    *("changeSettings", "listMembers", "changeMember", "removeMember", "verifyPdf"),
    *("listWebhooks", "getWebhook", "deleteWebhook", "rotateSecret", "testWebhook", "listDeliveries"),
    *("getDelivery", "redeliverEvent", "recoverDeliveries", "listEvents", "getEvent"),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", SIMPLE)
async def test_a_call_of_the_page_works_as_it_stands(
    site: Site, calls: dict[str, Any], name: str, tmp_path: Path
) -> None:
    variables = await make_examples(site)
    if name == "useTemplate":  # the example fills the role and the field of the example before it
        made = await run(calls["createTemplate"]["curl"], tmp_path, **variables)
        variables["TEMPLATE"] = json.loads(made[1])["id"]
    status, body = await run(calls[name]["curl"], tmp_path, **variables)
    assert str(status) == calls[name]["status"], body


@pytest.mark.asyncio(loop_scope="module")
async def test_the_first_calls_of_a_program_work_one_after_the_other(
    site: Site, calls: dict[str, Any], tmp_path: Path
) -> None:
    _, made = await run(calls["createDocument"]["curl"], tmp_path, KEY=site.key)
    variables = {"KEY": site.key, "DOCUMENT": json.loads(made)["id"]}
    _, sent = await run(calls["sendDocument"]["curl"], tmp_path, **variables)
    variables["RECIPIENT"] = json.loads(sent)["recipients"][0]["id"]
    status, link = await run(calls["issueLink"]["curl"], tmp_path, **variables)
    assert status == 200 and "/s/" in json.loads(link)["url"]
    assert (await run(calls["remindRecipients"]["curl"], tmp_path, **variables))[0] == 200
    status, refused = await run(calls["retrySeal"]["curl"], tmp_path, **variables)
    assert (status, json.loads(refused)["error"]["code"]) == (409, "seal_not_failed")
    status, cancelled = await run(calls["cancelDocument"]["curl"], tmp_path, **variables)
    assert (status, json.loads(cancelled)["status"]) == (200, "cancelled")
    original = calls["getFile"]["curl"].replace("/sealed", "/original")
    assert (await run(original, tmp_path, **variables))[0] == 200
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.asyncio(loop_scope="module")
async def test_the_calls_of_test_mode_work_with_a_test_key(
    site: Site, calls: dict[str, Any], tmp_path: Path
) -> None:
    key = await site.new_key(mode=Mode.TEST)
    fields = [{"type": "text", "key": "iban", "page": 1, "x": 1, "y": 1}]
    signer = site.signer(fields=fields)
    made = await site.ok("POST", "/documents", a_request(recipients=[signer], send=True), key=key)
    shown = await site.ok("GET", f"/documents/{made['id']}", key=key)
    variables = {"KEY": key, "DOCUMENT": made["id"], "RECIPIENT": shown["recipients"][0]["id"]}
    status, body = await run(calls["simulateRecipient"]["curl"], tmp_path, **variables)
    assert status == 200 and json.loads(body)["recipients"][0]["status"] == "completed", body
    assert (await run(calls["listTestMessages"]["curl"], tmp_path, **variables))[0] == 200
