"""`esign demo`: create, sign, seal and verify a contract over the public interfaces, in a new folder."""

import asyncio
import os
import re
import shutil
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import click

from esign.actions.mail import embedded_outbox
from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.app import run_program
from esign.config import ConfigError, load_config
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import to_datetime
from esign.core.people.api_key import Scope
from esign.demo import contract, owner
from esign.demo.receiver import WebhookReceiver, run_receiver
from esign.demo.steps import StepFailed, Steps
from esign.pdf.report import VerificationCase
from esign.runtime import Runtime
from esign.store.engine.folder import UnusableFolder
from esign.system.clock import SystemClock
from esign.web.http.server import catch_signals

WAIT = 60.0
ELSEWHERE = ("ESIGN_SERVER__", "ESIGN_STORAGE__", "ESIGN_MAIL__")
EXPECTED = [
    "document.created",
    "document.sent",
    "recipient.sent",
    "recipient.viewed",
    "recipient.completed",
    "recipient.sent",
    "recipient.viewed",
    "recipient.completed",
    "document.completed",
]

SETTINGS = """# The settings of this demonstration; every key has its line in esign.toml.example.
[server]
port = {port}

[storage]
data_dir = "./data"

[organisation]
name = "Fernhill Gardens"
reply_to = "office@fernhill.example"
time_zone = "Europe/Dublin"
"""


async def run_demo(into: Path | None, leave: bool, webhook: str | None) -> int:
    """Return 0 if every step succeeded, else 1 after naming the step. Serves on until Ctrl-C unless `leave` is set."""
    steps = Steps()
    folder = make_folder(into)
    click.echo(f"esign demo in {folder}\n")
    try:
        async with AsyncExitStack() as stack:
            with catch_signals() as asked:
                journey = asyncio.create_task(Journey(steps, folder, webhook, stack).run())
                stop = asyncio.create_task(asked.wait())
                await asyncio.wait((journey, stop), return_when=asyncio.FIRST_COMPLETED)
                if not journey.done():
                    journey.cancel()
                    await asyncio.gather(journey, return_exceptions=True)
                    return 1
                address, password = await journey
                print_results(folder)
                if not leave:
                    click.echo(f"\nStill serving at {address}; end with Ctrl-C.")
                    click.echo(f"Sign in there as {owner.EMAIL} with the password {password}")
                    await stop
                stop.cancel()
    except Exception as error:
        click.echo(f"\nesign: the step “{steps.name}” failed: {describe_error(error)}", err=True)
        return 1
    return 0


def describe_error(error: Exception) -> str:
    """Return the reason of a failure for the person at the console."""
    if isinstance(error, TimeoutError):
        return f"what it waits for did not come within {WAIT:.0f} seconds"
    return error.message if isinstance(error, Problem) else str(error) or type(error).__name__


def make_folder(into: Path | None) -> Path:
    """Return `into`, or a new `./esign-demo/<time>`. Raises UnusableFolder unless it is empty."""
    folder = into or Path("esign-demo") / f"{to_datetime(SystemClock().now()):%Y-%m-%d_%H-%M-%S}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        used = any(folder.iterdir())
    except OSError as error:
        raise UnusableFolder(
            f"the folder {folder} cannot be used: {error.strerror}; name another with --into"
        ) from None
    if used:
        raise UnusableFolder(f"the folder {folder} is not empty; name a new one with --into")
    return folder.resolve()


def read_own_settings() -> dict[str, str]:
    """Return the environment without settings that would lead out of the demonstration's folder or this machine."""
    return {name: value for name, value in os.environ.items() if not name.startswith(ELSEWHERE)}


def print_results(folder: Path) -> None:
    click.echo("\nEvery step held. The results:")
    for name in ("sealed.pdf", "tampered.pdf", "esign.toml"):
        click.echo(f"  {folder / name}")
    listing = f"{find_program()} outbox --config {folder / 'esign.toml'}"
    click.echo(
        f"The mails are listed by: {listing}\nWith the ID of one added, it prints that mail with its link."
    )


def find_program() -> str:
    """Return how to call esign from here: by its name if the shell finds it, else by the path it was called by."""
    called = Path(sys.argv[0])
    return "esign" if shutil.which("esign") or called.name != "esign" else str(called)


