"""The mail server: shown to owners, tried with what is typed, and set by those of the first organisation."""

from collections.abc import Mapping
from dataclasses import replace

from starlette.responses import Response

from esign.actions.server import browser_settings, kept_invitations, setup_checks
from esign.actions.server.setup_checks import CheckResult
from esign.config import MAIL, Config, UnfitSettings, parse_host, parse_mailbox
from esign.core.errors import Problem
from esign.core.sentence import say
from esign.mail.failure_cause import FailureCause
from esign.mail.message import NamedMailbox
from esign.web.office.frame.forms import EMPTY, FormError, parse_number
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.server.setup_steps import show_step

HERE = "/server/mail"
PASSWORD = "password"  # noqa: S105  (the name of a field)
PORTS = {"starttls": 587, "tls": 465, "none": 25}
NO_HOST = "Enter the name of a server, such as smtp.example.com."
NO_PORT = "Enter a number from 1 to 65535, such as 587."
NO_SECURITY = "Choose an encryption."
NO_USERNAME = "Enter the user name that belongs to the password."
NO_PASSWORD = "Enter the password that belongs to the user name."  # noqa: S105
PASSWORD_ANEW = "Enter the password again, because it goes to another server or travels unencrypted now."  # noqa: S105
NO_SENDER = "Enter one email address, such as sign@example.com."
FIXED = "The mail server is set where esign is started, and can’t be changed here."
NOTHING_SET = "There is no mail server to try."

EXPLAINED: Mapping[FailureCause, str] = {  # `{…}` are the settings that were tried
    FailureCause.UNKNOWN_HOST: "There is no server named {host}. Check the name.",
    FailureCause.NOBODY_LISTENS: "{host} takes no connections on port {port}. Check the port.",
    FailureCause.UNREACHABLE: "{host} can’t be reached from this server. Check the name and the network.",
    FailureCause.NO_ANSWER: "{host} didn’t answer on port {port}. Check the port and the encryption, and whether a"
    " firewall is in between.",
    FailureCause.NOT_TLS: "{host} doesn’t use TLS from the start on port {port}. Choose STARTTLS, or use port 465.",
    FailureCause.NO_STARTTLS: "{host} doesn’t offer STARTTLS on port {port}. Choose TLS and port 465.",
    FailureCause.CERTIFICATE: "The certificate of {host} isn’t trusted, or belongs to another name. Check the name.",
    FailureCause.TLS: "{host} and this server couldn’t agree on an encryption.",
    FailureCause.NO_LOGIN: "{host} offers no sign-in on this connection. Choose another encryption, or leave the user"
    " name empty.",
    FailureCause.LOGIN: "{host} doesn’t accept the user name or password.",
    FailureCause.LOGIN_NEEDED: "{host} asks for a user name and password.",
    FailureCause.TLS_NEEDED: "{host} takes no unencrypted mail. Choose STARTTLS.",
    FailureCause.NOT_SMTP: "Something answers at {host}, port {port}, but it isn’t a mail server. Check the port.",
    FailureCause.SENDER: "{host} doesn’t accept {sender} as the sender.",
    FailureCause.RECIPIENT: "{host} doesn’t accept {to} as the recipient.",
    FailureCause.OTHER: "{host} didn’t take the email.",
}


async def show(call: OfficeCall) -> Response:
    """Show how emails are sent, with a form where that can be set here."""
    return await show_with_result(call, None)


async def show_with_result(call: OfficeCall, found: CheckResult | None, sentence: str = "") -> Response:
    """Render the page, with the result of a test email if there is one. A typed password is carried on."""
    settings = call.runtime.settings
    sources = {key: settings.find_source(f"mail.{key}") for key in MAIL}
    return await show_step(
        call,
        "server_mail",
        mail=settings.config.mail,
        sources=sources,
        is_fixed=sources["host"] is not None,
        unmailed=await kept_invitations.count(call.runtime, call.owner),
        found=found,
        sentence=sentence,
        typed=call.seal_secrets().get(f"sealed-{PASSWORD}") if call.find_secret(PASSWORD) else None,
    )


async def try_out(call: OfficeCall) -> Response:
    """Send a test email to the user by what is typed, saved or not, and show the mail server's answer."""
    await browser_settings.require_may_change(call.runtime, call.signed_in.organisation)
    user, mail = call.signed_in.user, read_form(call)[1].mail
    if mail.host is None:
        raise FormError({"": NOTHING_SET})
    call.tries.count("test mail", user.id, call.origin.ip)
    to = NamedMailbox(user.email, user.name)
    found = await setup_checks.send_mail(call.runtime, call.signed_in.organisation, to, mail)
    if found.cause is None:
        return await show_with_result(call, found)
    sentence = say(
        EXPLAINED[found.cause], host=mail.host, port=str(mail.port), sender=mail.sender, to=user.email
    )
    return await show_with_result(call, found, call.words.say(sentence))


