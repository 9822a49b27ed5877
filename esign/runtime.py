"""The open tools of a running program, and what a command has of them.

Both are passed as an argument and never imported as a value.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from esign.core.people.usage import RequestTally
from esign.system.loop_watch import LoopWatch
from esign.system.measures import Measures
from esign.system.outside_folder import OutsideFolders
from esign.system.passwords import Passwords
from esign.system.supervision import Supervisor

if (
    TYPE_CHECKING
):  # a command that changes one row of the database starts without what sends mail and reads PDFs
    from collections.abc import Mapping

    from esign.authority import Keyring
    from esign.config import Config, EffectiveSettings
    from esign.core.actor import Mode
    from esign.core.document.document import File
    from esign.core.instant import Instant
    from esign.core.seal_credential import Credential
    from esign.https import HttpsCertificates
    from esign.mail.smtp import Mailer
    from esign.net import DirectClient, OutboundClient
    from esign.pdf.worker.workers import Workers
    from esign.store.engine.database import Database
    from esign.system.bell import Bell
    from esign.system.clock import GuardedClock
    from esign.system.disk import DiskRoom
    from esign.system.file_cache import FileCache
    from esign.system.vault import Vault
    from esign.tsa import TimeStampClient

MOST_AHEAD = 16  # new files whose first pages wait to be drawn


@dataclass(frozen=True, slots=True)
class Installation:
    """What a command of the command line works on, beside a running program or without one, and its time.

    `config` is what is in force, with what owners set in the browser.
    """

    config: Config
    db: Database
    vault: Vault
    now: Instant


@dataclass(frozen=True, slots=True)
class Runtime:
    """The tools of one run of the program.

    `boot` identifies this run: leases that another run left are released at the start. `bell` wakes the workers
    after a commit. `settings` says what is in force now, with what owners set in the browser. `credentials`
    belong to the keyring, which replaces them in place. `trusted` holds the roots of other authorities that the
    configuration names (DER). `https` is None where the program speaks plain http.
    `loops` keeps the background loops running; `loop_watch` notices when the event loop itself stands still.
    `direct` asks addresses of the settings, which may be private. `unknown_proxies` are addresses that forward
    requests although the settings do not trust them.
    """

    settings: EffectiveSettings
    clock: GuardedClock
    db: Database
    vault: Vault
    pdf: Workers
    mail: Mailer
    http: OutboundClient
    direct: DirectClient
    tsa: TimeStampClient
    keyring: Keyring
    credentials: Mapping[Mode, Credential]
    bell: Bell
    boot: str
    room: DiskRoom
    pictures: FileCache
    trusted: tuple[bytes, ...] = ()
    https: HttpsCertificates | None = None
    requests: RequestTally = field(default_factory=RequestTally)
    passwords: Passwords = field(default_factory=Passwords)
    measures: Measures = field(default_factory=Measures)
    loops: Supervisor = field(default_factory=Supervisor)
    loop_watch: LoopWatch = field(default_factory=LoopWatch)
    folders: OutsideFolders = field(default_factory=OutsideFolders)
    unknown_proxies: set[str] = field(default_factory=set)
    new_files: deque[tuple[str, File]] = field(default_factory=lambda: deque(maxlen=MOST_AHEAD))

    @property
    def config(self) -> Config:
        """Return the configuration as it is in force now. It can change between two calls, never within one value."""
        return self.settings.config

    @property
    def installation(self) -> Installation:
        """Return what a command has, as of now, for the actions that commands share."""
        return Installation(self.config, self.db, self.vault, self.clock.now())

    def draw_ahead(self, organisation_id: str, file: File) -> None:
        """Let the first pages of a file be drawn when there is nothing else to do; the oldest wish is dropped."""
        self.new_files.append((organisation_id, file))

    @property
    def roots(self) -> tuple[bytes, ...]:
        """Return the certificates that vouch for this installation's seals (DER).

        The tuple grows when a seal is replaced.
        """
        return self.keyring.authority.roots

    @property
    def own(self) -> tuple[bytes, ...]:
        """Return the certificates that identify only this installation's seals (DER)."""
        return self.keyring.authority.own
