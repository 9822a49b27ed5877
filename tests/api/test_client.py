"""A client that a public generator makes of the kept description: it is whole, and it works."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from esign.web.api.endpoint_table import describe
from esign.web.api.examples import PDF
from tests.api.site import Site

DESCRIPTION = Path(__file__).parents[2] / "docs" / "openapi.json"

# Written against what was generated; its types are those of the description.
PROGRAM = """
import json, os
from client import AuthenticatedClient
from client.api.documents import create_document, get_document, get_file, list_documents, send_document
from client.models import (
    CreateDocument, DocumentCreated, DocumentPage, DocumentReply, Error, FileDescriptor, GetFileVariant,
    RecipientInput, SignatureField,
)

client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["KEY"])
signature = SignatureField(type_="signature", page=1, x=12, y=80)
recipient = RecipientInput(email="ada@example.test", name="Ada", fields=[signature])
body = CreateDocument(file_name="contract.pdf", file=os.environ["PDF"], recipients=[recipient])
made = create_document.sync(client=client, body=body, idempotency_key="generated-1")
assert isinstance(made, DocumentCreated), made
assert create_document.sync(client=client, body=body, idempotency_key="generated-1").id == made.id
sent = send_document.sync(made.id, client=client)
assert isinstance(sent, DocumentReply) and sent.status == "sent", sent
found = get_document.sync(made.id, client=client)
assert isinstance(found, DocumentReply) and found.to_dict() == sent.to_dict() | {
    "revision": found.revision, "updatedAt": found.to_dict()["updatedAt"],
    "recipients": found.to_dict()["recipients"],
}
[shown] = found.recipients
assert (shown.email, shown.fields[0].type_, shown.fields[0].x) == ("ada@example.test", "signature", 12)
page = list_documents.sync(client=client, limit=1)
assert isinstance(page, DocumentPage) and page.data[0].id == made.id
file = get_file.sync(made.id, GetFileVariant.ORIGINAL, client=client)
assert isinstance(file, FileDescriptor) and file.size > 0
refused = send_document.sync(made.id, client=client)
assert isinstance(refused, Error) and refused.error.code == "document_not_draft", refused
print(json.dumps({"id": made.id, "status": found.status}))
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the package `client`."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "plain.yml").write_text("post_hooks: []\n")
    ran = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "openapi_python_client",
                "generate",
                "--meta",
                "none",
                "--fail-on-warning",
            ),
            *("--path", DESCRIPTION, "--output-path", folder / "client", "--config", folder / "plain.yml"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0 and "arning" not in said, said
    return folder


def test_the_generated_client_has_every_operation(generated: Path) -> None:
    written = {file.stem.replace("_", "") for file in (generated / "client" / "api").glob("*/*.py")}
    wanted = {op["operationId"].lower() for item in describe()["paths"].values() for op in item.values()}
    assert wanted <= written


@pytest.mark.asyncio(loop_scope="module")
async def test_the_generated_client_creates_sends_and_fetches(site: Site, generated: Path) -> None:
    given = {"BASE": site.base, "KEY": site.key, "PDF": PDF}
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM),
        cwd=generated,
        env={**os.environ, **given},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await client.communicate()
    assert client.returncode == 0, err.decode()
    done = json.loads(out)
    assert done["status"] == "sent" == (await site.get(done["id"]))["status"]