async def save(call: OfficeCall) -> Response:
    """Send emails by what is typed from now on."""
    await browser_settings.require_may_change(call.runtime, call.signed_in.organisation)
    if call.runtime.settings.find_source("mail.host") is not None:
        raise Problem("insufficient_scope", FIXED)
    wanted, _ = read_form(call)
    await browser_settings.save_mail(call.runtime, call.author, wanted)
    return call.redirect_to(HERE, "mail-server")


async def ask_remove(call: OfficeCall) -> Response:
    """Ask before emails stay here again; redirect if no mail server was set in the browser."""
    if not call.runtime.settings.chosen.mail.get("host"):
        return call.redirect_to(HERE)
    return call.page("server_mail_remove", host=call.runtime.settings.chosen.mail["host"])


async def remove(call: OfficeCall) -> Response:
    """Keep emails here from now on, and forget the mail server that was set in the browser."""
    await browser_settings.require_may_change(call.runtime, call.signed_in.organisation)
    await browser_settings.save_mail(call.runtime, call.author, {})
    return call.redirect_to(HERE, "mail-server-removed")


# ---------- what is typed ----------


def read_form(call: OfficeCall) -> tuple[dict[str, str | int], Config]:
    """Return what the form says, as the browser stores it, and the configuration as it would be with that.

    Keys that the file or a variable sets are left as they were stored. Raise `FormError`.
    """
    settings, form, wrong = call.runtime.settings, call.form, dict[str, str]()
    wanted: dict[str, str | int] = {}
    wanted["host"] = read_host(form.get("host", "").strip(), wrong)
    wanted["security"] = form.get("security", "")
    if wanted["security"] not in PORTS:
        wrong["security"] = NO_SECURITY
    port = parse_number(form.get("port", ""))
    if port is None:
        port = PORTS.get(str(wanted["security"]), 0)
    wanted["port"] = port
    if not isinstance(port, int) or not 1 <= port <= 65_535:
        wrong["port"] = NO_PORT
    wanted["from"] = read_sender(form.get("from", "").strip(), wrong)
    wanted |= read_login(call, wanted, wrong)
    stored = settings.chosen.mail
    for key in MAIL:
        if settings.find_source(f"mail.{key}") is not None:
            wanted.pop(key, None)
            wrong.pop(f"secret-{key}" if key == PASSWORD else key, None)
            wanted |= {key: stored[key]} if key in stored else {}
    if wrong:
        raise FormError({name: wrong[name] for name in FIELDS if name in wrong})
    try:
        return wanted, settings.combine(replace(settings.chosen, mail=wanted))
    except UnfitSettings as error:
        raise FormError({"": str(error)}) from None


FIELDS = ("host", "security", "port", "username", f"secret-{PASSWORD}", "from")  # in the order of the page


def read_host(text: str, wrong: dict[str, str]) -> str:
    """Return the host; add an error to `wrong` if it is none."""
    if not text:
        wrong["host"] = EMPTY
        return ""
    try:
        return parse_host(text)
    except ValueError:
        wrong["host"] = NO_HOST
        return ""


def read_sender(text: str, wrong: dict[str, str]) -> str:
    """Return the address of the sender; add an error to `wrong` if it is none. The organisation gives its name."""
    try:
        sender = parse_mailbox(text)
    except ValueError:
        sender = ""
    if not sender or "<" in sender:
        wrong["from"] = NO_SENDER if text else EMPTY
    return sender


def read_login(call: OfficeCall, wanted: Mapping[str, object], wrong: dict[str, str]) -> dict[str, str]:
    """Return user name and password, or nothing; add errors to `wrong`.

    A password that is not typed stays as it is stored, but it goes to no other server and never unencrypted where
    it was encrypted: whoever has taken over a session must not get at it.
    """
    username, typed = call.form.get("username", "").strip(), call.find_secret(PASSWORD)
    stored = call.runtime.settings.chosen.mail
    if not username:
        if typed:
            wrong["username"] = NO_USERNAME
        return {}
    if typed:
        return {"username": username, PASSWORD: typed}
    if PASSWORD not in stored:
        wrong[f"secret-{PASSWORD}"] = NO_PASSWORD
        return {}
    same = all(
        stored.get(key) == value for key, value in {"host": wanted["host"], "username": username}.items()
    )
    weaker = wanted["security"] == "none" != stored.get("security")
    if not same or weaker:
        wrong[f"secret-{PASSWORD}"] = PASSWORD_ANEW
        return {}
    return {"username": username, PASSWORD: str(stored[PASSWORD])}
