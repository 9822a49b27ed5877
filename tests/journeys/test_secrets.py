"""No secret leaks (T24): not into logs, errors, the database, the list of processes, or what children are given.

One server at DEBUG goes through the main journeys with secrets that are known, then everything it wrote is searched.
"""

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from esign.store.engine.connections import FILE
from tests.journeys.api import Answer, Api, Person, a_request, a_session, until
from tests.journeys.letters import link_in, part
from tests.journeys.program import Program, configuration, environment, meanwhile
from tests.journeys.receiver import Receiver
from tests.journeys.test_people import setup_link
from tests.mail.server import PASSWORD as MAIL_PASSWORD
from tests.mail.server import USER, Server, authenticate, serving
from tests.pki import a_seal, an_authority

CODE = re.compile(r"\b(\d{3})\s?(\d{3})\b")
PASSWORD, MISTYPED = "copper kettle under nine maples", "copper kettle under ten maples"
METRICS, PASSPHRASE = "metrics-token-4711-of-this-test", "passphrase of the seal 0815"
ACCESS_CODE = "blue-heron-93"
ADA = {
    "name": "Ada Lovelace",
    "email": "ada@example.test",
    "authentication": "access_code",
    "accessCode": ACCESS_CODE,
}
BOB = {"name": "Bob Noyce", "email": "bob@example.test", "authentication": "email_code", "order": 2}
SETTINGS = f"""
[mail]
host = "127.0.0.1"
port = {{port}}
security = "none"
username = "{USER}"
from = "sign@example.test"

[seal]
pkcs12 = "seal.p12"
"""
# Runs the program with the loggers of esign and of all libraries at DEBUG.
LOUD = """
import logging, sys
from esign.system import logs
set_up = logs.set_up_logs
def set_up_loudly(*given, **named):
    set_up(*given, **named)
    for name in ("", "esign"):
        logging.getLogger(name).setLevel(logging.DEBUG)
logs.set_up_logs = set_up_loudly
from esign.cli import main
main(sys.argv[1:])
"""


class LoudProgram(Program):
    """A server that logs all it can, with secrets in its environment."""

    def __init__(self, config: Path, secrets: Mapping[str, str]) -> None:
        super().__init__(config)
        self._secrets = secrets

    async def begin(self) -> None:
        command = (sys.executable, "-c", LOUD, "serve", "--config", self.config)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, env=environment(self._secrets), stderr=log
            )


