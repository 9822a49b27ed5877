"""`esign verify`: one file checked in a limited worker, told as words or as JSON."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from esign import authority
from esign.clock import SystemClock
from esign.config import Config
from esign.core.errors import Problem
from esign.pdf.verification import Signature, Verification
from esign.pdf.workers import Workers

Judge = Callable[[bytes], Awaitable[Verification]]


class Unreadable(Exception):
    """The file, or a certificate to trust, cannot be read."""


async def verify_file(config: Config, pdf: Path, trust: tuple[Path, ...]) -> Verification:
    """Raises Unreadable."""
    content = read(pdf)
    async with judging(config, trust) as judge:
        try:
            return await judge(content)
        except Problem as problem:
            raise Unreadable(f"{pdf}: {problem.message}") from None


@asynccontextmanager
async def judging(config: Config, trust: tuple[Path, ...] = ()) -> AsyncIterator[Judge]:
    """Trusts this installation's authority, as far as there is one, and the given roots; raises Unreadable."""
    roots = [root for path in trust for root in certificates(path)]
    own = authority.known_roots(config.storage.data_dir, authority.given(config.seal))
    workers = Workers()
    try:
        yield lambda content: workers.verify(content, roots, SystemClock().now(), own)
    finally:
        await workers.close()


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None


def certificates(path: Path) -> list[bytes]:
    """Every certificate of a PEM or DER file, as DER."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    content = read(path)
    try:
        if b"-----BEGIN CERTIFICATE-----" in content:
            found = x509.load_pem_x509_certificates(content)
        else:
            found = [x509.load_der_x509_certificate(content)]
    except ValueError:
        raise Unreadable(f"{path} is not a certificate; give a root certificate as PEM or DER") from None
    return [certificate.public_bytes(Encoding.DER) for certificate in found]


WORDS = {
    "valid": "VALID: the file is unchanged since it was sealed.",
    "invalid": "NOT VALID: do not rely on this file.",
    "indeterminate": "NOT CERTAIN: the seal cannot be judged.",
    "unsigned": "NO SIGNATURE: nothing in this file can be checked.",
}


IN_THE_FILE = {
    True: "    the whole trail is in the file as audit.json, and recomputes up to that hash",
    False: "    the trail itself is not in the file",
}


def show(verification: Verification, as_json: bool) -> str:
    if as_json:
        return json.dumps(verification, indent=2, ensure_ascii=False)
    lines = [
        WORDS[verification["result"]],
        f"  SHA-256 {verification['sha256']}, {verification['pageCount']} pages",
    ]
    for signature in verification["signatures"]:
        lines += of_signature(signature)
    if head := verification["audit"]:
        lines += [
            f"  audit trail of {head['documentId']} up to entry {head['entries']}, its hash {head['hash']}",
            IN_THE_FILE[head["embedded"]],
            "    compare it with the trail kept where it was sealed: esign verify-audit FILE",
        ]
    return "\n".join(lines)


def of_signature(signature: Signature) -> list[str]:
    certificate = signature["certificate"]
    return [
        f"  {signature['fieldName']}: signed by {signature['signerName']}, {signature['signedAt'] or 'time unknown'}",
        f"    intact: {yes(signature['intact'])}, trusted: {yes(signature['trusted'])},"
        f" covers: {signature['coverage'].replace('_', ' ')}, level: {signature['level'] or 'unknown'}",
        *(
            [f"    certificate {certificate['sha256']}, issued by {certificate['issuer']}"]
            if certificate
            else []
        ),
        *(f"    {reason}" for reason in signature["reasons"]),
    ]


def yes(fact: bool) -> str:
    return "yes" if fact else "no"
