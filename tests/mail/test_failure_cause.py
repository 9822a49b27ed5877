"""What each failure of a real mail server is said to mean."""

from typing import Any

import pytest

from esign.mail.failure import MailFailure
from esign.mail.failure_cause import FailureCause, find_cause
from esign.mail.smtp import SmtpServer
from tests.certificates import TlsPair
from tests.journeys.test_relay import listening
from tests.mail.server import USER, authenticate, serving
from tests.mail.test_smtp import a_message
from tests.ports import reserve_port


async def fail(port: int, **how: Any) -> tuple[FailureCause, str]:
    server = SmtpServer(how.pop("host", "127.0.0.1"), port, how.pop("security", "none"), step=2, **how)
    with pytest.raises(MailFailure) as failure:
        await server.send(a_message())
    await server.close()
    return find_cause(failure.value), failure.value.reason


async def test_a_name_that_nobody_has() -> None:
    assert (await fail(25, host="no.such.invalid"))[0] is FailureCause.UNKNOWN_HOST


async def test_a_port_on_which_nobody_listens() -> None:
    assert (await fail(reserve_port()))[0] is FailureCause.NOBODY_LISTENS


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
async def test_a_server_that_says_nothing(security: str) -> None:
    async with listening(port := reserve_port()):
        assert (await fail(port, security=security))[0] is FailureCause.NO_ANSWER


async def test_something_that_is_no_mail_server() -> None:
    async with listening(port := reserve_port(), b"SSH-2.0-OpenSSH_9\r\n"):
        assert (await fail(port))[0] is FailureCause.NOT_SMTP
    async with listening(port := reserve_port(), b"HTTP/1.1 400 Bad Request\r\n\r\n"):
        assert (await fail(port, security="tls"))[0] is FailureCause.NOT_TLS


async def test_another_encryption_than_the_server_has(pair: TlsPair) -> None:
    async with serving() as server:
        cause, reason = await fail(server.port, security="tls")
        assert cause is FailureCause.NOT_TLS and "None" not in reason
        assert (await fail(server.port, security="starttls"))[0] is FailureCause.NO_STARTTLS
        login = {"username": "u", "password": "p"}
        assert (await fail(server.port, **login))[0] is FailureCause.NO_LOGIN
    async with serving(pair.server) as server:
        assert (await fail(server.port))[0] is FailureCause.TLS_NEEDED
        assert (await fail(server.port, security="tls"))[0] is FailureCause.NOT_TLS
    async with serving(pair.server, smtps=True) as server:
        assert (await fail(server.port, security="starttls"))[0] is FailureCause.NO_ANSWER


@pytest.mark.parametrize("smtps", [True, False])
async def test_a_certificate_that_is_not_trusted_or_of_another_name(pair: TlsPair, *, smtps: bool) -> None:
    security = "tls" if smtps else "starttls"
    async with serving(pair.server, smtps=smtps) as server:
        for how in ({"host": "localhost"}, {"host": "127.0.0.1", "trust": pair.client}):
            assert (await fail(server.port, security=security, **how))[0] is FailureCause.CERTIFICATE


async def test_a_login_that_is_wrong_or_missing(pair: TlsPair) -> None:
    own = {"host": "localhost", "security": "starttls", "trust": pair.client}
    async with serving(pair.server, auth_required=True, authenticator=authenticate) as server:
        cause, reason = await fail(server.port, **own, username=USER, password="wrong")
        assert cause is FailureCause.LOGIN and reason.startswith("535 ")
        assert (await fail(server.port, **own))[0] is FailureCause.LOGIN_NEEDED


@pytest.mark.parametrize(
    ("step", "said", "cause"),
    [
        ("mail", "550 not yours", FailureCause.SENDER),
        ("rcpt", "550 relaying denied", FailureCause.RECIPIENT),
        ("data", "554 spam", FailureCause.OTHER),
    ],
)
async def test_what_the_server_refuses(step: str, said: str, cause: FailureCause) -> None:
    async with serving(says={step: said}) as server:
        assert await fail(server.port) == (cause, said)
