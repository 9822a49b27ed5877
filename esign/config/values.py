"""The types of single values. The text of each ValueError says what is allowed."""

import re
from email.headerregistry import Address
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit, urlunsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    PlainValidator,
    SecretStr,
    Strict,
    ValidationInfo,
)

OWNERS = "owners"  # in `audit.anchor_to`: mails to the owners
SYSTEM = "system"  # in `seal.trust`: the roots that this machine trusts for the web
LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")


def is_loopback(host: str) -> bool:
    """Return whether `host` (a name, or an address without brackets) always means this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_address(host: str) -> bool:
    """Return whether the host is a literal address and no name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_host(text: str) -> bool:
    """Return whether the text is a host name or a literal address, without scheme, port, brackets or zone."""
    if not is_address(text):
        return len(text) <= 253 and all(LABEL.fullmatch(label) for label in text.split("."))
    return "%" not in text


def parse_host(text: str) -> str:
    if not is_host(text):
        raise ValueError("a host name or an address, without scheme, port and path")
    return text.lower()


def build_origin(host: str, port: int) -> str:
    """Return the plain http address of a listening socket."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def parse_base_url(text: str) -> str:
    """Return scheme, host and port alone, in lower case, because links are made by appending a path.

    Raises ValueError.
    """
    allowed = "an address without a path, such as https://sign.example.com"
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        raise ValueError(allowed) from None
    bare = url.username is None and url.path in ("", "/") and not {"?", "#"} & set(text)
    if url.scheme not in ("http", "https") or not bare or not is_host(host):
        raise ValueError(allowed)
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"


class RemoteAddress(BaseModel, frozen=True):
    """An address to send requests to; `login` is the user name and password that it contained, as `name:password`."""

    url: str
    login: SecretStr | None = None


def _parse_remote(found: object) -> RemoteAddress:
    """Return the address without its login. Name and password may be percent-encoded.

    Encoding is required for `:` in a name, and for `/`, `?`, `#` and `%` in both. Raises ValueError.
    """
    allowed = "an http:// or https:// address, such as https://tsa.example.com/tsr or https://name:password@tsa.example.com"
    text = found if isinstance(found, str) else ""
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise ValueError(allowed) from None
    plain = text.isascii() and text.isprintable() and not set(" \\#") & set(text)
    if url.scheme not in ("http", "https") or not (plain and is_host(host)):
        raise ValueError(allowed)
    given, at, place = url.netloc.rpartition("@")
    if not at:
        return RemoteAddress(url=text)
    name, _, password = map(unquote, given.partition(":"))
    if not (name and password and f"{name}{password}".isprintable()) or ":" in name:
        raise ValueError(allowed)
    if url.scheme == "http" and not is_loopback(host):
        raise ValueError("an https:// address where it has a password, which anybody on the way could read")
    return RemoteAddress(url=urlunsplit(url._replace(netloc=place)), login=SecretStr(f"{name}:{password}"))


BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
USER = re.compile(r"[A-Za-z0-9._-]{1,64}")
FOLDERS = re.compile(r"(/?[A-Za-z0-9._~ -]+)*/?")


class BackupPlace(BaseModel, frozen=True):
    """Where backups go. `kind` is `folder`, `s3` or `sftp`; `path` is a folder, or the beginning of names in a bucket.

    `host` is the name of the bucket, or that of the server.
    """

    kind: str
    text: str
    path: str
    host: str = ""
    port: int = 22
    user: str = ""


def _parse_backup_place(found: object) -> BackupPlace:
    """Return where backups go. Raises ValueError."""
    allowed = (
        "a folder that begins with /, s3://bucket/prefix or sftp://user@host/folder, without a password in it"
    )
    text = found if isinstance(found, str) else ""
    if text.startswith("/") and text.isprintable():
        return BackupPlace(kind="folder", text=text, path=text)
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        raise ValueError(allowed) from None
    is_plain = not {"?", "#", "%", "\\"} & set(text) and FOLDERS.fullmatch(url.path) is not None
    if not is_plain or ".." in url.path.split("/") or url.password is not None:
        raise ValueError(allowed)
    if url.scheme == "s3" and BUCKET.fullmatch(url.netloc):
        return BackupPlace(kind="s3", text=text, path=url.path.strip("/"), host=url.netloc)
    if url.scheme == "sftp" and is_host(host) and USER.fullmatch(url.username or ""):
        return BackupPlace(
            kind="sftp", text=text, path=url.path or "/", host=host, port=port or 22, user=url.username or ""
        )
    raise ValueError(allowed)


def _parse_authority(text: str) -> str:
    """Return the address of an authority that issues certificates. Raises ValueError."""
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        host, url = "", urlsplit("")
    secure = url.scheme == "https" or (url.scheme == "http" and is_loopback(host))
    if not (secure and is_host(host) and url.username is None and text.isascii() and text.isprintable()):
        raise ValueError("an https:// address, such as https://acme.example.com/directory")
    return text


def _parse_network(found: object) -> IPv4Network | IPv6Network:
    allowed = 'the proxies\' own addresses or networks, such as "10.0.0.5" or "10.0.0.0/8"'
    try:
        network = ip_network(found) if isinstance(found, str) else None
    except ValueError:
        network = None
    if network is None or network.prefixlen == 0:
        raise ValueError(f"{allowed}; a proxy that is trusted here can claim any address")
    return network


def parse_mailbox(text: str) -> str:
    """Return an address, or a name before an address in angle brackets.

    Raises ValueError, also for unprintable characters, so that no header can break.
    """
    name, bracket, address = text.rpartition("<")
    closed = address.endswith(">") == bool(bracket)
    try:
        parsed = Address(display_name=name.strip(' "'), addr_spec=address.removesuffix(">"))
    except Exception:  # on malformed input the parser of addresses raises IndexError and others
        parsed = Address()
    if not (closed and text.isprintable() and parsed.username and is_host(parsed.domain)):
        raise ValueError('one address, such as "sign@example.com" or "Example <sign@example.com>"')
    return text


def _check_name(text: str) -> str:
    if not text.isprintable() or not 1 <= len(text.strip()) <= 200:
        raise ValueError("a text of 1 to 200 characters without control characters")
    return text.strip()


def _check_time_zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError('a name of the IANA time zone database, such as "UTC" or "Europe/Berlin"') from None
    return text


def _resolve_path(path: Path, info: ValidationInfo) -> Path:
    """Return the path, relative to the folder of the configuration file, which comes as the validation context."""
    folder = info.context if isinstance(info.context, Path) else Path.cwd()
    return folder / path.expanduser()


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise ValueError("a file that exists")
    return path


def _require_folder(path: Path) -> Path:
    if not path.is_dir():
        raise ValueError("a folder that exists")
    return path


def _parse_trusted(found: object, info: ValidationInfo) -> Path | str:
    """Return the word for the system's trust store, or the path of certificates. Raises ValueError."""
    if found == SYSTEM:
        return SYSTEM
    path = _resolve_path(Path(found), info) if isinstance(found, str | Path) and str(found) else None
    if path is None or not path.exists():
        raise ValueError(f'files or folders that exist, or "{SYSTEM}"')
    return path


