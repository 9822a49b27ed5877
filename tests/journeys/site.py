"""The whole program in this process, on a free port: its clock may be a fake one, its tools can be reached."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from esign.actions.base.caller import Caller
from esign.actions.mail import embedded_outbox
from esign.actions.people import accounts, members
from esign.actions.people.accounts import KeyWish
from esign.app import App, open_runtime, run_program
from esign.config import Config
from esign.core.actor import PROGRAM, Mode, Owner
from esign.core.people.api_key import Scope
from esign.core.people.member import MemberRole
from esign.jobs import worker
from esign.runtime import Runtime
from esign.store.engine.connections import FILE
from esign.system.clock import Clock
from esign.web.http.server import run_server
from tests.journeys.api import Api, Person, a_session
from tests.journeys.letters import link_in
from tests.ports import reserve_port
from tests.pristine import SPARE, lay_database


@dataclass(frozen=True)
class JourneySite:
    """`api` holds a live key with every scope; `session` is that of a person without any."""

    runtime: Runtime
    api: Api
    session: aiohttp.ClientSession

    @property
    def base(self) -> str:
        return self.api.base

    async def invite_owner(self, email: str, name: str) -> None:
        """Invite an owner as the web application does for another one; no key does it."""
        organisation = (await self.api.ok("GET", "/account"))["organisation"]["id"]
        owner = Owner(organisation, Mode.LIVE)
        await members.invite(self.runtime, Caller(owner, PROGRAM), email, name, MemberRole.OWNER)

    async def work(self, *kinds: str) -> int:
        """Work off what is due now; the number of attempts."""
        return await worker.drain_jobs(self.runtime, *kinds)

    async def key(self, *scopes: Scope, mode: Mode = Mode.LIVE) -> Api:
        """The API with another key; without `scopes` it may do everything."""
        text = await new_key(self.runtime, frozenset(scopes or (Scope.ALL,)), mode)
        return Api(self.session, self.base, text)

    async def person(self, email: str) -> Person:
        """Whoever reads the newest kept mail to that address that holds a link."""
        for mail in reversed(await embedded_outbox.list_mails(self.runtime.db, 1000)):
            message = await embedded_outbox.read_mail(self.runtime.db, self.runtime.vault, mail.id)
            assert message is not None
            if email in mail.recipient and (link := link_in(message)):
                return Person(self.session, link)
        raise AssertionError(f"no link was mailed to {email}")

    async def all_sign(self, document: str) -> None:
        """Everybody signs in order, as the mails arrive."""
        for recipient in sorted((await self.api.get(document))["recipients"], key=lambda r: r["order"]):
            await self.work("mail")
            await (await self.person(recipient["email"])).sign()

    async def complete_document(self, **changes: Any) -> str:
        """The id of a new document that was sent, signed by everybody and sealed."""
        document = await self.api.send_document(**changes)
        await self.all_sign(document)
        await self.work("seal")
        return document


async def new_key(runtime: Runtime, scopes: frozenset[Scope], mode: Mode) -> str:
    _, text = await accounts.create_key(runtime.installation, KeyWish("journeys", mode, scopes))
    return text


@asynccontextmanager
async def a_site(
    folder: Path, clock: Clock | None = None, *, working: bool = False, **tables: dict[str, Any]
) -> AsyncIterator[JourneySite]:
    """`tables` are those of the configuration, without limits behind links unless they stand there.

    Jobs and ticks run by themselves only where `working`.
    """
    server = {"port": reserve_port(), **tables.pop("server", {})}
    tables.setdefault("signing", {"reads_per_minute": 0, "writes_per_minute": 0})
    config = Config.model_validate(
        {"server": server, "storage": {"data_dir": folder, "spare_mib": SPARE}, **tables}
    )
    lay_database(config.storage.data_dir / FILE)
    async with AsyncExitStack() as stack:
        if working:
            runtime, _ = await stack.enter_async_context(run_program(config, clock))
        else:
            runtime = await stack.enter_async_context(open_runtime(config, clock))
            app = App(runtime)
            stack.push_async_callback(app.settle)
            await stack.enter_async_context(
                run_server(app, config.server.host, config.server.port, app.front)
            )
        session = await stack.enter_async_context(a_session())
        key = await new_key(runtime, frozenset({Scope.ALL}), Mode.LIVE)
        base = f"http://127.0.0.1:{config.server.port}"
        yield JourneySite(runtime, Api(session, base, key), session)
