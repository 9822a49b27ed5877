"""Checks what esign relies on outside: the mail server, the own address, time-stamp authorities and the time.

Only places that the configuration names are asked. What cannot be tried from here is `not_checked`.
"""

import ssl
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from esign.actions.mail.mailer import make_smtp_server
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.authority import AuthorityError, find_configured_seal, read_seal_standing
from esign.config import Config
from esign.core.instant import DAY, SECOND, Instant, Millis, rfc3339
from esign.mail.failure import MailFailure
from esign.net import DirectClient, RequestFailed
from esign.net.time_limits import TimeLimits
from esign.net.tls_probe import probe_address
from esign.store.server.clock_marks import ClockRecord
from esign.system.clock import Clock
from esign.system.entropy import make_nonce
from esign.system.time_sync import is_clock_synchronised
from esign.tsa import NoTimeStamp, TimeStampClient

PATIENCE = 10.0  # seconds for each step
SEAL_DAYS, HTTPS_DAYS = 30, 14  # before the end of a certificate, when somebody has to act
OFF, FAR_OFF = 5 * SECOND, 60 * SECOND


def check_seal_certificates(config: Config, now: Instant) -> CheckLine:
    """Check that the certificates can seal, and for how long."""
    name = "certificate"
    try:
        found = read_seal_standing(config.storage.data_dir, find_configured_seal(config.seal), now)
    except (AuthorityError, OSError) as error:
        return CheckLine(name, CheckState.WRONG, "the seal cannot be read", None, [str(error)])
    if not found:
        return CheckLine(name, CheckState.NOT_CHECKED, "the first start makes the certificates that seal")
    problems = [f"{each.mode}: {problem}" for each in found for problem in each.problems]
    if problems:
        words = "documents cannot be sealed with a certificate"
        return CheckLine(name, CheckState.WRONG, words, "Seals wait until then: docs/seal.md.", problems)
    ends = min(each.ends_at for each in found if each.ends_at is not None)
    live = found[0]
    words = f"documents are sealed as {live.subject}, until {rfc3339(live.ends_at or ends)[:10]}"
    notices = [f"{each.mode}: {notice}" for each in found for notice in each.notices]
    if ends < now + SEAL_DAYS * DAY:
        notices.append(
            f"a certificate ends on {rfc3339(ends)[:10]}; one made here is renewed while esign runs"
        )
    if notices:
        return CheckLine(name, CheckState.WARNING, words, "See docs/seal.md.", notices)
    return CheckLine(name, CheckState.OK, words)


async def check_time_stamps(config: Config, clock: Clock) -> CheckLine:
    """Ask each time-stamp authority for a time stamp over random bytes."""
    name, remotes = "time_stamps", config.seal.tsa_urls
    if not remotes or config.seal.level == "B-B":
        return CheckLine(name, CheckState.NOT_CHECKED, 'seals get no time stamps: seal.level is "B-B"')
    silent, first = [], None
    http = DirectClient()
    try:
        for remote in remotes:
            try:
                client = TimeStampClient((remote,), http, clock)
                stamp, *_ = await client.stamp_signatures([make_nonce().to_bytes(16)])
                first = first or stamp.authority
            except NoTimeStamp as failure:
                silent.append(failure.reason)
    finally:
        await http.close()
    if not silent:
        return CheckLine(name, CheckState.OK, f"each of {len(remotes)} time-stamp authorities answers")
    state = CheckState.WRONG if first is None else CheckState.WARNING
    remedy = "See docs/timestamps.md; seals wait, or are made without a time stamp, as seal.tsa_outage says."
    return CheckLine(
        name, state, f"{len(silent)} of {len(remotes)} authorities do not answer", remedy, silent
    )


async def check_mail(config: Config, tls: ssl.SSLContext | None = None) -> CheckLine:
    """Connect to the mail server and log in. No mail is sent. `tls` replaces the system's trust store."""
    if config.mail.host is None:
        words = "no mail server is set, so mails stay on this server"
        return CheckLine("mail", CheckState.NOT_CHECKED, words)
    server = make_smtp_server(config.mail, config.public_host, keep=0.0, step=PATIENCE, trust=tls)
    where = f"{config.mail.host}, port {config.mail.port}"
    try:
        await server.log_in()
    except MailFailure as failure:
        words, remedy = f"the mail server {where} is of no use: {failure.reason}", "See docs/mail.md."
        return CheckLine("mail", CheckState.WRONG, words, remedy)
    finally:
        await server.close()
    login = "takes the login" if config.mail.username else "takes connections"
    return CheckLine("mail", CheckState.OK, f"the mail server {where} {login}")


