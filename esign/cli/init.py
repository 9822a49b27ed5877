"""`esign init`: ask what a new installation needs, test each answer at once, and write `esign.toml`."""

import errno
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from esign.cli.exit_codes import FAILED, USAGE, ask, run_command, stop_command

if TYPE_CHECKING:
    from esign.config import MailSettings

T = TypeVar("T")

PORT, LISTENS_ON = 8080, "127.0.0.1"
HTTPS_PORTS = (443, 80)  # the second is where the authority asks
SUBMISSION, SMTPS, RELAY = 587, 465, 25
NOBODY = (
    "there is no terminal to ask in; use --yes for the defaults, and the options that esign init --help lists"
)


class RefusedAnswer(Exception):
    """An answer does not hold; the message is a sentence that says why. `code` is the exit code where nobody can
    be asked again.
    """

    def __init__(self, sentence: str, code: int = USAGE) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Takes answers from flags, then from a person, or from the defaults if `is_quiet`. `tests` says whether to
    connect, bind and write to find out whether an answer holds.
    """

    is_quiet: bool
    tests: bool

    def ask(self, question: str, default: str, check: Callable[[str], T], given: str | None = None) -> T:
        """Return the first answer that passes its check. Stop the command where nobody can give another one."""
        answer = given
        while True:
            if answer is None:
                answer = default if self.is_quiet else self.prompt(question, default)
            try:
                return check(answer.strip())
            except RefusedAnswer as refused:
                if given is not None or self.is_quiet:
                    stop_command(refused.code, str(refused))
                click.echo(f"  {refused}", err=True)
                answer = None

    def prompt(self, question: str, default: str, *, secret: bool = False) -> str:
        """Return what a person types, or the default for an empty line."""
        hidden = secret and sys.stdin.isatty()
        try:
            return ask(question, default=default, show_default=bool(default), hide_input=hidden)
        except click.Abort:
            if sys.stdin.isatty():
                raise
            stop_command(USAGE, NOBODY)


@click.command()
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("esign.toml"),
    help="The file to write. Default: ./esign.toml.",
)
@click.option("--address", metavar="URL", help="Where people open it, such as https://sign.example.com.")
@click.option(
    "--https",
    type=click.Choice(("auto", "proxy")),
    help="What speaks https: esign, with a certificate that it gets by itself (auto), or a proxy in front of it.",
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. Default: 8080.")
@click.option("--data-dir", metavar="FOLDER", help="Where everything is kept.")
@click.option("--mail-server", metavar="HOST[:PORT]", help='What sends emails; "" to set it in the browser.')
@click.option(
    "--mail-security",
    type=click.Choice(("starttls", "tls", "none")),
    help="Default: what the port is meant for.",
)
@click.option("--mail-username", metavar="NAME", help="Login name at the mail server.")
@click.option(
    "--mail-password-file", type=click.Path(path_type=Path, dir_okay=False), help="A file with its password."
)
@click.option("--mail-from", metavar="MAILBOX", help='Sender, such as "Example <sign@example.com>".')
@click.option("--organisation", metavar="NAME", help="Name in emails, on pages and on certificates.")
@click.option("--yes", is_flag=True, help="Ask nothing, and use the default where no flag says otherwise.")
@click.option("--no-test", is_flag=True, help="Do not test the port, the folder and the mail server.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def init(file: Path, yes: bool, no_test: bool, force: bool, **flags: Any) -> None:
    """Write a commented esign.toml for a new installation.

    Asks for the address, the data folder, the mail server and the organisation, and tests each answer at once.
    Each can be given as an option instead. Prints only the next command on stdout.
    """
    if file.exists() and not force:
        stop_command(
            USAGE, f"{file} exists already; replace it with --force, or choose another with --config"
        )
    dialogue = Dialogue(yes, not no_test)

    folder = file.absolute().parent

    async def work() -> None:
        chosen = choose_address(dialogue, flags)
        chosen |= choose_folder(dialogue, flags, folder)
        chosen |= await choose_mail(dialogue, flags, str(chosen["server.base_url"]))
        chosen |= choose_organisation(dialogue, flags)
        write_config(file, {key: value for key, value in chosen.items() if value is not None})
        click.echo(f"{file} is written. Start the server with:", err=True)
        click.echo(
            "esign serve"
            if file == Path("esign.toml")
            else shlex.join(("esign", "serve", "--config", str(file)))
        )
        if (remark := describe_https(chosen)) is not None:
            click.echo(remark, err=True)

    run_command(work)


# ---------- the address ----------


def choose_address(dialogue: Dialogue, flags: dict[str, Any]) -> dict[str, object]:
    """Return where people open the installation, and a host and port on which it can listen."""
    base_url = dialogue.ask(
        "Address at which people open it", f"http://{LISTENS_ON}:{PORT}", parse_address, flags["address"]
    )
    if choose_https(dialogue, flags, base_url):
        return {"server.base_url": base_url, "server.https": "auto"}
    host, port = find_listener(base_url)
    host = flags["host"] or host

    def check(text: str) -> int:
        return check_port(dialogue, host, text)

    given = flags["port"] or port
    try:
        return {"server.base_url": base_url, "server.host": host, "server.port": check(str(given))}
    except RefusedAnswer as refused:
        if dialogue.is_quiet or flags["port"]:
            stop_command(refused.code, f"{refused}; choose another with --port")
        click.echo(f"  {refused}", err=True)
    other = dialogue.ask("Port to listen on", "", check)
    if port == given and base_url.startswith("http://"):  # the address is that of the listener itself
        base_url = f"{base_url.removesuffix(f':{port}')}:{other}"
    return {"server.base_url": base_url, "server.host": host, "server.port": other}


def choose_https(dialogue: Dialogue, flags: dict[str, Any], base_url: str) -> bool:
    """Return whether esign itself speaks https, with a certificate that it gets by itself.

    An authority gives one only for a name of the DNS and asks for it on the usual ports. A host or a port that
    was chosen is that of a listener behind a proxy.
    """
    from urllib.parse import urlsplit

    from esign.config import is_loopback
    from esign.config.values import is_address

    url = urlsplit(base_url)
    host = url.hostname or ""
    can_be = url.scheme == "https" and url.port is None and not is_loopback(host) and not is_address(host)
    if flags["https"] == "auto" and not can_be:
        stop_command(
            USAGE, f"no certificate can be had for {base_url}; that takes https:// and a name of the DNS"
        )
    if not can_be or (flags["https"] is None and (flags["host"] or flags["port"])):
        return False

    def check(text: str) -> bool:
        if text not in ("auto", "proxy"):
            raise RefusedAnswer("the answer is auto or proxy")
        if text == "auto" and dialogue.tests:
            for port in HTTPS_PORTS:
                check_free(port)
        return text == "auto"

    return dialogue.ask(
        "What speaks https: esign itself (auto), or a proxy in front of it", "auto", check, flags["https"]
    )


def check_free(port: int) -> None:
    """Raise RefusedAnswer if another program has the port. That this user may not open it is no reason: the server
    may be started by another one.
    """
    from esign.web.http.listeners import EVERY_ADDRESS, bind_socket

    try:
        bind_socket(EVERY_ADDRESS, port).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise RefusedAnswer(
                f"port {port} is taken by another program; end it, or put a proxy in front (--https proxy)",
                FAILED,
            ) from None


def describe_https(chosen: Mapping[str, object]) -> str | None:
    """Return what https needs besides the file; None for an address of this machine alone."""
    address = str(chosen["server.base_url"])
    if not address.startswith("https://"):
        return None
    if chosen.get("server.https") == "auto":
        return (
            f"esign gets a certificate for {address} by itself. The name must lead to this machine in the DNS, and"
            " ports 80 and 443 must be reachable. If only root may open them, see “Ports below 1024” in docs/https.md."
        )
    where = f"{chosen['server.host']}, port {chosen['server.port']}"
    return f"Put a proxy in front that serves {address} and passes requests to {where}."


def parse_address(text: str) -> str:
    """Return the address with its scheme: https, unless it is one of this machine alone."""
    from esign.config import is_loopback, is_protected, parse_base_url

    if "://" not in text:
        name = text.rpartition(":")[0] if ":" in text and not text.endswith("]") else text
        text = f"{'http' if is_loopback(name.strip('[]')) else 'https'}://{text}"
    try:
        address = parse_base_url(text)
    except ValueError as error:
        raise RefusedAnswer(f"the address {text} cannot be used; allowed is {error}") from None
    if not is_protected(address, "production"):
        raise RefusedAnswer(
            f"the address {address} must begin with https://, since signing links would travel unprotected"
        )
    return address


def find_listener(base_url: str) -> tuple[str, int]:
    """Return the host and port that follow from the address: its own, where it is one of this machine alone."""
    from urllib.parse import urlsplit

    url = urlsplit(base_url)
    if url.scheme != "http":
        return LISTENS_ON, PORT
    host = url.hostname or LISTENS_ON
    return (LISTENS_ON if host == "localhost" else host), url.port or 80


def check_port(dialogue: Dialogue, host: str, text: str) -> int:
    """Return the port, if this program can listen on it."""
    from esign.web.http.listeners import bind_socket

    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise RefusedAnswer("a port is a number from 1 to 65535")
    if dialogue.tests:
        try:
            bind_socket(host, int(text)).close()
        except OSError as error:
            raise RefusedAnswer(f"{error.strerror}", FAILED) from None
    return int(text)


# ---------- the folder ----------


def choose_folder(dialogue: Dialogue, flags: dict[str, Any], folder: Path) -> dict[str, object]:
    """Return the data folder, as it was answered. A relative one lies in `folder`, that of the file."""

    def check(text: str) -> str:
        if not text:
            raise RefusedAnswer("a data folder is needed, such as ./esign-data")
        if dialogue.tests:
            check_folder(folder / Path(text).expanduser())
        return text

    return {"storage.data_dir": dialogue.ask("Data folder", "./esign-data", check, flags["data_dir"])}


def check_folder(place: Path) -> None:
    """Raise RefusedAnswer unless this user can keep data there. Nothing is left behind."""
    from esign.store.engine.folder import NETWORK_FILE_SYSTEMS, find_file_system

    there = next(one for one in (place, *place.parents) if one.exists())
    if not there.is_dir():
        raise RefusedAnswer(f"{there} is not a folder; choose another data folder")
    if there == place and place.stat().st_uid != os.geteuid():
        raise RefusedAnswer(f"the data folder {place} belongs to another user; run esign as its owner")
    if (kind := find_file_system(place)) in NETWORK_FILE_SYSTEMS:
        raise RefusedAnswer(
            f"the data folder {place} lies on a network file system ({kind}), where a database can be damaged;"
            " choose a folder on a local disk"
        )
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"esign")
            file.flush()
    except OSError as error:
        raise RefusedAnswer(
            f"nothing can be written in {there}: {error.strerror}; choose another data folder"
        ) from None


# ---------- the mail server ----------


async def choose_mail(dialogue: Dialogue, flags: dict[str, Any], base_url: str) -> dict[str, object]:
    """Return the settings of a mail server that takes the login, or nothing where it is set in the browser."""
    while True:
        mail = ask_for_mail(dialogue, flags, base_url)
        if mail is None:
            return {}
        failure = await find_mail_failure(mail, base_url) if dialogue.tests else None
        if failure is None:
            break
        if dialogue.is_quiet or flags["mail_server"] is not None:
            stop_command(FAILED, f"{failure} Use --no-test to write it anyway.")
        click.echo(f"  {failure}", err=True)
        if click.confirm("Use it anyway?", default=False, err=True):
            break
    names = mail.name_keys()
    set_here = ("host", "port", "security", "username", "sender")
    values: dict[str, object] = {f"mail.{names[name]}": getattr(mail, name) for name in set_here}
    return values | {"mail.password": mail.secret}


def ask_for_mail(dialogue: Dialogue, flags: dict[str, Any], base_url: str) -> "MailSettings | None":
    """Return a mail server as it was answered, or None."""
    from urllib.parse import urlsplit

    from esign.config import MailSettings, parse_mailbox

    question = "Mail server, as HOST:PORT (empty: set it in the browser later)"
    server = dialogue.ask(question, "", parse_server, flags["mail_server"])
    if server is None:
        return None
    host, port = server
    follows = "tls" if port == SMTPS else "none" if port == RELAY else "starttls"
    asked = dialogue.is_quiet or flags["mail_server"] is not None
    username, password = flags["mail_username"], read_password(flags["mail_password_file"])
    if username is None and not asked:
        username = dialogue.prompt("User name there (empty: none)", "").strip() or None
    if username is not None and password is None:
        if asked:
            stop_command(
                USAGE, "the password of the mail server is missing; name a file with --mail-password-file"
            )
        password = dialogue.prompt("Password", "", secret=True)
    if username is None and password is not None:
        stop_command(USAGE, "the user name at the mail server is missing; give it with --mail-username")

    def check(text: str) -> str:
        try:
            return parse_mailbox(text)
        except ValueError as error:
            raise RefusedAnswer(f"the sender {text} cannot be used; allowed is {error}") from None

    own = username if username and "@" in username else f"sign@{urlsplit(base_url).hostname}"
    sender = dialogue.ask("Sender of emails", own, check, flags["mail_from"] or (own if asked else None))
    return MailSettings.model_validate(
        {
            "host": host,
            "port": port,
            "security": flags["mail_security"] or follows,
            "username": username,
            "password": password or None,
            "from": sender,
        }
    )


def parse_server(text: str) -> tuple[str, int] | None:
    """Return the host and port of a mail server, or None for an empty answer."""
    from esign.config import parse_host

    if not text:
        return None
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, str(SUBMISSION)
    try:
        if not port.isdecimal() or not 1 <= int(port) <= 65535:
            raise ValueError
        return parse_host(host.strip("[]")), int(port)
    except ValueError:
        raise RefusedAnswer(
            f"{text} is no mail server; allowed is a name and a port, such as smtp.example.com:587"
        ) from None


def read_password(file: Path | None) -> str | None:
    """Return the first line of the file, or None without a file."""
    if file is None:
        return None
    try:
        return file.read_text("utf-8").partition("\n")[0].removesuffix("\r")
    except (OSError, ValueError) as error:
        stop_command(USAGE, f"the password file {file} cannot be read: {getattr(error, 'strerror', error)}")


async def find_mail_failure(mail: "MailSettings", base_url: str) -> str | None:
    """Connect to the mail server and log in. Return what is wrong, in a sentence, or None. No mail is sent."""
    from urllib.parse import urlsplit

    from esign.actions.mail.mailer import make_smtp_server
    from esign.actions.server.setup_checks import PATIENCE
    from esign.mail.failure import MailFailure
    from esign.mail.failure_cause import find_cause
    from esign.web.office.server.mail_server import EXPLAINED

    server = make_smtp_server(mail, urlsplit(base_url).hostname or "localhost", keep=0.0, step=PATIENCE)
    try:
        await server.log_in()
    except MailFailure as failure:
        said = EXPLAINED[find_cause(failure)].format(
            host=mail.host, port=mail.port, sender=mail.sender, to=""
        )
        return f"{said} ({failure.reason})"
    finally:
        await server.close()
    return None


# ---------- the organisation, and the file ----------


def choose_organisation(dialogue: Dialogue, flags: dict[str, Any]) -> dict[str, object]:
    """Return the name of the organisation, if every character of it can be printed."""
    from esign.actions.people import accounts
    from esign.config import Config

    def check(text: str) -> str:
        if not 1 <= len(text) <= 200 or not text.isprintable():
            raise RefusedAnswer(
                "the name of the organisation has 1 to 200 characters, without control characters"
            )
        if missing := accounts.find_undrawn(text, Config()):
            raise RefusedAnswer(
                f"no installed font can print {' '.join(missing)} in the name of the organisation"
            )
        return text

    return {
        "organisation.name": dialogue.ask("Name of the organisation", "esign", check, flags["organisation"])
    }


def write_config(file: Path, chosen: dict[str, object]) -> None:
    """Write the file at once or not at all, readable for others only if it holds no password. Raise ConfigError."""
    from esign.config import load_config
    from esign.config.example import write_example

    handle, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name}-")
    made = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write(write_example(chosen))
        load_config(made, {})
        if "mail.password" not in chosen:
            made.chmod(0o644)
        made.replace(file)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