class Journey:
    """One document from upload to seal; `stack` closes what is opened on the way."""

    def __init__(self, steps: Steps, folder: Path, webhook: str | None, stack: AsyncExitStack) -> None:
        self.steps = steps
        self.folder = folder
        self.also = webhook
        self.stack = stack

    async def run(self) -> tuple[str, str]:
        """Run all steps. Return the address of the server, which keeps serving, and its owner's password."""
        await self.start()
        await self.subscribe()
        await self.create()
        for person in (contract.CAFE, contract.GARDENER):
            await self.sign(person)
        await self.wait_for_seal()
        await self.check_webhooks()
        await self.check_files()
        return self.base, self.password

    async def start(self) -> None:
        async with self.steps.step("start the server with its embedded defaults"):
            file = self.folder / "esign.toml"
            file.write_text(SETTINGS.format(port=find_free_port()), "utf-8")
            try:
                config = load_config(file, read_own_settings())
            except ConfigError as error:
                raise StepFailed(str(error)) from None
            self.runtime, _ = await self.stack.enter_async_context(run_program(config))
            self.base = self.runtime.config.server.base_url
        async with self.steps.step("make an organisation, its owner and an API key"):
            self.password = await owner.create_owner(self.runtime)
            wish = KeyWish("demo", Mode.LIVE, frozenset({Scope.ALL}))
            _, key = await accounts.create_key(self.runtime.installation, wish)
            session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"})
            self.api = await self.stack.enter_async_context(session)
            self.browser = await self.stack.enter_async_context(aiohttp.ClientSession())

    async def subscribe(self) -> None:
        async with self.steps.step("register webhooks with a receiver of our own"):
            self.receiver: WebhookReceiver = await self.stack.enter_async_context(run_receiver())
            made = await self.call("POST", "webhooks", {"url": self.receiver.url, "events": ["*"]})
            self.receiver.secret = made["secret"]
            self.webhooks = [made["id"]]
            self.other = None
            if self.also:
                self.other = await self.call("POST", "webhooks", {"url": self.also, "events": ["*"]})
                self.webhooks.append(self.other["id"])

    async def create(self) -> None:
        async with self.steps.step("upload the contract with two signers in order"):
            made = await self.call("POST", "documents", contract.build_create_body())
            self.path = f"documents/{made['id']}"
        async with self.steps.step("send it"):
            await self.call("POST", f"{self.path}/send", {})

    async def sign(self, person: tuple[str, str]) -> None:
        name, email = person
        async with self.steps.step(f"{name} opens the link from the mail and signs"):
            link = await self.find_link(email)
            async with self.browser.get(link) as page:
                consent = re.search(r'data-consent="([0-9a-f]{64})"', await page.text())
            if page.status != 200 or consent is None:
                raise StepFailed("the signing page did not open")
            await self.post(f"{link}/view", {})
            document = await self.call("GET", self.path)
            mine = next(r for r in document["recipients"] if r["email"] == email)
            answers = {
                f["id"]: given
                for f in mine["fields"]
                if (given := contract.choose_answer(person, f)) is not None
            }
            await self.post(f"{link}/complete", {"answers": answers, "consent": consent[1]})

    async def find_link(self, email: str) -> str:
        """Return the newest signing link that was mailed to this address. Raises TimeoutError."""
        async with asyncio.timeout(WAIT):
            while True:
                for mail in reversed(await embedded_outbox.list_mails(self.runtime.db, 100)):
                    if email in mail.recipient:
                        message = await embedded_outbox.read_mail(
                            self.runtime.db, self.runtime.vault, mail.id
                        )
                        text = message.get_body(("plain",)) if message else None
                        found = re.search(
                            rf"{re.escape(self.base)}/s/\S+", text.get_content() if text else ""
                        )
                        if found:
                            return found[0]
                await asyncio.sleep(0.05)

    async def wait_for_seal(self) -> None:
        async with self.steps.step("wait for the seal"), asyncio.timeout(WAIT):
            while True:
                document = await self.call("GET", self.path)
                if document["status"] == "completed":
                    return
                if document["sealError"]:
                    raise StepFailed(document["sealError"])
                await asyncio.sleep(0.1)

    async def check_webhooks(self) -> None:
        async with self.steps.step("check the signed webhooks that arrived"):
            await self.receiver.until("document.completed", WAIT)
            await self.wait_for_deliveries()
            if self.receiver.forged or self.receiver.list_types() != EXPECTED:
                raise StepFailed(
                    f"the receiver got {self.receiver.list_types()}, {self.receiver.forged} with a bad signature"
                )

    async def wait_for_deliveries(self) -> None:
        """Wait until no delivery is left. Raises `StepFailed` if one had to be retried."""
        async with asyncio.timeout(WAIT):
            for webhook_id in self.webhooks:
                path = f"webhooks/{webhook_id}/deliveries"
                while left := (await self.call("GET", f"{path}?status=pending"))["data"]:
                    if errors := [each["lastError"] for each in left if each["lastError"]]:
                        raise StepFailed(f"a webhook was not delivered: {errors[0]}")
                    await asyncio.sleep(0.05)

    async def check_files(self) -> None:
        async with self.steps.step("download the sealed PDF and verify its seal"):
            sealed = await self.download("sealed")
            (self.folder / "sealed.pdf").write_bytes(sealed)
            await self.check_verdict(sealed, "valid")
        async with self.steps.step("change one byte in a copy and see it refused"):
            tampered = bytearray(sealed)
            tampered[len(tampered) // 3] ^= 1
            (self.folder / "tampered.pdf").write_bytes(tampered)
            await self.check_verdict(bytes(tampered), "invalid")

    async def check_verdict(self, file: bytes, expected: str) -> None:
        runtime: Runtime = self.runtime
        found = await runtime.pdf.verify(
            file, VerificationCase(runtime.roots, runtime.clock.now(), runtime.own)
        )
        if found["result"] != expected:
            reasons = [reason for signature in found["signatures"] for reason in signature["reasons"]]
            raise StepFailed(f"the verdict is {found['result']}, not {expected}: {'; '.join(reasons)}")

    async def download(self, variant: str) -> bytes:
        url = f"{self.base}/api/v1/{self.path}/files/{variant}"
        async with self.api.get(url, headers={"Accept": "application/pdf"}) as answer:
            if answer.status != 200:
                raise StepFailed(f"the download answered {answer.status}")
            return await answer.read()

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the API and return its answer. Raises `StepFailed` for an error."""
        url = f"{self.base}/api/v1/{path}"
        async with self.api.request(method, url, json=body) as answer:
            said = await answer.json()
        if answer.status >= 400:
            raise StepFailed(f"{method} /{path} answered {answer.status}: {said['error']['message']}")
        return said

    async def post(self, url: str, body: Any) -> None:
        """Send a request as the signing page's script does. Raises `StepFailed` for an error."""
        async with self.browser.post(url, json=body) as answer:
            if answer.status != 200:
                raise StepFailed(f"the signing page answered {answer.status}: {(await answer.text())[:300]}")


def find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
