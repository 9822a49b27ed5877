"""The certificate that this server shows: taken from files or ordered by itself, checked, and replaced in time."""

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parseaddr
from pathlib import Path
from urllib.parse import urlsplit

from esign.config import ServerSettings
from esign.core.instant import DAY, Instant
from esign.core.sentence import say
from esign.https import renewal_times
from esign.https.acme_order import AcmeAuthority, AcmeOrder, OrderFailed, OrderStopped, make_key
from esign.https.https_certificate import (
    HttpsCertificate,
    HttpsProblem,
    UnfitCertificate,
    format_day,
    read_pair,
    read_pem_file,
)
from esign.https.https_folder import HttpsFolder, OrderRecord
from esign.https.order_problems import explain_failure, find_meaning
from esign.https.present_context import PresentContext
from esign.system.clock import SystemClock
from esign.system.system_lookup import SystemLookup

log = logging.getLogger("esign.https")

Lookup = Callable[[str], Awaitable[Sequence[str]]]

ENDING = "The certificate in {file} ends on {day}. Put a new one there; esign takes it up by itself."
SOON = 14 * DAY
NO_SUCH_NAME = (socket.EAI_NONAME, socket.EAI_NODATA)


@dataclass(frozen=True, slots=True)
class HttpsState:
    """How HTTPS is: the certificate that is shown, and what is wrong. `renews_at` is None where files are used.

    `failed_since`, `last_at` and `next_at` are set while orders fail. A `problem` beside a valid certificate leaves
    the server as it is, for the time being.
    """

    mode: str
    certificate: HttpsCertificate | None
    problem: HttpsProblem | None
    renews_at: Instant | None = None
    failed_since: Instant | None = None
    last_at: Instant | None = None
    next_at: Instant | None = None

    def is_valid(self, now: Instant) -> bool:
        """Return whether there is a certificate that has not expired."""
        return self.certificate is not None and now < self.certificate.ends_at

    def may_hasten(self, now: Instant) -> bool:
        """Return whether somebody may ask for an order now: one has failed, a minute ago or earlier."""
        if self.last_at is None or self.next_at is None:
            return False
        return now < self.next_at and now - self.last_at >= renewal_times.BY_HAND

    def needs_attention(self, now: Instant) -> bool:
        """Return whether a person should look at it: a renewal that fails for a day mends itself as a rule."""
        if self.problem is None or self.failed_since is None or self.certificate is None:
            return self.problem is not None
        return now - self.failed_since >= DAY or self.certificate.ends_at - now < SOON