class Search:
    """The secrets by their names, and where they were found although they must not be."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.found: list[tuple[str, str]] = []
        self.errors: list[bytes] = []

    def add(self, name: str, secret: str) -> str:
        assert len(secret) >= 6, name
        self.secrets[name] = secret
        return secret

    def look(self, place: str, content: bytes) -> None:
        """Note the secrets in a content; those in a link also by what stands behind its last slash."""
        self.found += [(place, name) for name, secret in self.secrets.items() if secret.encode() in content]

    def note_error(self, answer: Answer) -> None:
        assert answer.status >= 400, answer.content
        self.errors.append(answer.content)


async def newest_link(server: Server, address: str) -> str:
    async def find() -> str | None:
        mails = zip(server.envelopes, server.messages, strict=True)
        links = [link_in(message) for envelope, message in mails if envelope.rcpt_tos == [address]]
        return next((link for link in reversed(links) if link), None)

    return await until(find, f"mail to {address}")


async def newest_code(server: Server, address: str) -> str:
    async def find() -> str | None:
        mails = zip(server.envelopes, server.messages, strict=True)
        sent = [message for envelope, message in mails if envelope.rcpt_tos == [address]]
        texts = [part(message, "plain") for message in sent if link_in(message) is None]
        codes = [found[1] + found[2] for text in texts if (found := CODE.search(text))]
        return codes[-1] if codes else None

    return await until(find, f"code to {address}")


async def use_the_office(program: Program, search: Search) -> None:
    """Set up the owner, sign in with a wrong password and with the right one, and ask for a reset of it."""
    link = await setup_link(program)
    search.add("token of the set-up link", link.rpartition("/")[2])
    given = {"organisation": "Northlight", "timeZone": "Europe/Berlin", "name": "Ada", "email": "a@b.test"}
    origin = {"Origin": program.base, "Sec-Fetch-Site": "same-origin"}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.post(link, data={**given, "password": PASSWORD}, headers=origin) as answer:
            assert answer.status == 200
        for password in (MISTYPED, PASSWORD):
            form = {"email": "a@b.test", "password": password}
            async with browser.post(f"{program.base}/sign-in", data=form, headers=origin) as answer:
                await answer.read()
        for path in ("/documents", "/server/mail", "/server/seal", "/settings/keys", "/nowhere"):
            async with browser.get(f"{program.base}{path}") as answer:
                search.look(f"page {path}", (await answer.read()).replace(b"a@b.test", b""))
        cookies = [cookie.value for cookie in browser.cookie_jar if cookie.key.endswith("esign")]
        assert cookies
        search.add("cookie of the session", cookies[-1])


async def use_the_api(program: Program, search: Search, key: str, server: Server, hooks: Receiver) -> None:
    """Send a document whose recipients give codes, sign it, and make mistakes with each secret on the way."""
    async with a_session() as session:
        api = Api(session, program.base, key)
        hook = await api.webhook(hooks.url)
        search.add("secret of the webhook", hook["secret"])
        document = await api.create(recipients=[ADA, BOB])
        await api.send(document)
        first = Person(session, await newest_link(server, "ada@example.test"))
        search.add("token of a signing link", first.link.rpartition("/")[2])
        search.note_error(await first.enter("wrong-code"))
        assert (await first.enter(ACCESS_CODE)).status == 200
        await first.sign()
        second = Person(session, await newest_link(server, "bob@example.test"))
        search.add("token of another link", second.link.rpartition("/")[2])
        await second.send_code()
        code = await newest_code(server, "bob@example.test")
        search.note_error(await second.enter("000000" if code != "000000" else "111111"))
        assert (await second.enter(code)).status == 200
        await second.sign()
        for cookies in (first.cookies, second.cookies):
            for name, value in cookies.items():
                search.add(f"cookie {name} of {len(search.secrets)}", value)
        for path, body in (
            ("/documents", {"title": key, "unknown": hook["secret"]}),
            ("/documents", a_request(recipients=[{**ADA, "accessCode": ACCESS_CODE, "order": "x"}])),
            ("/webhooks", {"url": f"http://user:{MISTYPED.replace(' ', '-')}@127.0.0.1/"}),
        ):
            search.note_error(await api.call("POST", path, body))
        mistyped = key[:-1] + ("x" if key[-1] != "x" else "y")
        search.note_error(await Api(session, program.base, mistyped).call("GET", "/documents"))
        async with session.get(f"{program.base}/v1/documents?key={key}") as answer:
            search.errors.append(await answer.read())
        async with session.get(f"{first.link}/nothing?code={ACCESS_CODE}") as answer:
            search.errors.append(await answer.read())

        async def is_completed() -> bool | None:
            return await api.status(document) == "completed" or None

        await until(is_completed, "the seal")


def look_at_processes(program: Program, search: Search) -> None:
    """Search what others see of the server, of its workers and of the process with the key of the seal."""
    children = program.children()
    assert len(children) >= 2, "a worker and the signer"
    for process in (program.process.pid, *children):
        folder = Path(f"/proc/{process}")
        search.look(f"cmdline of {process}", (folder / "cmdline").read_bytes())
        assert re.search(r"Max core file size +0 +0 ", (folder / "limits").read_text())
        assert (folder / "mem").stat().st_uid == 0, "the memory is no longer the user's"
        try:
            variables = (folder / "environ").read_bytes()
        except PermissionError:  # nobody but root with all rights can see them
            continue
        search.look(f"environ of {process}", variables)
        assert process == program.process.pid or b"ESIGN_" not in variables


def look_at_files(folder: Path, search: Search) -> None:
    """Search the data folder, with the database and what is not in it yet, but for the keys."""
    assert (folder / f"{FILE}-wal").exists()
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix not in (".key", ".p12"):
            search.look(f"file {file.name}", file.read_bytes())


@pytest.mark.slow
async def test_nothing_secret_is_written_where_others_read(tmp_path: Path, receiver: Receiver) -> None:
    search = Search()
    (tmp_path / "seal.p12").write_bytes(a_seal(an_authority()).pkcs12(PASSPHRASE))
    given = {
        "ESIGN_SEAL__PASSPHRASE": search.add("passphrase of the seal", PASSPHRASE),
        "ESIGN_METRICS__TOKEN": search.add("token of the metrics", METRICS),
        "ESIGN_MAIL__PASSWORD": search.add("password of the mail server", MAIL_PASSWORD),
    }
    for name, secret in {
        "password": PASSWORD,
        "mistyped password": MISTYPED,
        "access code": ACCESS_CODE,
    }.items():
        search.add(name, secret)
    async with serving(authenticator=authenticate, auth_require_tls=False) as server:
        program = LoudProgram(configuration(tmp_path, SETTINGS.format(port=server.port)), given)
        await program.start()
        try:
            await use_the_office(program, search)
            ran = await meanwhile("keys", "create", "--name", "x", "--config", program.config, env=given)
            key = search.add("API key", ran.out.strip())
            await use_the_api(program, search, key, server, receiver)
            await asyncio.to_thread(look_at_processes, program, search)
            await asyncio.to_thread(look_at_files, tmp_path / "data", search)
        finally:
            await program.stop()
    search.look("log", program.log.read_bytes())
    for body in search.errors:
        search.look("body of an error", body)
    assert "DEBUG" in program.said.upper(), "the log is as loud as it can be"
    assert len(search.errors) >= 8 and len(search.secrets) >= 12
    assert search.found == []
