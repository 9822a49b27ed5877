"""`esign verify`: verify one file in a limited worker, and print the report as words or as JSON."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from esign import authority
from esign.config import Config
from esign.core.errors import Problem
from esign.net import Outbound, Rules, revocation
from esign.pdf.report import DocumentTimestamp, Signature, Source, Timestamp, Verification, is_missed
from esign.pdf.worker.workers import WorkerFailed, Workers
from esign.system.clock import SystemClock

Judge = Callable[[bytes], Awaitable[Verification]]


class Unreadable(Exception):
    """The file, or a certificate to trust, cannot be read."""


async def verify_file(
    config: Config, pdf: Path, trust: tuple[Path, ...], online: bool = False
) -> Verification:
    """Return the report on a file. Raises Unreadable."""
    content = read(pdf)
    async with judging(config, trust, online) as judge:
        try:
            return await judge(content)
        except Problem as problem:
            raise Unreadable(f"{pdf}: {problem.message}") from None


@asynccontextmanager
async def judging(config: Config, trust: tuple[Path, ...] = (), online: bool = False) -> AsyncIterator[Judge]:
    """Open a function that verifies files.

    It trusts this installation's authority if there is one, the roots of the configuration and those given.
    Raises Unreadable.
    """
    place, given = config.storage.data_dir, authority.given(config.seal)
    roots = (*trusted(config, trust), *authority.known_roots(place, given))
    own = authority.known_own(place, given)
    workers, clock = Workers(), SystemClock()
    hosts = config.webhooks
    http = Outbound(Rules(hosts.allow_hosts, hosts.allow_private), clock)

    async def judge(content: bytes) -> Verification:
        now = clock.now()
        fetched = await fetch(http, workers, content, roots) if online else None
        return await workers.verify(content, roots, now, own, fetched)

    try:
        yield judge
    finally:
        await workers.close()
        await http.close()


async def fetch(http: Outbound, workers: Workers, content: bytes, roots: tuple[bytes, ...]) -> list[bytes]:
    """Return what the issuers of the certificates say about revocation; nothing for a file that no worker can open."""
    try:
        found = await workers.ask("sources", list[Source], content, roots, SystemClock().now())
    except WorkerFailed:
        return []
    return await revocation.ask(http, found)


def trusted(config: Config, given: tuple[Path, ...]) -> tuple[bytes, ...]:
    try:
        return authority.trusted_roots((*config.seal.trust, *given))
    except authority.AuthorityError as error:
        raise Unreadable(str(error).rstrip(".")) from None


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None


WORDS = {
    "invalid": "NOT VALID: do not rely on this file.",
    "indeterminate": "NOT CERTAIN: the seal cannot be judged.",
    "unsigned": "NO SIGNATURE: nothing in this file can be checked.",
}
REVOKED = {"not_revoked": "no", "revoked": "yes", "not_checked": "not checked"}
IN_THE_FILE = {
    True: "    the whole trail is in the file as audit.json, and recomputes up to that hash",
    False: "    the trail itself is not in the file",
}


def headline(verification: Verification) -> str:
    """Return the verdict in one line. A valid file with additions is not called unchanged."""
    summary = verification["summary"]
    return WORDS.get(verification["result"], f"VALID: {summary[0].lower()}{summary[1:]}")


def show(verification: Verification, as_json: bool) -> str:
    if as_json:
        return json.dumps(verification, indent=2, ensure_ascii=False)
    lines = [
        headline(verification),
        f"  SHA-256 {verification['sha256']}, {verification['pageCount']} pages",
    ]
    for signature in verification["signatures"]:
        lines += of_signature(signature)
    lines += map(of_timestamp, verification["documentTimestamps"])
    if head := verification["audit"]:
        lines += [
            f"  audit trail of {head['documentId']} up to entry {head['entries']}, its hash {head['hash']}",
            IN_THE_FILE[head["embedded"]],
            "    compare it with the trail kept where it was sealed: esign verify-audit FILE",
        ]
    return "\n".join(map(plain, lines))


def plain(line: str) -> str:
    """Return the line without control characters: names in a file could otherwise fake a verdict on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


def of_signature(signature: Signature) -> list[str]:
    certificate, stamp = signature["certificate"], signature["timestamp"]
    where = signature["fieldName"] or "a signature"
    if certificate is None:  # the signature cannot be read
        return [f"  {where}: {reason}" for reason in signature["reasons"]]
    return [
        f"  {where}: signed by {signature['signerName']}, {signature['signedAt'] or 'time unknown'}",
        *([f"    time stamp {told(stamp)}"] if stamp else []),
        f"    intact: {yes(signature['intact'])}, trusted: {yes(signature['trusted'])},"
        f" revoked: {REVOKED[signature['revocation']]}, covers: {signature['coverage'].replace('_', ' ')},"
        f" level: {level_of(signature)}",
        f"    certificate {certificate['sha256']}, issued by {certificate['issuer']}",
        *(f"    {reason}" for reason in signature["reasons"]),
    ]


def level_of(signature: Signature) -> str:
    reached = signature["level"] or "unknown"
    asked = f" ({signature['levelAsked']} was asked for, but it has no time stamp)"
    return reached + (asked if is_missed(signature) else "")


def of_timestamp(stamp: DocumentTimestamp) -> str:
    return f"  {stamp['fieldName']}: time stamp over the whole file, {told(stamp)}"


def told(stamp: Timestamp | DocumentTimestamp) -> str:
    if not stamp["valid"]:
        return "damaged: it proves no time"
    known = "trusted" if stamp["trusted"] else "an authority not trusted here"
    return f"{stamp['time']}, by {stamp['authority']} ({known})"


def yes(fact: bool) -> str:
    return "yes" if fact else "no"