def _parse_anchor_target(found: object, info: ValidationInfo) -> Path | str:
    """Return the word for the owners, an https address, or the path of a folder. Raises ValueError.

    The folder may be missing: a share that is gone must not keep the server from starting.
    """
    if found == OWNERS:
        return OWNERS
    if isinstance(found, str) and found.startswith("https://"):
        address = _parse_remote(found)
        if address.login is not None:
            raise ValueError("an address without user name and password")
        return address.url
    is_path = isinstance(found, Path) or (isinstance(found, str) and "://" not in found and "/" in found)
    path = _resolve_path(Path(str(found)), info) if is_path else None
    if path is None or (path.exists() and not path.is_dir()):
        raise ValueError(f'folders such as /mnt/anchors, https addresses, and "{OWNERS}"')
    return path


Host = Annotated[str, AfterValidator(parse_host)]
AnchorTarget = Annotated[Path | str, PlainValidator(_parse_anchor_target)]
AuthorityUrl = Annotated[str, AfterValidator(_parse_authority)]
BaseUrl = Annotated[str, AfterValidator(parse_base_url)]
Network = Annotated[IPv4Network | IPv6Network, PlainValidator(_parse_network)]
Mailbox = Annotated[str, AfterValidator(parse_mailbox)]
Name = Annotated[str, AfterValidator(_check_name)]
TimeZone = Annotated[str, AfterValidator(_check_time_zone)]
LocalPath = Annotated[Path, Strict(False), AfterValidator(_resolve_path)]
LocalFile = Annotated[LocalPath, AfterValidator(_require_file)]
LocalFolder = Annotated[LocalPath, AfterValidator(_require_folder)]
BackupTarget = Annotated[BackupPlace, BeforeValidator(_parse_backup_place)]
RemoteUrl = Annotated[RemoteAddress, BeforeValidator(_parse_remote)]
Trusted = Annotated[Path | str, PlainValidator(_parse_trusted)]
