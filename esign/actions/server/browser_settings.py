"""Reads and changes what owners set in the browser: the address of the server, and its mail server.

They are stored as one ciphertext, because the password of the mail server is among them.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.mail import mail_breaker
from esign.actions.server.server_owners import may_change_server
from esign.config import (
    NOTHING_CHOSEN,
    BrowserSettings,
    Config,
    EffectiveSettings,
    UnfitSettings,
    decode_browser_settings,
)
from esign.core.actor import Author
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.server import installation
from esign.system.vault import DamagedCiphertext, Vault

log = logging.getLogger("esign")

PURPOSE = "settings"
NAMES = {"host": "mailServer", "port": "mailPort", "security": "mailSecurity"}
PERSONAL = {"username": "mailUsername", "sender": "mailSender"}


async def load(db: Reader, vault: Vault, config: Config) -> EffectiveSettings:
    """Return the settings in force at the start of the program or of a command.

    What does not go together with the file and the environment any more is not used, and the log says so.
    """
    try:
        chosen = await read(db, vault)
    except DamagedCiphertext:
        log.error("the settings made in the browser cannot be decrypted and are not used; make them again")
        chosen = NOTHING_CHOSEN
    for offered in (chosen, replace(chosen, mail={}), replace(chosen, base_url=None), NOTHING_CHOSEN):
        try:
            return EffectiveSettings(config, offered)
        except UnfitSettings as error:
            log.error("not all that was set in the browser is used: %s", error)
    raise AssertionError("a configuration goes together with no choices")


async def read(reader: Reader, vault: Vault) -> BrowserSettings:
    """Return what owners set in the browser. Raise DamagedCiphertext."""
    found = await installation.find(reader, installation.SETTINGS)
    return decode_browser_settings(vault.decrypt(PURPOSE, found)) if found else NOTHING_CHOSEN


async def require_may_change(runtime: Runtime, organisation: Organisation) -> None:
    """Raise `insufficient_scope` for the owners of any organisation but the first."""
    if not await may_change_server(runtime.db, organisation):
        sentence = "The owners of the organisation that was set up first change this server."
        raise Problem("insufficient_scope", sentence)


async def save_address(runtime: Runtime, author: Author, base_url: str) -> None:
    """Let links begin with this address from now on. The server still answers at the one before.

    The caller has checked who asks. Raise `UnfitSettings`.
    """

    def choose(before: BrowserSettings) -> BrowserSettings:
        present = runtime.config.server.base_url
        if present == base_url:
            return before
        return replace(before, base_url=base_url, earlier_url=present)

    await _change(runtime, author, choose)


async def save_mail(runtime: Runtime, author: Author, mail: Mapping[str, str | int]) -> None:
    """Send mails by this server from now on, or keep them if `mail` is empty. Raise `UnfitSettings`.

    `mail` has keys of [mail] as the file writes them. The caller has checked who asks.
    """
    await _change(runtime, author, lambda before: replace(before, mail=dict(mail)))


async def _change(
    runtime: Runtime, author: Author, choose: Callable[[BrowserSettings], BrowserSettings]
) -> None:
    """Store other choices and enter the change in the log, then let them be in force. Raise `UnfitSettings`."""
    settings, vault, now = runtime.settings, runtime.vault, runtime.clock.now()

    async def write(tx: Transaction) -> BrowserSettings:
        before = await read(tx, vault)
        after = choose(before)
        was, will = settings.config, settings.combine(after)
        if after != before:
            await installation.save(tx, installation.SETTINGS, vault.encrypt(PURPOSE, after.encode()))
        if (act := describe_change(was, will, now)) is not None:
            await audit_log.log_of_installation(tx, vault, author, act)
        if was.mail != will.mail:
            await mail_breaker.start_over(tx, now)
        return after

    settings.replace(await runtime.db.write(write))
    runtime.bell.ring()  # a worker that was woken by the commit may have looked at the settings before


def describe_change(was: Config, will: Config, now: Instant) -> AdminAct | None:
    """Return the log entry of a change, or None if nothing changed. It says that a password changed, never which."""
    changes: dict[str, object] = {}
    detail: dict[str, object] = {}
    if was.server.base_url != will.server.base_url:
        changes["address"] = {"from": was.server.base_url, "to": will.server.base_url}
    for name, label in (*NAMES.items(), *PERSONAL.items()):
        before, after = getattr(was.mail, name), getattr(will.mail, name)
        if before != after:
            (detail if name in PERSONAL else changes)[label] = {"from": before, "to": after}
    data: dict[str, object] = {"changes": changes}
    if was.mail.secret != will.mail.secret:
        data["passwordChanged"] = True
    if not changes and not detail and len(data) == 1:
        return None
    return AdminAct("server.changed", now, data, {"changes": detail} if detail else None)
