"""Every act that changes who may do what, or how things are set, stands in the administrative audit log.

The table names every write of the API and of the office, with the entry that it gives, or why it gives none:
- `trail`: it is about one document, whose own audit trail has it;
- `work`: it changes a draft or a template that nobody was shown yet, or an entry of the address book;
- `place`: it says where this browser is, and changes nothing for anybody;
- `sending`: it makes mails or deliveries leave earlier or once more, which their own lists show;
- `trying`: it tries or looks, and keeps nothing.
A new write fails until it has its line.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyotp
import pytest

from esign.actions.base.caller import Caller, UserCaller
from esign.actions.people import api_keys, one_time_links, second_factor, users
from esign.actions.people.accounts import KeyWish
from esign.core import actor
from esign.core.actor import Actor, Author, Mode, Origin
from esign.core.instant import DAY, SECOND
from esign.core.people.admin_audit import ACTS
from esign.core.people.api_key import Scope
from esign.core.people.member import MemberRole
from esign.core.people.user import Errand
from esign.store.engine.database import Transaction
from esign.store.people import members, sessions
from esign.store.queue import outbox
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.office.frame.words import load_words
from esign.web.office.routes import TABLE
from esign.web.office.settings.audit_log import QUIET
from esign.web.rest import V1
from tests.journeys.api import until
from tests.logos import a_logo
from tests.pki import a_seal, an_authority
from tests.web.office.server.test_setup_steps import WrongClock
from tests.web.office.visitor import PASSWORD, Office, Page, Visitor, an_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(tmp_path / "data") as office:
        yield office


WORDS = load_words("en").catalogue
REASONS = frozenset({"trail", "work", "place", "sending", "trying"})
API_TEXT = """
POST   /documents                                   work
PATCH  /documents/{id}                              trail
DELETE /documents/{id}                              document.deleted
POST   /documents/{id}/send                         trail
POST   /documents/{id}/cancel                       trail
POST   /documents/{id}/remind                       trail
POST   /documents/{id}/retry-seal                   trail
POST   /documents/{id}/duplicate                    trail
POST   /documents/{id}/recipients                   trail
PATCH  /documents/{id}/recipients/{rid}             trail
DELETE /documents/{id}/recipients/{rid}             trail
POST   /documents/{id}/recipients/{rid}/link        trail
POST   /documents/{id}/recipients/{rid}/unblock     trail
POST   /templates                                   work
PATCH  /templates/{id}                              work
DELETE /templates/{id}                              template.deleted
POST   /templates/{id}/documents                    trail
POST   /webhooks                                    webhook.created
PATCH  /webhooks/{id}                               webhook.changed
DELETE /webhooks/{id}                               webhook.deleted
POST   /webhooks/{id}/rotate-secret                 webhook.secret_rotated
POST   /webhooks/{id}/test                          sending
POST   /webhooks/{id}/recover                       sending
POST   /webhooks/{id}/deliveries/{did}/redeliver    sending
PATCH  /api-keys/{id}                               api_key.renamed
DELETE /api-keys/{id}                               api_key.revoked
DELETE /api-keys/current                            api_key.revoked
PATCH  /settings                                    settings.changed
POST   /members                                     member.invited
PATCH  /members/{id}                                member.changed
DELETE /members/{id}                                member.removed
POST   /verify                                      trying
POST   /test/documents/{id}/simulate                trail
"""
OFFICE_TEXT = """
/sign-in                                    member.signed_in
/sign-in/code                               member.signed_in
/sign-in/again                              member.signed_in
/sign-in/again/code                         member.signed_in
/sign-out                                   member.signed_out
/confirm                                    trying
/forgot                                     member.password_reset_requested
/password/{token}                           member.password_changed
/invitation/{token}                         member.joined
/set-up/{token}                             member.joined
/server/clock                               clock.confirmed
/server/address                             server.changed
/server/address/https                       trying
/server/mail                                server.changed
/server/mail/test                           trying
/server/mail/remove                         server.changed
/server/seal                                trying
/server/status                              job.retried
/documents/new                              work
/documents/sample                           work
/documents/{id}/edit                        work
/documents/{id}/file                        work
/documents/{id}/send                        trail
/documents/{id}/sign                        trail
/documents/{id}/discard                     document.deleted
/documents/export                           documents.listed
/contacts/new                               work
/contacts/{id}                              work
/contacts/{id}/remove                       work
/documents/views/new                        work
/documents/views/{id}/edit                 work
/documents/views/{id}/delete               work
/selection/remind                           trail
/selection/cancel                           trail
/selection/delete                           document.deleted
/selection/retry-seal                       trail
/selection/download                         documents.exported
/verify                                     trying
/mode                                       place
/language                                   place
/organisation                               place
/documents/{id}/remind                      trail
/documents/{id}/cancel                      trail
/documents/{id}/expiry                      trail
/documents/{id}/reminders                   trail
/documents/{id}/reference                   trail
/documents/{id}/duplicate                   trail
/documents/{id}/template                    work
/documents/{id}/retry-seal                  trail
/documents/{id}/delete                      document.deleted
/documents/{id}/recipients/add              trail
/documents/{id}/recipients/{rid}            trail
/documents/{id}/recipients/{rid}/remove     trail
/documents/{id}/recipients/{rid}/unblock    trail
/documents/{id}/recipients/{rid}/link       trail
/documents/{id}/simulate                    trail
/account/name                               member.changed
/account/password                           member.password_changed
/account/sessions/end-others                member.signed_out
/account/sessions/{id}/end                  member.signed_out
/account/second-factor                      member.factor_enabled
/account/second-factor/codes                member.recovery_codes_renewed
/account/second-factor/off                  member.factor_disabled
/documents/{id}/fields                      work
/documents/{id}/fields/found                work
/documents/{id}/fields/found/undo           work
/templates/new                              work
/templates/{id}/edit                        work
/templates/{id}/fields                      work
/templates/{id}/fields/found                work
/templates/{id}/fields/found/undo           work
/templates/{id}/use                         trail
/templates/{id}/delete                      template.deleted
/members                                    member.invited
/members/{id}/role                          member.changed
/members/{id}/again                         member.invited
/members/{id}/link                          member.invited
/members/{id}/remove                        member.removed
/settings/tokens/new                        api_key.created
/settings/tokens/{id}/name                  api_key.renamed
/settings/tokens/{id}/revoke                api_key.revoked
/settings/webhooks/new                      webhook.created
/settings/webhooks/{id}/edit                webhook.changed
/settings/webhooks/{id}/on                  webhook.changed
/settings/webhooks/{id}/off                 webhook.changed
/settings/webhooks/{id}/test                sending
/settings/webhooks/{id}/secret              webhook.secret_rotated
/settings/webhooks/{id}/recover             sending
/settings/webhooks/{id}/delete              webhook.deleted
/settings/webhooks/{id}/deliveries/{did}/again    sending
/settings/organisation                      settings.changed
/settings/organisation/logo                 settings.changed
/settings/organisation/logo/remove          settings.changed
/settings/defaults                          settings.changed
/settings/erasure                           trying
/settings/erasure/begin                     erasure.requested
/settings/outbox/retry                      sending
/settings/outbox/mail-kept                  trail
/settings/seal                              trying
/settings/seal/upload                       seal.changed
/settings/seal/back                         seal.changed
/settings/seal/new                          seal.changed
"""
API = {" ".join(row.split()[:2]): row.split()[2] for row in API_TEXT.strip().splitlines()}
OFFICE = dict(row.split() for row in OFFICE_TEXT.strip().splitlines())
HOOK = {"url": "https://ok.test/", "events": ["document.sent"]}


def test_every_write_has_its_line() -> None:
    assert API.keys() == {
        f"{one.method} {one.path.removeprefix(V1)}" for one in ENDPOINTS if one.method != "GET"
    }
    assert OFFICE.keys() == {line.path for line in TABLE if line.method == "POST"}
    assert {*API.values(), *OFFICE.values()} <= REASONS | set(ACTS)


def test_every_write_with_an_entry_is_done_here() -> None:
    assert API_DEEDS.keys() == {write for write, entry in API.items() if entry in ACTS}
    by_hand = {path for path, entry in OFFICE.items() if entry in ACTS}
    assert OFFICE_DEEDS.keys() | {"/set-up/{token}"} == by_hand


async def newest(office: Office) -> list[Any]:
    """The newest entries. The page of the log must have a word for each of their members."""
    entries = list((await office.site.api.ok("GET", "/audit?limit=50"))["data"])
    for entry in entries:
        nameless = {name for name in list_members(entry["data"]) if f"settings.log.label.{name}" not in WORDS}
        assert not nameless, (entry["type"], nameless)
    return entries


def list_members(said: Mapping[str, Any]) -> Iterator[str]:
    """The names of the members that the page shows, also of those in others."""
    for name, value in said.items():
        if name not in (*QUIET, "changes"):
            yield name
        if isinstance(value, dict) and value.keys() != {"from", "to"}:
            yield from list_members(value)


# ---------- over the API ----------


async def a_member(office: Office) -> str:
    body = {"email": "new@example.test", "name": "New", "role": "member"}
    return str((await office.site.api.ok("POST", "/members", body))["id"])


async def a_hook(office: Office) -> str:
    return str((await office.site.api.ok("POST", "/webhooks", HOOK))["id"])


async def a_template(office: Office) -> str:
    body = {"fromDocumentId": await office.site.api.create()}
    return str((await office.site.api.ok("POST", "/templates", body))["id"])


async def a_key(office: Office) -> str:
    return str((await (await office.site.key()).ok("GET", "/account"))["key"]["id"])


async def a_draft(office: Office) -> str:
    return await office.site.api.create()


async def nothing(office: Office) -> str:
    return ""


Made = Callable[[Office], Awaitable[str]]
API_DEEDS: Mapping[str, tuple[Made, Any]] = {
    "DELETE /documents/{id}": (a_draft, None),
    "DELETE /templates/{id}": (a_template, None),
    "POST /webhooks": (nothing, HOOK),
    "PATCH /webhooks/{id}": (a_hook, {"enabled": False}),
    "DELETE /webhooks/{id}": (a_hook, None),
    "POST /webhooks/{id}/rotate-secret": (a_hook, {}),
    "PATCH /api-keys/{id}": (a_key, {"name": "Other"}),
    "DELETE /api-keys/{id}": (a_key, {}),
    "DELETE /api-keys/current": (nothing, {}),
    "PATCH /settings": (nothing, {"retainCompletedDays": 30}),
    "POST /members": (nothing, {"email": "new@example.test", "name": "New", "role": "member"}),
    "PATCH /members/{id}": (a_member, {"role": "admin"}),
    "DELETE /members/{id}": (a_member, {}),
}


@pytest.mark.parametrize("write", API_DEEDS)
async def test_a_write_of_the_api_gives_its_entry_once(office: Office, write: str) -> None:
    make, body = API_DEEDS[write]
    method, path = write.split()
    path = path.replace("{id}", await make(office))
    api = await office.site.key()
    key = (await api.ok("GET", "/account"))["key"]["id"]
    before = await newest(office)
    await api.ok(method, path, body)
    entry, *more = [one for one in await newest(office) if one not in before][::-1]
    assert (entry["type"], entry["actor"]["kind"], entry["actor"]["id"]) == (API[write], "api_key", key)
    assert entry["ip"] == "127.0.0.1"
    # A member who becomes more than they were invited as is invited anew.
    assert [one["type"] for one in more] == (
        ["member.invited"] if "/members/{id}" in write and "P" in method else []
    )


# ---------- in the office ----------

NEW = "seven violet tractors hum"
SEAL = a_seal(an_authority()).pkcs12("word")


@dataclass
class BrowsingOwner:
    """Ada at her browser; `before` is the log as it was when her last form was sent."""

    office: Office
    visitor: Visitor
    before: list[Any] = field(default_factory=list)

    async def send(self, path: str, /, look_at: str = "", **form: str) -> Page:
        """Send a form, of a page that is looked at first; it must be taken."""
        if look_at:
            await self.visitor.get(look_at)
        self.before = await newest(self.office)
        page = await self.visitor.post(path, form)
        assert page.status in (200, 303), (path, page.status, page.said)
        return page

    async def upload(self, path: str, name: str, content: bytes, **form: str) -> None:
        await self.visitor.get(path)
        await self.send_files(path, (name, content), **form)

    async def send_files(self, path: str, *files: tuple[str, bytes], **form: str) -> None:
        """Send a form that may carry files; it must be taken."""
        self.before = await newest(self.office)
        page = await self.visitor.upload(path, "file", *files, **form)
        assert page.status == 303, (path, page.said)

    async def member(self) -> str:
        return await a_member(self.office)

    async def guard(self) -> str:
        """Set up a second factor; its secret."""
        user, secret = await self.office.user_of(EMAIL), second_factor.new_secret()
        [session, *_] = await sessions.find(self.office.runtime.db, user.id, self.office.clock.now(), 1)
        code = code_of(self.office, secret)
        assert await second_factor.enable(
            self.office.runtime, UserCaller(user, Origin("127.0.0.1"), session.id), secret, code
        )
        self.office.clock.advance(seconds=30)
        return secret


EMAIL = "ada@example.test"
SMTP = {"host": "smtp.example.com", "security": "starttls", "from": "sign@example.com"}
LOGO = "/settings/organisation/logo"
Deed = Callable[[BrowsingOwner], Awaitable[object]]


def code_of(office: Office, secret: str) -> str:
    return str(pyotp.TOTP(secret).at(office.clock.now() // SECOND))


def fill_made_form(path: str, make: Made, look: str = "", **form: str) -> Deed:
    """Send a form about something that is made first; `look` is the page before it."""

    async def deed(ada: BrowsingOwner) -> None:
        made = await make(ada.office)
        there = look.replace("{id}", made)
        await ada.send(path.replace("{id}", made), look_at=there, **form)

    return deed


def signing_in(path: str, *, with_code: bool = False) -> Deed:
    async def deed(ada: BrowsingOwner) -> None:
        secret = await ada.guard() if with_code else ""
        ada.visitor = ada.office.visitor()
        await ada.send(path.removesuffix("/code"), email=EMAIL, password=PASSWORD)
        if with_code:
            await ada.send(path, look_at=path, code=code_of(ada.office, secret))

    return deed


def by_link(errand: Errand, path: str, **form: str) -> Deed:
    async def deed(ada: BrowsingOwner) -> None:
        office, subject = ada.office, (await ada.office.user_of(EMAIL)).id
        if errand is Errand.INVITATION:
            subject = await ada.member()
        now = office.clock.now()
        token = await office.runtime.db.write(lambda tx: one_time_links.issue_token(tx, errand, subject, now))
        ada.visitor = office.visitor()
        await ada.send(path.format(token=token), **form)

    return deed


async def sign_out_elsewhere(ada: BrowsingOwner) -> None:
    user = await ada.office.user_of(EMAIL)
    other = ada.office.visitor()
    await other.sign_in(EMAIL)
    found = await sessions.find(ada.office.runtime.db, user.id, ada.office.clock.now(), 9)
    own = await sessions.get(ada.office.runtime.db, str(ada.visitor.token), ada.office.clock.now())
    assert own is not None
    [session] = [one for one in found if one.id != own.id]
    await ada.send(f"/account/sessions/{session.id}/end", look_at="/account")


async def sign_out_all_others(ada: BrowsingOwner) -> None:
    await ada.office.visitor().sign_in(EMAIL)
    await ada.send("/account/sessions/end-others", look_at="/account")


async def forget(ada: BrowsingOwner) -> None:
    await ada.send("/forgot", email=EMAIL)

    async def is_entered() -> bool | None:
        return await newest(ada.office) != ada.before or None

    await until(is_entered, "entry, which is made after the answer")


async def enable_factor(ada: BrowsingOwner) -> None:
    page = await ada.visitor.get("/account/second-factor")
    found = re.search(r"(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}", page.said)
    assert found
    code = code_of(ada.office, found[0].replace(" ", ""))
    await ada.send("/account/second-factor", offer=page.value("offer"), code=code)


async def renew_codes(ada: BrowsingOwner) -> None:
    secret = await ada.guard()
    await ada.send("/account/second-factor/codes", **{"code-again": code_of(ada.office, secret)})


async def disable_factor(ada: BrowsingOwner) -> None:
    secret = await ada.guard()
    await ada.send("/account/second-factor/off", **{"code-again": code_of(ada.office, secret)})


async def export(ada: BrowsingOwner) -> None:
    ids = " ".join([await a_draft(ada.office) for _ in range(2)])
    await ada.visitor.get("/documents")
    ada.before = await newest(ada.office)
    sent = {"Cookie": f"esign={ada.visitor.token}", "Origin": ada.office.site.base}
    url, form = f"{ada.office.site.base}/selection/download", {"csrf": ada.visitor.csrf, "ids": ids}
    async with ada.office.browser.post(url, data=form, headers=sent) as answer:
        assert (await answer.read()).startswith(b"PK")


async def export_list(ada: BrowsingOwner) -> None:
    await ada.visitor.get("/documents")
    ada.before = await newest(ada.office)
    sent = {"Cookie": f"esign={ada.visitor.token}", "Origin": ada.office.site.base}
    url, form = f"{ada.office.site.base}/documents/export", {"csrf": ada.visitor.csrf}
    async with ada.office.browser.post(url, data=form, headers=sent) as answer:
        assert (await answer.text("utf-8-sig")).startswith("Title,")


async def delete_selected(ada: BrowsingOwner) -> None:
    await ada.send("/selection/delete", look_at="/documents", ids=await a_cancelled(ada.office))


async def switch_hook(ada: BrowsingOwner, to: str) -> None:
    hook = await a_hook(ada.office)
    if to == "on":
        await ada.office.site.api.ok("PATCH", f"/webhooks/{hook}", {"enabled": False})
    await ada.send(f"/settings/webhooks/{hook}/{to}", look_at=f"/settings/webhooks/{hook}")


async def save_logo(ada: BrowsingOwner) -> None:
    await ada.visitor.get(LOGO)
    shown = await ada.visitor.upload(LOGO, "file", ("logo.png", a_logo()))
    await ada.send_files(LOGO, picture=shown.value("picture"))


async def remove_logo(ada: BrowsingOwner) -> None:
    await save_logo(ada)
    await ada.send("/settings/organisation/logo/remove")


async def upload_seal(ada: BrowsingOwner) -> None:
    await ada.upload("/settings/seal/upload", "own.p12", OWN.pkcs12("word"), passphrase="word")


async def take_back_seal(ada: BrowsingOwner) -> None:
    await upload_seal(ada)
    await ada.send("/settings/seal/back")


async def a_cancelled(office: Office) -> str:
    document = await office.site.api.send_document()
    await office.site.api.ok("POST", f"/documents/{document}/cancel", {"notify": False})
    return document


async def remove_mail_server(ada: BrowsingOwner) -> None:
    await ada.send("/server/mail", **SMTP)
    await ada.send("/server/mail/remove", look_at="/server/mail/remove")


async def retry_job(ada: BrowsingOwner) -> None:
    async def write(tx: Transaction) -> None:
        await outbox.add(tx, outbox.NewJob("mail", "a mail"), ada.office.clock.now())
        await tx.run("UPDATE outbox SET state = 'aside' WHERE key = 'a mail'")

    await ada.office.runtime.db.write(write)
    number = (await ada.visitor.get("/server/status")).value("number")
    await ada.send("/server/status", kind="mail", number=number)


async def confirm_clock(ada: BrowsingOwner) -> None:
    assert isinstance(ada.office.clock, WrongClock)
    ada.office.clock.error = 31 * DAY
    await ada.send("/server/clock", look_at="/server/clock")


NEW, OWN = "seven violet tractors hum", a_seal(an_authority())
TOKEN = {"name": "Portal", "mode": "live", "access": "all", "expires": "365"}
OFFICE_DEEDS: Mapping[str, Deed] = {
    "/sign-in": signing_in("/sign-in"),
    "/sign-in/code": signing_in("/sign-in/code", with_code=True),
    "/sign-in/again": signing_in("/sign-in/again"),
    "/sign-in/again/code": signing_in("/sign-in/again/code", with_code=True),
    "/sign-out": fill_made_form("/sign-out", nothing),
    "/forgot": forget,
    "/password/{token}": by_link(Errand.RESET, "/password/{token}", password=NEW),
    "/invitation/{token}": by_link(Errand.INVITATION, "/invitation/{token}", name="New", password=NEW),
    "/server/clock": confirm_clock,
    "/server/status": retry_job,
    "/server/address": fill_made_form("/server/address", nothing, address="https://sign.example.com"),
    "/server/mail": fill_made_form("/server/mail", nothing, **SMTP),
    "/server/mail/remove": remove_mail_server,
    "/documents/{id}/discard": fill_made_form("/documents/{id}/discard", a_draft, "/documents/{id}/discard"),
    "/selection/delete": delete_selected,
    "/selection/download": export,
    "/documents/export": export_list,
    "/documents/{id}/delete": fill_made_form("/documents/{id}/delete", a_cancelled, "/documents/{id}/delete"),
    "/account/name": fill_made_form("/account/name", nothing, name="Ada King"),
    "/account/password": fill_made_form("/account/password", nothing, current=PASSWORD, password=NEW),
    "/account/sessions/end-others": sign_out_all_others,
    "/account/sessions/{id}/end": sign_out_elsewhere,
    "/account/second-factor": enable_factor,
    "/account/second-factor/codes": renew_codes,
    "/account/second-factor/off": disable_factor,
    "/templates/{id}/delete": fill_made_form("/templates/{id}/delete", a_template, "/templates/{id}/delete"),
    "/members": fill_made_form("/members", nothing, email="new@example.test", name="New", role="member"),
    "/members/{id}/role": fill_made_form("/members/{id}/role", a_member, role="viewer"),
    "/members/{id}/again": fill_made_form("/members/{id}/again", a_member),
    "/members/{id}/link": fill_made_form("/members/{id}/link", a_member),
    "/members/{id}/remove": fill_made_form("/members/{id}/remove", a_member),
    "/settings/tokens/new": fill_made_form("/settings/tokens/new", nothing, "/settings/tokens/new", **TOKEN),
    "/settings/tokens/{id}/name": fill_made_form("/settings/tokens/{id}/name", a_key, name="Other"),
    "/settings/tokens/{id}/revoke": fill_made_form("/settings/tokens/{id}/revoke", a_key),
    "/settings/webhooks/new": fill_made_form(
        "/settings/webhooks/new", nothing, "/settings/webhooks/new", url="https://ok.test/", events="all"
    ),
    "/settings/webhooks/{id}/edit": fill_made_form(
        "/settings/webhooks/{id}/edit",
        a_hook,
        "/settings/webhooks/{id}/edit",
        url="https://other.test/",
        events="all",
        description="",
    ),
    "/settings/webhooks/{id}/on": partial(switch_hook, to="on"),
    "/settings/webhooks/{id}/off": partial(switch_hook, to="off"),
    "/settings/webhooks/{id}/secret": fill_made_form(
        "/settings/webhooks/{id}/secret", a_hook, "/settings/webhooks/{id}/secret", grace="0"
    ),
    "/settings/webhooks/{id}/delete": fill_made_form("/settings/webhooks/{id}/delete", a_hook),
    "/settings/organisation": fill_made_form("/settings/organisation", nothing, brandColour="#ffee00"),
    LOGO: save_logo,
    "/settings/organisation/logo/remove": remove_logo,
    "/settings/defaults": fill_made_form("/settings/defaults", nothing, maxKeyLifetimeDays="90"),
    "/settings/erasure/begin": fill_made_form(
        "/settings/erasure/begin", nothing, "/settings/erasure", email="gone@example.test"
    ),
    "/settings/seal/upload": upload_seal,
    "/settings/seal/back": take_back_seal,
    "/settings/seal/new": fill_made_form("/settings/seal/new", nothing),
}


@pytest.mark.parametrize("path", OFFICE_DEEDS)
async def test_a_form_of_the_office_gives_its_entry_once(tmp_path: Path, path: str) -> None:
    async with an_office(tmp_path / "data", clock=WrongClock()) as office:
        ada = BrowsingOwner(office, await office.signed_in("Ada"))
        await OFFICE_DEEDS[path](ada)
        found = [one for one in await newest(office) if one not in ada.before]
        if path == "/invitation/{token}":  # who joins is signed in as well
            assert found.pop(0)["type"] == "member.signed_in"
        # What the program did with the keys before is entered with the first change of somebody.
        [entry] = [one for one in found if one["actor"]["kind"] != "system"]
        assert (entry["type"], entry["ip"]) == (OFFICE[path], "127.0.0.1")
        [member] = await members.find_by_user(office.runtime.db, (await office.user_of(EMAIL)).id)
        if path == "/forgot":
            assert entry["actor"]["kind"] == "anonymous"
        elif path == "/invitation/{token}":
            assert entry["actor"]["email"] == "new@example.test"
        else:
            assert (entry["actor"]["kind"], entry["actor"]["id"]) == ("member", member.id)


async def test_the_first_owner_is_entered_with_how_they_called_the_organisation(office: Office) -> None:
    token = await one_time_links.issue_setup_token(office.runtime.db, office.clock.now())
    form = {
        "organisation": "Alder & Finch",
        "timeZone": "Europe/London",
        "name": "Ada",
        "email": EMAIL,
        "password": PASSWORD,
    }
    assert (await office.visitor().post(f"/set-up/{token}", form)).status == 303
    signed_in, settings, joined, *_ = await newest(office)
    assert [one["type"] for one in (signed_in, settings, joined)] == [
        "member.signed_in",
        "settings.changed",
        "member.joined",
    ]
    assert settings["data"]["changes"]["organisationName"]["to"] == "Alder & Finch"
    assert settings["actor"]["email"] == EMAIL


# ---------- no entry claims more than happened ----------


async def test_who_never_gave_their_code_is_not_said_to_have_signed_out(office: Office) -> None:
    """Nor is it counted where all other browsers are signed out."""
    ada = BrowsingOwner(office, await office.signed_in("Ada"))
    secret = await ada.guard()
    thief = office.visitor()
    for _ in range(2):
        assert (await thief.sign_in(EMAIL)).to.startswith("/sign-in/code")
        await thief.get("/sign-in/code")
    before = await newest(office)
    await ada.visitor.get("/account")
    assert (await ada.visitor.post("/account/sessions/end-others")).status == 303
    assert (await thief.get("/sign-in/code")).to == "/sign-in", "it is over all the same"
    assert await newest(office) == before
    assert "member.signed_out" not in {one["type"] for one in before} and secret


async def test_an_invitation_says_nothing_of_mail_but_whether_its_link_was_shown(office: Office) -> None:
    await a_member(office)
    shown = (await newest(office))[0]["data"]
    assert "mailed" not in shown and shown["linkShown"] is False
    made = (None, "cli@example.test", "Cli", MemberRole.VIEWER)
    await users.create_invitation(office.runtime.installation, *made)
    assert (await newest(office))[0]["data"]["linkShown"] is True


async def test_each_key_that_goes_with_its_maker_has_an_entry(office: Office) -> None:
    ada, user = await office.signed_in("Ada"), await office.user("Bo", MemberRole.ADMIN)
    [bo] = await members.find_by_user(office.runtime.db, user.id)
    author = Author(Actor("member", bo.id, bo.name, bo.email))
    caller = Caller(actor.Owner(bo.organisation_id, Mode.LIVE), author)
    wishes = [KeyWish(str(mode), mode, frozenset({Scope.ALL}), None) for mode in Mode]
    made = {(await api_keys.create(office.runtime, caller, wish))[0].id for wish in wishes}
    await ada.post(f"/members/{bo.id}/remove", revoke="yes")
    removed, *revoked = (await newest(office))[:3]
    assert removed["type"] == "member.removed" and set(removed["data"]["revokedApiKeys"]) == made
    assert {(one["type"], one["data"]["reason"]) for one in revoked} == {
        ("api_key.revoked", "member removed")
    }
    assert {one["data"]["keyId"] for one in revoked} == made


async def test_of_two_who_change_the_seal_at_once_each_is_named_for_their_own(office: Office) -> None:
    """The journal of the keys has both changes before the log has either."""
    pair = {f"{name.lower()}@example.test": await office.signed_in(name) for name in ("Ada", "Bo")}
    await asyncio.gather(*(one.post("/settings/seal/new") for one in pair.values()))
    entries = (await office.site.api.ok("GET", "/audit?type=seal.changed"))["data"]
    by_hand = [one for one in entries if one["data"]["act"] == "made anew"]
    assert len(by_hand) == 2
    for entry in by_hand:
        assert entry["actor"]["email"] is None or entry["actor"]["email"] in entry["detail"]["by"]
