"""The mail server in the browser: tried before it is saved, explained when it fails, in force at once, never shown."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from esign.core.people.member import MemberRole
from esign.mail.failure_cause import FailureCause
from esign.web.office.server.mail_server import EXPLAINED
from tests.factories import an_organisation, store_organisation
from tests.mail.server import PASSWORD, USER, Server, authenticate, serving
from tests.web.office.visitor import PASSWORD as OWN_PASSWORD
from tests.web.office.visitor import Office, Page, Visitor, an_office

HERE, TEST = "/server/mail", "/server/mail/test"
SENDER = "sign@fernhill.example"
LOGIN = {"username": USER, "secret-password": PASSWORD}


def typed(server: Server, **more: str) -> dict[str, str]:
    return {"host": "127.0.0.1", "port": str(server.port), "security": "none", "from": SENDER, **more}


async def save(visitor: Visitor, fields: dict[str, str]) -> None:
    page = await visitor.post(HERE, fields)
    assert page.to == f"{HERE}?done=mail-server", page.said


def sealed(page: Page) -> str:
    found = re.search(r'name="sealed-password" value="([^"]+)"', page.text)
    assert found, page.said
    return found[1]


async def test_what_is_typed_is_tried_before_it_is_saved(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "No mail server is set up" in (await ada.get(HERE)).said
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        page = await ada.post(TEST, typed(server, **LOGIN))
        assert "accepted the test email to ada@example.test" in page.said
        assert "It replied: 2.0.0 taken as q-123" in page.said
        [message] = server.messages
        assert (message["To"], message["From"]) == ("Ada <ada@example.test>", f"esign <{SENDER}>")
        assert office.runtime.config.mail.host is None, "nothing is saved by trying"
        assert page.value("host") == "127.0.0.1" and page.value("from") == SENDER
        assert PASSWORD not in page.text and "Entered, not saved yet" in page.text
        await save(ada, typed(server, username=USER, **{"sealed-password": sealed(page)}))
        assert office.runtime.config.mail.secret == PASSWORD
        await ada.get(HERE)
        await ada.post(TEST, typed(server, username=USER))
        assert len(server.messages) == 2, "the saved password is used where none is typed"


async def test_the_mail_server_is_in_force_at_once_and_the_password_is_shown_nowhere(office: Office) -> None:
    ada = await office.signed_in("Ada")
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        assert "Emails aren’t going out." in (await ada.get("/documents")).said
        await save(ada, typed(server, **LOGIN))
        assert "Emails aren’t going out." not in (await ada.get("/documents")).said
        await office.site.api.send_document()
        await office.site.work("mail")
        assert [str(one["To"]) for one in server.messages] == ["Ada Lovelace <ada@example.test>"]
    page = await ada.get(HERE)
    assert PASSWORD not in page.text and 'placeholder="Saved"' in page.text
    assert page.value("username") == USER
    log = await ada.get("/settings/audit")
    assert "Address or mail server changed" in log.said and "Password changed yes" in log.said
    assert PASSWORD not in log.text and "Mail server none → 127.0.0.1" in log.said


async def test_the_own_words_of_the_server_are_shown_with_a_plain_sentence(office: Office) -> None:
    ada = await office.signed_in("Ada")
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        page = await ada.post(TEST, typed(server, username=USER, **{"secret-password": "wrong"}))
        assert "127.0.0.1 doesn’t accept the user name or password." in page.said
        assert "It replied: 535 5.7.8 Authentication credentials invalid" in page.said
        page = await ada.post(TEST, typed(server, security="tls"))
        assert (
            f"doesn’t use TLS from the start on port {server.port}." in page.said and "Details:" in page.said
        )
    async with serving(says={"rcpt": "550 <b>no such user</b>"}) as server:
        page = await ada.post(TEST, typed(server))
        assert "doesn’t accept ada@example.test as the recipient" in page.said
        assert "550 <b>no such user</b>" in page.said.replace("&lt;", "<") and "<b>no such" not in page.text
    page = await ada.post(TEST, {**typed(server), "host": "no.such.invalid"})
    assert "There is no server named no.such.invalid." in page.said


def test_every_cause_has_its_sentence() -> None:
    assert EXPLAINED.keys() == set(FailureCause)
    about = {"host": "h", "port": 1, "sender": "s", "to": "t"}
    assert not any("{" in sentence.format(**about) for sentence in EXPLAINED.values())


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("host", "", "Please fill this in."),
        ("host", "https://smtp.example.com", "Enter the name of a server"),
        ("host", "smtp.example.com:587", "Enter the name of a server"),
        ("port", "0", "Enter a number"),
        ("port", "70000", "Enter a number"),
        ("port", "smtp", "Enter a number"),
        ("security", "ssl", "Choose an encryption."),
        ("username", "", "Enter the user name"),
        ("secret-password", "", "Enter the password"),
        ("from", "", "Please fill this in."),
        ("from", "sign", "Enter one email address"),
        ("from", "Sign <sign@example.com>", "Enter one email address"),
        ("from", "a@example.com\r\nBcc: b@example.com", "Enter one email address"),
    ],
)
@pytest.mark.parametrize("path", [HERE, TEST])
async def test_what_does_not_fit_is_said_at_its_field(
    office: Office, path: str, field: str, text: str, sentence: str
) -> None:
    ada = await office.signed_in("Ada")
    form = {"host": "smtp.example.com", "port": "587", "security": "starttls", "from": SENDER, **LOGIN}
    page = await ada.post(path, {**form, field: text})
    assert page.status == 422 and page.wrong().keys() == {field}
    assert page.wrong()[field].startswith(sentence)
    assert PASSWORD not in page.text and office.runtime.config.mail.host is None


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("none", 25)])
async def test_an_empty_port_is_the_usual_one(office: Office, security: str, port: int) -> None:
    ada = await office.signed_in("Ada")
    await save(ada, {"host": "SMTP.example.com", "port": "", "security": security, "from": SENDER})
    mail = office.runtime.config.mail
    assert (mail.host, mail.port, mail.security) == ("smtp.example.com", port, security)


async def test_the_saved_password_goes_to_no_other_server_and_never_unencrypted(office: Office) -> None:
    """Whoever has taken over a session must not read it by naming a server of their own."""
    ada = await office.signed_in("Ada")
    form = {
        "host": "smtp.example.com",
        "port": "587",
        "security": "starttls",
        "from": SENDER,
        "username": USER,
    }
    await save(ada, {**form, "secret-password": PASSWORD})
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        for changed in (
            typed(server, username=USER),
            {**form, "username": "other"},
            {**form, "security": "none"},
        ):
            for path in (HERE, TEST):
                page = await ada.post(path, changed)
                assert page.wrong()["secret-password"].startswith("Enter the password"), changed
        assert server.connections == 0
    await save(ada, {**form, "port": "465", "security": "tls"})
    assert office.runtime.config.mail.secret == PASSWORD


async def test_a_password_that_a_page_carries_on_is_of_its_user_for_half_an_hour(office: Office) -> None:
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo")
    form = {"host": "smtp.example.com", "port": "1", "security": "starttls", "username": USER}
    page = await ada.post(TEST, {**form, "from": "no address", "secret-password": PASSWORD})
    carried = {**form, "from": SENDER, "sealed-password": sealed(page)}
    assert "secret-password" in (await bo.post(HERE, carried)).wrong()
    assert "secret-password" in (await ada.post(HERE, {**carried, "sealed-password": "AAAA"})).wrong()
    office.clock.advance(minutes=9)
    await save(ada, carried)
    await ada.post("/server/mail/remove")
    office.clock.advance(minutes=21)
    await ada.sign_in("ada@example.test")
    await ada.get(HERE)
    assert "secret-password" in (await ada.post(HERE, carried)).wrong()


async def test_the_typed_password_is_hidden_on_the_page_that_asks_who_it_is(office: Office) -> None:
    ada = await office.signed_in("Ada")
    office.clock.advance(minutes=11)
    async with serving() as server:
        page = await ada.post(HERE, typed(server, **LOGIN))
        assert page.title == "Confirm it’s you" and PASSWORD not in page.text
        kept = dict(
            re.findall(r'type="hidden" name="([\w-]+)" value="([^"]*)"', page.text.partition("<main")[2])
        )
        kept.pop("csrf")
        sent = await ada.post(HERE, {**kept, "password-again": OWN_PASSWORD})
        assert sent.to == f"{HERE}?done=mail-server", sent.said
    assert office.runtime.config.mail.secret == PASSWORD


async def test_a_mail_server_is_removed_after_a_question(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.get("/server/mail/remove")).to == HERE
    await save(ada, {"host": "smtp.example.com", "port": "25", "security": "none", "from": SENDER})
    assert "Remove mail server?" in (await ada.get("/server/mail/remove")).said
    assert (await ada.post("/server/mail/remove")).to == f"{HERE}?done=mail-server-removed"
    assert office.runtime.config.mail.host is None and not office.runtime.settings.chosen.mail


async def test_only_owners_of_the_first_organisation_change_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    later = an_organisation(id="org_two", name="Second", created_at=office.clock.now() + 1)
    other = await store_organisation(office.runtime.db, later)
    stranger = await office.signed_in("Stranger", MemberRole.OWNER, other.id)
    async with serving() as server:
        await save(ada, typed(server))
        page = await stranger.get(HERE)
        assert "127.0.0.1" in page.said and "Only owners of the first organisation" in page.said
        assert f'action="{HERE}' not in page.text
        for path in (HERE, TEST, "/server/mail/remove"):
            assert (await stranger.post(path, typed(server))).status == 403
        assert server.connections == 0 and office.runtime.config.mail.host == "127.0.0.1"


# ---------- what the file or a variable sets ----------


@pytest.fixture
async def fixed(tmp_path: Path) -> AsyncIterator[tuple[Office, Server]]:
    async with serving() as server:
        mail = {"host": "127.0.0.1", "port": server.port, "security": "none", "from": SENDER}
        async with an_office(tmp_path / "data", mail=mail) as office:
            yield office, server


async def test_a_mail_server_of_the_file_is_shown_as_fixed_tried_and_not_changed(
    fixed: tuple[Office, Server],
) -> None:
    office, server = fixed
    ada = await office.signed_in("Ada")
    page = await ada.get(HERE)
    assert "127.0.0.1 Set in esign.toml" in page.said and f"{SENDER} Set in esign.toml" in page.said
    assert "restart esign" in page.said and f'action="{HERE}"' not in page.text
    async with serving() as other:
        refused = await ada.post(HERE, typed(other))
        assert refused.status == 403 and "can’t be changed here" in refused.said
        await ada.get(HERE)
        page = await ada.post(TEST, typed(other))
        assert "accepted the test email" in page.said
        assert (len(server.envelopes), other.connections) == (1, 0), "what is fixed is what is tried"
    assert office.runtime.config.mail.port == server.port


async def test_a_single_key_of_the_file_stays_and_the_others_are_set(tmp_path: Path) -> None:
    async with an_office(tmp_path / "data", mail={"from": SENDER}) as office:
        ada = await office.signed_in("Ada")
        page = await ada.get(HERE)
        assert f"{SENDER} Set in esign.toml" in page.said and 'name="from"' not in page.text
        async with serving() as server:
            await save(ada, typed(server, **{"from": "other@example.com"}))
            await ada.get(HERE)
            await ada.post(TEST, typed(server))
            assert server.envelopes[0].mail_from == SENDER
