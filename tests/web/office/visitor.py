"""Somebody at a browser: keeps cookies, reads pages, and sends the forms that stand on them."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp

from esign.actions.mail import embedded_outbox
from esign.actions.people import one_time_links, sessions
from esign.actions.people.sessions import SignInRequest
from esign.core.actor import Origin
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.user import Session, Stage, User
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import members, organisations, users
from esign.system.entropy import make_id
from esign.system.passwords import build_known_lane
from esign.web.office.frame.office_call import make_csrf_token
from tests.fakes import FakeClock
from tests.journeys.letters import part
from tests.journeys.site import JourneySite, a_site

PASSWORD = "copper kettle under nine maples"
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass(frozen=True)
class Page:
    status: int
    headers: Mapping[str, str]
    text: str
    cookies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def to(self) -> str:
        """Where it leads, when it is a redirect."""
        assert self.status == 303, (self.status, self.said)
        return self.headers["Location"]

    @property
    def title(self) -> str:
        found = re.search(r"<title>(.*?) · ", self.text)
        assert found, self.text[:300]
        return unescape(found[1])

    @property
    def said(self) -> str:
        """What a person reads."""
        body = re.sub(r"<(script|style|title)\b.*?</\1>", "", self.text, flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())

    def wrong(self) -> dict[str, str]:
        """The sentence at each field that is wrong."""
        found = re.findall(r'id="([\w-]+)-error">.*?</svg>(.*?)</p>', self.text)
        return {name: unescape(text) for name, text in found}

    def value(self, name: str) -> str:
        main = self.text.partition("<main")[2]
        found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', main)
        assert found, name
        return unescape(found[1])


class Visitor:
    """`token` is the session's cookie, `known_as` that of a known browser; `csrf` is what the newest page carried."""

    def __init__(self, site: JourneySite, session: aiohttp.ClientSession) -> None:
        self.site = site
        self.session = session
        secure = site.runtime.config.server.base_url.startswith("https:")
        self.cookie = "__Host-esign" if secure else "esign"  # as it was when the visitor came
        self.token: str | None = None
        self.known_as: str | None = None
        self.csrf = ""

    def hold(self, token: str, session: Session) -> None:
        """Take this session, and compute the secret of its forms instead of reading it from a page."""
        self.token, self.csrf = token, make_csrf_token(self.site.runtime, session)

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Page:
        return await self._ask("GET", path, headers)

    async def post(
        self,
        path: str,
        fields: Mapping[str, str] | None = None,
        /,
        headers: Mapping[str, str] | None = None,
        **more: str,
    ) -> Page:
        """The form of the page that was read last."""
        sent = {"csrf": self.csrf, **(fields or {}), **more}
        own = {"Origin": self.site.base, "Sec-Fetch-Site": "same-origin", **(headers or {})}
        return await self._ask("POST", path, data=sent, headers=own)

    async def upload(
        self, path: str, field: str, *files: tuple[str, bytes], accept: str = "text/html", **more: str
    ) -> Page:
        """A form with files, as the page that was read last sends it."""
        form = aiohttp.FormData({"csrf": self.csrf, **more}, quote_fields=False)
        for name, content in files:
            form.add_field(field, BytesIO(content), filename=name, content_type="application/pdf")
        if not files:
            form.add_field(field, b"", filename="", content_type="application/octet-stream")
        own = {"Origin": self.site.base, "Sec-Fetch-Site": "same-origin", "Accept": accept}
        return await self._ask("POST", path, data=form, headers=own)

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **more: Any
    ) -> Page:
        sent, cookies = {"Accept": "text/html", **(headers or {})}, list[str]()
        if self.token:
            cookies.append(f"{self.cookie}={self.token}")
        if self.known_as:
            cookies.append(f"esign-browser={self.known_as}")
        if cookies:
            sent["Cookie"] = "; ".join(cookies)
        url = f"{self.site.base}{path}"
        async with self.session.request(method, url, headers=sent, allow_redirects=False, **more) as answer:
            page = Page(answer.status, answer.headers, await answer.text(), answer.cookies)
        if "esign" in page.cookies:
            self.token = page.cookies["esign"].value or None
        if "esign-browser" in page.cookies:
            self.known_as = page.cookies["esign-browser"].value
        if found := CSRF.search(page.text):
            self.csrf = found[1]
        return page

    async def sign_in(self, email: str, password: str = PASSWORD) -> Page:
        return await self.post("/sign-in", email=email, password=password)


@dataclass(frozen=True)
class Office:
    """A running installation whose clock stands still."""

    site: JourneySite
    clock: FakeClock
    browser: aiohttp.ClientSession

    @property
    def runtime(self) -> Runtime:
        return self.site.runtime

    def visitor(self) -> Visitor:
        return Visitor(self.site, self.browser)

    async def user(
        self, name: str, role: MemberRole = MemberRole.OWNER, organisation: str | None = None
    ) -> User:
        """Somebody who signs in as `<name>@example.test` with PASSWORD."""
        now = self.clock.now()
        email = f"{name.lower()}@example.test"
        known = await users.find(self.runtime.db, email)
        user = known or one_time_links.make_user(
            email, name, now, await self.runtime.passwords.hash(PASSWORD, build_known_lane(email))
        )
        first = (
            (await self.site.api.ok("GET", "/account"))["organisation"]["id"]
            if organisation is None
            else organisation
        )
        member = Member(make_id("mem", now), first, email, name, role, MemberStatus.ACTIVE, now, user.id)

        async def write(tx: Transaction) -> None:
            if known is None:
                await users.add(tx, user)
            await members.add(tx, member)

        await self.runtime.db.write(write)
        return user

    async def signed_in(
        self, name: str, role: MemberRole = MemberRole.OWNER, organisation: str | None = None
    ) -> Visitor:
        """The same, with a session and the mac of its forms at hand."""
        user = await self.user(name, role, organisation)
        own = await organisations.find_by_user(self.runtime.db, user.id)
        visitor = self.visitor()
        request = SignInRequest(Origin("127.0.0.1", "Firefox/132 Linux"))
        visitor.hold(*await sessions.begin_session(self.runtime, user, own[-1].id, Stage.WHOLE, request))
        return visitor

    async def user_of(self, email: str) -> User:
        found = await users.find(self.runtime.db, email)
        assert found
        return found

    async def letters(self, email: str) -> list[str]:
        """The texts of the mails there, once they have left, the newest first."""
        await self.site.work("mail")
        texts = []
        for mail in reversed(await self.mails()):
            if email in mail.recipient:
                message = await embedded_outbox.read_mail(self.runtime.db, self.runtime.vault, mail.id)
                assert message is not None
                texts.append(part(message, "plain"))
        return texts

    async def letter(self, email: str) -> str:
        """The text of the newest mail there, once it has left."""
        return (await self.letters(email))[0]

    async def mails(self) -> list[Any]:
        """Every mail that has left."""
        return await embedded_outbox.list_mails(self.runtime.db, 1000)

    async def link(self, email: str) -> str:
        """The path of the newest link that was mailed there."""
        found = None
        for text in await self.letters(
            email
        ):  # mails of several organisations leave in turns, in no order of time
            if found := re.search(rf"{re.escape(self.site.base)}(/\S+)", text):
                break
        assert found
        return found[1]


@asynccontextmanager
async def an_office(folder: Path, *, clock: FakeClock | None = None, **tables: Any) -> AsyncIterator[Office]:
    """`tables` are those of the configuration."""
    clock = clock or FakeClock()
    async with (
        a_site(folder, clock, **tables) as site,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser,
    ):
        yield Office(site, clock, browser)