class HttpsCertificates:
    """What a running program with HTTPS has. Call `refresh` again and again, and `close` at the end.

    `proofs` is what port 80 answers to an authority, by token. `tls` is the context of the listener.
    """

    def __init__(
        self, settings: ServerSettings, data_dir: Path, now: Instant, *, lookup: Lookup | None = None
    ) -> None:
        """Load the certificate. Raise `UnfitCertificate` if files are used and hold no certificate with its key."""
        self._settings = settings
        self._host = urlsplit(settings.base_url).hostname or ""
        self._folder = HttpsFolder(data_dir)
        self._context = PresentContext(self._folder.path)
        self._lookup = lookup or SystemLookup()
        self._certificate: HttpsCertificate | None = None
        self._problem: HttpsProblem | None = None
        self._seen: tuple[object, ...] = ()
        self._loaded: tuple[object, ...] = ()
        self._is_loaded_shown = True  # whether the files hold what is shown
        self._stop = threading.Event()
        self._record = OrderRecord()
        self.proofs: dict[str, bytes] = {}
        if settings.https == "files":
            self._seen = self._loaded = self._look_at_files()
            self._take_up(self._read_files(), str(settings.https_certificate))
        else:
            self._begin_orders(now)
        self._note(self._find_present_problem(now))

    @property
    def tls(self) -> ssl.SSLContext:
        return self._context.listener

    def close(self) -> None:
        """End an order that runs."""
        self._stop.set()

    def read_state(self) -> HttpsState:
        """Return how HTTPS is now."""
        record, held = self._record, self._certificate
        automatic = self._settings.https == "auto"
        failing = automatic and bool(record.failures)
        renews_at = renewal_times.find_renewal_time(held.begins_at, held.ends_at) if held else None
        return HttpsState(
            mode=self._settings.https,
            certificate=held,
            problem=self._problem,
            renews_at=renews_at if automatic else None,
            failed_since=record.failed_since if failing else None,
            last_at=record.last_at if failing else None,
            next_at=record.next_at if failing else None,
        )

    def hasten_order(self, now: Instant) -> None:
        """Place the next order at the next `refresh`, if it may be hastened: a person says that the cause is mended."""
        if self.read_state().may_hasten(now):
            self._record = replace(self._record, next_at=now)

    async def refresh(self, now: Instant) -> bool:
        """Take up changed files, or order a certificate that is due. Return whether another one is shown now."""
        before = self._certificate
        if self._settings.https == "files":
            await asyncio.to_thread(self._refresh_files, now)
        else:
            await self._refresh_order(now)
        return self._certificate is not before

    def _take_up(self, certificate: HttpsCertificate, file: str) -> None:
        """Show this certificate to new connections from now on. Raise `UnfitCertificate`."""
        try:
            self._context.replace(certificate, file)
        except OSError as error:
            raise UnfitCertificate(self._folder.explain_unwritten(self._folder.path, error)) from error
        self._certificate = certificate
        log.info(
            "https: the certificate for %s by %s is in use; it ends on %s",
            ", ".join(certificate.names),
            certificate.issuer,
            format_day(certificate.ends_at),
        )

    def _note(self, problem: HttpsProblem | None) -> None:
        """Remember what is wrong, or that nothing is. What is new goes to the log."""
        if problem is not None and problem != self._problem:
            said = f" ({problem.detail})" if problem.detail else ""
            log.error("https: %s%s", problem.sentence, said)
        elif problem is None and self._problem is not None:
            log.warning("https: all is well again")
        self._problem = problem

    def _find_present_problem(self, now: Instant) -> HttpsProblem | None:
        """Return what is wrong with the certificate that is shown, or will be soon."""
        held, file = self._certificate, str(self._settings.https_certificate or self._folder.pair)
        if held is None:
            return None
        if (problem := held.find_problem(self._host, now, file)) is not None:
            return problem
        if self._settings.https == "files" and held.ends_at - now < SOON:
            sentence = say(ENDING, file=file, day=format_day(held.ends_at))
            return HttpsProblem("the certificate ends soon", sentence)
        return None

    # ---------- files ----------

    def _name_files(self) -> tuple[Path, Path]:
        """Return the files of certificate and key."""
        certificate, key = self._settings.https_certificate, self._settings.https_key
        assert certificate is not None and key is not None  # the settings require both
        return certificate, key

    def _look_at_files(self) -> tuple[object, ...]:
        """Return what changes when a file is written, replaced, or made readable."""
        found: list[object] = []
        for path in self._name_files():
            try:
                stat = path.stat()
            except OSError as error:
                found.append(error.errno)
            else:
                found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        return tuple(found)

    def _read_files(self) -> HttpsCertificate:
        certificate, key = self._name_files()
        return read_pair(read_pem_file(certificate), read_pem_file(key), str(certificate), str(key))

    def _refresh_files(self, now: Instant) -> None:
        """Take up files that have changed and are the same at two looks, since two files cannot change at once.

        A certificate that does not hold does not take the place of the present one.
        """
        seen = self._look_at_files()
        if seen != self._seen:
            self._seen = seen
            return
        if seen == self._loaded:
            if self._is_loaded_shown:
                self._note(self._find_present_problem(now))
            return
        self._loaded, self._is_loaded_shown = seen, False
        try:
            found = self._read_files()
            file = str(self._settings.https_certificate)
            if (problem := found.find_problem(self._host, now, file)) is not None:
                raise UnfitCertificate(problem)
            self._take_up(found, file)
        except UnfitCertificate as error:
            self._note(error.problem)
            return
        self._is_loaded_shown = True
        self._note(self._find_present_problem(now))

    # ---------- orders ----------

    def _begin_orders(self, now: Instant) -> None:
        """Load the certificate of an earlier run, if it is for this host, and what is known of failed orders."""
        record = self._folder.read_record(self._settings.acme_directory, self._host)
        self._record = replace(record, next_at=renewal_times.plan_first_order(record.last_at, record.next_at))
        file = str(self._folder.pair)
        try:
            if not (pair := self._folder.read_pair()):
                return
            found = read_pair(pair, pair, file, file)
            if found.is_for(self._host):
                self._take_up(found, file)
        except UnfitCertificate as error:
            log.warning("https: %s A new one is ordered.", error.problem.sentence)

    def _is_order_due(self, now: Instant) -> bool:
        held = self._certificate
        wanted = held is None or now >= renewal_times.find_renewal_time(held.begins_at, held.ends_at)
        return wanted and renewal_times.is_due(now, self._record.next_at)

    async def _refresh_order(self, now: Instant) -> None:
        """Order a certificate if one is due. A failure is remembered, with the time of the next order."""
        if not self._is_order_due(now):
            return
        try:
            await self._order(now)
        except OrderStopped:
            return
        except UnfitCertificate as error:
            self._note_failure(now, error.problem, 0)
        except OrderFailed as failure:
            self._note_failure(now, await self._explain(failure), failure.retry_after)
        else:
            self._note(None)

    async def _explain(self, failure: OrderFailed) -> HttpsProblem:
        """Return what a failed order means, with the addresses that our host has."""
        code, addresses = failure.code, list[str]()
        if find_meaning(code).is_about_address:
            try:
                addresses = list(dict.fromkeys(await self._lookup(self._host)))
            except socket.gaierror as error:
                if error.errno in NO_SUCH_NAME:  # not every authority tells this from a closed port
                    code = "dns"
            except OSError:
                log.debug("https: the addresses of %s are not known here", self._host)
        authority = urlsplit(self._settings.acme_directory).hostname or ""
        return explain_failure(code, failure.detail, self._host, authority, addresses)

    def _note_failure(self, now: Instant, problem: HttpsProblem, wish: int) -> None:
        """Remember a failed order across a restart. `wish` are the seconds for which the authority asked."""
        self._note(problem)
        self._record = self._plan_failure(now, wish)
        self._keep_record()

    def _plan_failure(self, now: Instant, wish: int) -> OrderRecord:
        """Return what is known of orders once this one has failed."""
        record, failures = self._record, self._record.failures + 1
        return replace(
            record,
            failures=failures,
            failed_since=record.failed_since or now,
            last_at=now,
            next_at=renewal_times.plan_next_order(now, failures, wish),
        )

    def _keep_record(self) -> None:
        """Store what is known of orders. On a full disk it stays in memory alone."""
        with suppress(UnfitCertificate):
            self._folder.write_record(self._settings.acme_directory, self._host, self._record)

    async def _order(self, now: Instant) -> None:
        """Order a certificate, store it and show it. Raise `OrderFailed`, `OrderStopped` or `UnfitCertificate`.

        The order is written down before it is placed, as if it had failed: a program that dies on the way does not
        order again and again, and none is placed for a folder that cannot take the certificate.
        """
        settings = self._settings
        self._folder.write_record(settings.acme_directory, self._host, self._plan_failure(now, 0))
        account_key = self._folder.read_account_key()
        if not account_key:
            self._folder.write_account_key(account_key := make_key())
        trust = None if settings.acme_trust is None else str(settings.acme_trust)
        authority = AcmeAuthority(
            settings.acme_directory, parseaddr(settings.acme_email or "")[1] or None, trust
        )
        order = AcmeOrder(
            host=self._host,
            account_key=account_key,
            key=make_key(),
            account=self._record.account,
            proofs=self.proofs,
            read_wall_clock=SystemClock().now,
            stop=self._stop,
        )
        log.info("https: a certificate for %s is ordered from %s", self._host, settings.acme_directory)
        try:
            chain = await run_order(authority, order)
        finally:
            self._record = replace(self._record, account=order.account)
        file = str(self._folder.pair)
        found = read_pair(chain, order.key, file, file)
        self._folder.write_pair(chain, order.key)
        self._take_up(found, file)
        self._record = OrderRecord(account=order.account)
        self._keep_record()


async def run_order(authority: AcmeAuthority, order: AcmeOrder) -> bytes:
    """Run an order in a thread that does not hold up the end of the program, and return the certificate."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def end(chain: bytes, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(chain)
        else:
            answer.set_exception(error)

    def work() -> None:
        chain, failure = b"", None
        try:
            from esign.https.order_certificate import order_certificate

            chain = order_certificate(authority, order)
        except BaseException as error:  # it belongs to the task that waits
            failure = error
        with suppress(RuntimeError):  # the program has ended meanwhile
            loop.call_soon_threadsafe(end, chain, failure)

    threading.Thread(target=work, name="certificate order", daemon=True).start()
    return await answer
