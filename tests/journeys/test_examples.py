"""The programs of docs/webhooks.md: word for word those of docs/examples, and they do what they say."""

import asyncio
import re
import shutil
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.journeys.api import PATIENCE, Api, Person, a_pdf
from tests.journeys.program import Program, environment, meanwhile
from tests.ports import reserve_port

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
FORGED = {
    "webhook-id": "evt_1",
    "webhook-timestamp": "1795219200",
    "webhook-signature": "v1,kdabQavh8LsLZObHtP9DJ76PgXmEJTUGV26OW7Td9QA=",
}


@pytest.mark.parametrize(("file", "language"), [("send.py", "python"), ("send.mjs", "js")])
def test_the_page_on_webhooks_shows_the_example_word_for_word(file: str, language: str) -> None:
    page = (ROOT / "docs" / "webhooks.md").read_text("utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)
    assert (EXAMPLES / file).read_text("utf-8") in blocks


def test_every_example_is_shown() -> None:
    assert {file.name for file in EXAMPLES.iterdir()} == {"send.py", "send.mjs"}


@pytest.mark.parametrize(("runtime", "file"), [(sys.executable, "send.py"), ("node", "send.mjs")])
async def test_an_example_sends_hears_and_fetches(
    program: Program, tmp_path: Path, runtime: str, file: str
) -> None:
    command = shutil.which(runtime)
    assert command is not None, f"{runtime} is missing: packaging/test installs it"
    made = await meanwhile("keys", "create", "--name", "example", "--config", program.config)
    key, port = made.out.strip(), reserve_port()
    (tmp_path / "contract.pdf").write_bytes(a_pdf())
    variables = {"ESIGN_URL": program.base, "ESIGN_KEY": key, "PORT": str(port)}
    example = await asyncio.create_subprocess_exec(
        *(command, EXAMPLES / file, "contract.pdf", "Ada Example", "ada@example.com"),
        cwd=tmp_path,
        env=environment(variables),
        stdout=asyncio.subprocess.PIPE,
    )
    assert example.stdout is not None
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
        line = (await example.stdout.readline()).decode()
        document, _, rest = line.partition(" ")
        assert rest == "is sent: ada@example.com was asked to sign.\n", line
        async with session.post(f"http://127.0.0.1:{port}/", data=b"{}", headers=FORGED) as answer:
            assert answer.status == 400
        api = Api(session, program.base, key)
        await sign(api, session, document)
        assert (await example.stdout.read()).decode() == f"{document} is completed: see sealed.pdf.\n"
        assert await example.wait() == 0
        assert (tmp_path / "sealed.pdf").read_bytes() == await api.file(document)
        assert "document.completed" in await api.trail(document)


async def sign(api: Api, session: aiohttp.ClientSession, document: str) -> None:
    """As Ada, by a link that the API hands out."""
    [recipient] = (await api.get(document))["recipients"]
    link = await api.ok("POST", f"/documents/{document}/recipients/{recipient['id']}/link")
    field = recipient["fields"][0]["id"]
    drawn = {"kind": "typed", "text": "Ada Example", "hand": "a"}
    await Person(session, link["url"]).sign({field: drawn})
