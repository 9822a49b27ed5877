"""`esign verify`: verify one file in a limited worker, and print the report as words or as JSON."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from esign import authority
from esign.actions.verification.as_sealed import verify_as_sealed
from esign.config import Config
from esign.core.errors import Problem
from esign.net import OutboundClient, TargetRules, revocation
from esign.pdf.report import (
    DocumentTimestamp,
    Result,
    RevocationSource,
    Signature,
    SignerRecord,
    Timestamp,
    Verification,
    VerificationCase,
)
from esign.pdf.verdict_sentences import COVERAGE, REVOCATION, is_level_missed
from esign.pdf.worker.workers import WorkerFailed, Workers
from esign.system.clock import Clock, SystemClock

Verifier = Callable[[bytes], Awaitable[Verification]]


class UnreadableInput(Exception):
    """The file, or a certificate to trust, cannot be read."""


async def verify_file(
    config: Config, pdf: Path, trust: tuple[Path, ...], online: bool = False
) -> Verification:
    """Return the report on a file. Raises `UnreadableInput`."""
    content = read_input(pdf)
    async with open_verifier(config, trust, online) as verify:
        try:
            return await verify(content)
        except Problem as problem:
            raise UnreadableInput(f"{pdf}: {problem.message}") from None


@asynccontextmanager
async def open_verifier(
    config: Config,
    trust: tuple[Path, ...] = (),
    online: bool = False,
    *,
    as_sealed: bool = False,
    clock: Clock | None = None,
) -> AsyncIterator[Verifier]:
    """Open a function that verifies files, with `as_sealed` those of this installation as `verify_as_sealed` says.

    It trusts this installation's authority if there is one, the roots of the configuration and those given.
    Raises `UnreadableInput`.
    """
    place, given = config.storage.data_dir, authority.find_configured_seal(config.seal)
    roots = (*read_trusted_roots(config, trust), *authority.find_known_roots(place, given))
    own = authority.find_known_own(place, given)
    workers, clock = Workers(), clock or SystemClock()
    rules = TargetRules(config.webhooks.allow_hosts, config.webhooks.allow_private)
    http = OutboundClient(lambda: rules, clock)

    async def verify(content: bytes) -> Verification:
        now = clock.now()
        fetched = await fetch_revocation(http, workers, content, roots) if online else None
        case = VerificationCase(roots, now, own, fetched)
        if as_sealed:
            return await verify_as_sealed(lambda case: workers.verify(content, case), case)
        return await workers.verify(content, case)

    try:
        yield verify
    finally:
        await workers.close()
        await http.close()


async def fetch_revocation(
    http: OutboundClient, workers: Workers, content: bytes, roots: tuple[bytes, ...]
) -> tuple[bytes, ...]:
    """Return what the issuers of the certificates say about revocation; nothing for a file that no worker can open."""
    try:
        found = await workers.ask("sources", list[RevocationSource], content, roots, SystemClock().now())
    except WorkerFailed:
        return ()
    return tuple(await revocation.fetch_answers(http, found))


def read_trusted_roots(config: Config, given: tuple[Path, ...]) -> tuple[bytes, ...]:
    try:
        return authority.read_trusted_roots((*config.seal.trust, *given))
    except authority.AuthorityError as error:
        raise UnreadableInput(str(error).rstrip(".")) from None


def read_input(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{path} cannot be read: {error.strerror}") from None


LABELS: Mapping[Result, str] = {
    "valid": "VALID",
    "invalid": "NOT VALID",
    "indeterminate": "NOT CONFIRMED",
    "unsigned": "NO SIGNATURE",
}
IN_THE_FILE = {
    True: "    the whole trail is in the file as audit.json and matches that hash",
    False: "    the trail itself is not in the file",
}


def write_headline(verification: Verification) -> str:
    """Return the verdict in one line."""
    return f"{LABELS[verification['result']]}: {verification['summary']}"


def write_report(verification: Verification, as_json: bool) -> str:
    if as_json:
        return json.dumps(verification, indent=2, ensure_ascii=False)
    lines = [
        write_headline(verification),
        f"  SHA-256 {verification['sha256']}, {verification['pageCount']} pages",
    ]
    for signature in verification["signatures"]:
        lines += describe_signature(signature)
    lines += map(describe_document_timestamp, verification["documentTimestamps"])
    lines += map(describe_signer, verification["signers"])
    if head := verification["audit"]:
        lines += [
            f"  audit trail of {head['documentId']} up to entry {head['entries']}, hash {head['hash']}",
            IN_THE_FILE[head["embedded"]],
            "    compare it with the trail on the server that sealed it: esign verify-audit FILE",
        ]
    return "\n".join(map(replace_unprintable, lines))


def replace_unprintable(line: str) -> str:
    """Return the line without control characters: names in a file could otherwise fake a verdict on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


def describe_signature(signature: Signature) -> list[str]:
    certificate, stamp = signature["certificate"], signature["timestamp"]
    where = signature["fieldName"] or "a signature"
    if certificate is None:  # the signature cannot be read
        return [f"  {where}: {reason}" for reason in signature["reasons"]]
    return [
        f"  {where}: signed by {signature['signerName']}, {signature['signedAt'] or 'time unknown'}",
        *([f"    time stamp {describe_timestamp(stamp)}"] if stamp else []),
        f"    intact: {write_yes_or_no(signature['intact'])}, trusted: {write_yes_or_no(signature['trusted'])},"
        f" revoked: {REVOCATION[signature['revocation']]}, covers: {COVERAGE[signature['coverage']]},"
        f" level: {describe_level(signature)}",
        f"    certificate {certificate['sha256']}, issued by {certificate['issuer']}",
        *(f"    {reason}" for reason in signature["reasons"]),
    ]


def describe_level(signature: Signature) -> str:
    reached = signature["level"] or "unknown"
    asked = f" ({signature['levelAsked']} was requested, but it has no time stamp)"
    return reached + (asked if is_level_missed(signature) else "")


def describe_signer(signer: SignerRecord) -> str:
    return f"  {signer['act']} by {signer['name'] or 'a person whose name was erased'}, {signer['at']}"


def describe_document_timestamp(stamp: DocumentTimestamp) -> str:
    return f"  {stamp['fieldName']}: time stamp over the whole file, {describe_timestamp(stamp)}"


def describe_timestamp(stamp: Timestamp | DocumentTimestamp) -> str:
    if not stamp["valid"]:
        return "damaged, so it does not confirm the time"
    known = "trusted" if stamp["trusted"] else "an authority not trusted here"
    return f"{stamp['time']}, by {stamp['authority']} ({known})"


def write_yes_or_no(fact: bool) -> str:
    return "yes" if fact else "no"