async def check_address(config: Config, now: Instant, tls: ssl.SSLContext | None = None) -> CheckLine:
    """Look the own address up, and look at the certificate that is shown there."""
    url = config.server.base_url
    if config.is_loopback:
        words = f"{url} can only be reached from this machine"
        return CheckLine("address", CheckState.NOT_CHECKED, words)
    found = await probe_address(url, tls=tls)
    if found.wrong is not None:
        remedy = "See docs/https.md: links in mails do not open until then."
        return CheckLine("address", CheckState.WRONG, f"{url}: {found.wrong}", remedy)
    if found.unknown is not None:
        words = f"{found.unknown}; other networks may reach it"
        return CheckLine("address", CheckState.NOT_CHECKED, words)
    words = f"{config.public_host} is {', '.join(found.addresses)}"
    if found.certificate_ends is None:
        return CheckLine("address", CheckState.OK, words)
    days = (found.certificate_ends - now) // DAY
    words = f"{words}, and its certificate is valid for {days} days"
    if days < HTTPS_DAYS:
        return CheckLine("address", CheckState.WARNING, words, "Renew it before it ends: docs/https.md.")
    return CheckLine("address", CheckState.OK, words)


async def check_clock(
    config: Config, clock: Clock, record: ClockRecord | None, tls: ssl.SSLContext | None = None
) -> CheckLine:
    """Compare the clock with the Date that configured servers answer with, and ask the kernel whether it is kept."""
    if record is not None and record.doubt_since is not None:
        words = f"the clock jumped on {rfc3339(record.doubt_since)}, and nothing expires until that is sure"
        remedy = "Set the clock right, or confirm it with esign clock confirm: docs/clock.md."
        return CheckLine("clock", CheckState.WARNING, words, remedy)
    offsets = {host: offset async for host, offset in read_offsets(config, clock, tls)}
    if offsets:
        host, offset = max(offsets.items(), key=lambda one: abs(one[1]))
        words = f"the clock is {abs(offset) / 1000:.0f} s {'behind' if offset > 0 else 'ahead of'} {host}"
        remedy = "Let NTP keep the clock of this machine: docs/clock.md."
        if abs(offset) > FAR_OFF:
            return CheckLine("clock", CheckState.WRONG, words, remedy)
        if abs(offset) > OFF:
            return CheckLine("clock", CheckState.WARNING, words, remedy)
        return CheckLine("clock", CheckState.OK, f"the clock agrees with {', '.join(sorted(offsets))}")
    kept = is_clock_synchronised()
    if kept:
        return CheckLine("clock", CheckState.OK, "the system says that its clock is kept by NTP")
    if kept is None:
        words = "no configured server tells the time, and the system does not say whether its clock is kept"
        return CheckLine("clock", CheckState.NOT_CHECKED, words)
    words = "the system says that nothing keeps its clock right, and no configured server tells the time"
    return CheckLine("clock", CheckState.WARNING, words, "Let NTP keep it: docs/clock.md.")


async def read_offsets(
    config: Config, clock: Clock, tls: ssl.SSLContext | None
) -> AsyncIterator[tuple[str, Millis]]:
    """Yield (host, how far its clock is ahead of ours) of each configured server that says the time.

    A `Date` has whole seconds, and the answer takes a moment: half of either is left out.
    """
    urls = [remote.url for remote in config.seal.tsa_urls]
    if config.server.https == "auto":
        urls.append(config.server.acme_directory)
    http = DirectClient(tls=tls)
    try:
        for url in urls:
            before = clock.now()
            try:
                date = await http.read_date(url, TimeLimits(PATIENCE, PATIENCE))
            except RequestFailed:
                continue
            if date is not None:
                yield urlsplit(url).hostname or url, date + SECOND // 2 - (before + clock.now()) // 2
    finally:
        await http.close()
