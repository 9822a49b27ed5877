"""The effective settings of a server: what the file and the environment set, and below them what owners set in the
browser.

The address of the server and its mail server can be set in the browser. A key that the file or a variable sets is
fixed: the browser shows it and cannot change it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

from pydantic import ValidationError

from esign.config.tables import Config, MailSettings, is_protected
from esign.config.values import parse_base_url

ADDRESS = "server.base_url"
DECISIVE = ("host", "username", "password")
CONNECTION = (*DECISIVE, "port", "security")
MAIL = (*CONNECTION, "from")


class UnfitSettings(Exception):
    """What was set in the browser does not go together with the file and the environment; the text says why."""


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """What owners set in the browser. `mail` has keys of [mail] as the file writes them.

    `earlier_url` is the address before the present one. The server still answers there, so that links that were
    sent keep working, and a wrong address locks nobody out.
    """

    base_url: str | None = None
    earlier_url: str | None = None
    mail: Mapping[str, str | int] = field(default_factory=dict, repr=False)  # it holds the password

    def encode(self) -> bytes:
        """Return the settings as JSON, password included."""
        return json.dumps(asdict(self)).encode()


NOTHING_CHOSEN = BrowserSettings()


def decode_browser_settings(content: bytes) -> BrowserSettings:
    """Return the settings of a JSON text."""
    return BrowserSettings(**json.loads(content))


class EffectiveSettings:
    """Answers what is in force now. `given` is what the file and the environment say, `chosen` what the browser says.

    `config` is both together. A new value takes its place when the browser changes something, so read it where it
    is used, and keep nothing that was made of it. Raise `UnfitSettings` if they do not go together.
    """

    def __init__(self, given: Config, chosen: BrowserSettings = NOTHING_CHOSEN) -> None:
        self.given = given
        self.replace(chosen)

    def replace(self, chosen: BrowserSettings) -> None:
        """Let other choices of the browser be in force from now on. Raise `UnfitSettings`, and change nothing."""
        self.config = self.combine(chosen)
        self.chosen = chosen
        earlier = None if self.find_source(ADDRESS) else chosen.earlier_url
        self._hosts = frozenset({self.config.public_host, urlsplit(earlier or "").hostname or ""} - {""})

    def combine(self, chosen: BrowserSettings) -> Config:
        """Return the configuration as it would be with these choices. Raise `UnfitSettings`."""
        changes: dict[str, object] = {}
        if chosen.base_url is not None and not self.find_source(ADDRESS):
            server = self.given.server
            if not is_protected(chosen.base_url, server.environment):
                raise UnfitSettings("the address must begin with https://")
            changes["server"] = server.model_copy(update={"base_url": parse_base_url(chosen.base_url)})
        wanted = {key: value for key, value in chosen.mail.items() if not self.find_source(f"mail.{key}")}
        if wanted:
            mail = self.given.mail
            names = mail.name_keys()
            own = {names[name]: getattr(mail, name) for name in mail.model_fields_set}
            try:
                changes["mail"] = MailSettings.model_validate({**own, **wanted})
            except ValidationError as error:
                reasons = (one.get("ctx", {}).get("error") or one["loc"][0] for one in error.errors())
                raise UnfitSettings("; ".join(map(str, reasons))) from None
        return self.given.model_copy(update=changes)

    def find_source(self, key: str) -> str | None:
        """Return the file or variable that fixes a key, or None if the browser can set it.

        A mail server is fixed as a whole by its host, user name or password: what stands in the file must not be
        sent to another server, and half of one server is none.
        """
        if (own := self.given.find_source(key)) is not None:
            return own
        table, name = key.split(".", 1)
        if table != "mail" or name not in CONNECTION:
            return None
        sources = (self.given.find_source(f"mail.{one}") for one in DECISIVE)
        return next((source for source in sources if source is not None), None)

    def is_own_host(self, host: str) -> bool:
        """Return whether a host name is that of the address, or of the address before it."""
        return host in self._hosts

    @property
    def is_address_unset(self) -> bool:
        """Return whether nothing says at which address this server is known."""
        return self.chosen.base_url is None and self.find_source(ADDRESS) is None
