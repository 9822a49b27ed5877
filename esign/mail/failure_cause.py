"""Finds out what a failure of the mail server says about its settings, so that it can be explained in a sentence."""

import ssl
from collections.abc import Iterator
from enum import StrEnum
from socket import gaierror

from esign.mail.failure import MailFailure


class FailureCause(StrEnum):
    """What is most likely wrong, in the order in which a connection finds out."""

    UNKNOWN_HOST = "unknown_host"
    NOBODY_LISTENS = "nobody_listens"
    UNREACHABLE = "unreachable"
    NO_ANSWER = "no_answer"
    NOT_TLS = "not_tls"
    NO_STARTTLS = "no_starttls"
    CERTIFICATE = "certificate"
    TLS = "tls"
    NO_LOGIN = "no_login"
    LOGIN = "login"
    LOGIN_NEEDED = "login_needed"
    TLS_NEEDED = "tls_needed"
    NOT_SMTP = "not_smtp"
    SENDER = "sender"
    RECIPIENT = "recipient"
    OTHER = "other"


def find_cause(failure: MailFailure) -> FailureCause:
    """Return what the exceptions behind the failure mean."""
    from aiosmtplib import (
        SMTPAuthenticationError,
        SMTPRecipientRefused,
        SMTPResponseException,
        SMTPSenderRefused,
        SMTPServerDisconnected,
    )

    chain = tuple(list_chain(failure))
    for error in chain:
        match error:
            case ssl.SSLCertVerificationError():
                return FailureCause.CERTIFICATE
            case ssl.SSLError(reason="WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE"):
                return FailureCause.NOT_TLS
            case ssl.SSLError():
                return FailureCause.TLS
            case gaierror():
                return FailureCause.UNKNOWN_HOST
            case ConnectionRefusedError():
                return FailureCause.NOBODY_LISTENS
            case SMTPAuthenticationError():
                return FailureCause.LOGIN
            case SMTPResponseException(code=530):
                asks_tls = "STARTTLS" in error.message.upper()
                return FailureCause.TLS_NEEDED if asks_tls else FailureCause.LOGIN_NEEDED
            case SMTPResponseException(code=-1):  # of aiosmtplib: the line is not one of SMTP
                return FailureCause.NOT_SMTP
            case SMTPSenderRefused():
                return FailureCause.SENDER
            case SMTPRecipientRefused():
                return FailureCause.RECIPIENT
    said = " ".join(str(error) for error in chain)
    if "STARTTLS extension not supported" in said:
        return FailureCause.NO_STARTTLS
    if "AUTH extension is not supported" in said or "No suitable authentication" in said:
        return FailureCause.NO_LOGIN
    if any(isinstance(error, TimeoutError) for error in chain):
        return FailureCause.NO_ANSWER
    # A server that waits for TLS takes the end of its patience, or our greeting, for a broken handshake.
    if any(isinstance(error, SMTPServerDisconnected) for error in chain) or "Unexpected EOF" in said:
        return FailureCause.NO_ANSWER
    if any(type(error) is OSError for error in chain):
        return FailureCause.UNREACHABLE
    return FailureCause.OTHER


def list_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that caused it, each once."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        yield found
        seen.add(id(found))
        found = found.__cause__ or found.__context__
