"""Read a certificate for HTTPS with its key, and find what is wrong with it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from esign.core.instant import DAY, Instant, rfc3339
from esign.core.sentence import say

KEY = re.compile(rb"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----.*?-----END (?P=kind)-----\n?", re.DOTALL)
UNREADABLE_FORM = "{file} cannot be read ({error}); put it there and let this user read it."
NO_CERTIFICATE = "{file} holds no certificate in PEM (-----BEGIN CERTIFICATE-----)."
NO_KEY = "{file} holds no private key in PEM (-----BEGIN PRIVATE KEY-----)."
LOCKED_KEY = "The key in {file} has a passphrase. Store it without one, readable by this user alone."
UNMATCHED = "The key in {file} does not belong to its certificate; put the matching two in place."
EXPIRED = "The certificate in {file} expired on {day}."
NOT_YET_VALID = "The certificate in {file} isn’t valid before {day}. Check this machine’s clock."
OTHER_NAME = "The certificate in {file} isn’t for {host} but for {names}."
SHOWN_NAMES = 5
MALFORMED = (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension)


class HttpsProblem(NamedTuple):
    """What is wrong with HTTPS: a short form without names for `/readyz`, a sentence with the remedy, and the words
    of the authority or of the system, which may be empty.
    """

    brief: str
    sentence: str
    detail: str = ""


class UnfitCertificate(Exception):
    """A certificate that cannot be used, with its problem."""

    def __init__(self, problem: HttpsProblem) -> None:
        self.problem = problem
        super().__init__(problem.sentence)


@dataclass(frozen=True, slots=True)
class HttpsCertificate:
    """A certificate with its key and its issuers, in PEM. `names` are those of the DNS and addresses it is for."""

    chain: bytes = field(repr=False)
    key: bytes = field(repr=False)
    names: tuple[str, ...]
    issuer: str
    begins_at: Instant
    ends_at: Instant

    def is_for(self, host: str) -> bool:
        """Return whether a browser accepts the certificate for this host (RFC 6125, 6.4)."""
        wild = f"*.{host.partition('.')[2]}"
        return any(name in (host, wild) for name in self.names)

    def find_problem(self, host: str, now: Instant, file: str) -> HttpsProblem | None:
        """Return why browsers refuse the certificate for this host at this time, or None. `file` names it."""
        if now >= self.ends_at:
            sentence = say(EXPIRED, file=file, day=format_day(self.ends_at))
            return HttpsProblem("the certificate has expired", sentence)
        if now < self.begins_at - DAY:  # a day, as clocks differ and authorities begin an hour back
            sentence = say(NOT_YET_VALID, file=file, day=format_day(self.begins_at))
            return HttpsProblem("the certificate is not valid yet", sentence)
        if not self.is_for(host):
            names = ", ".join(self.names[:SHOWN_NAMES]) or "–"
            sentence = say(OTHER_NAME, file=file, host=host, names=names)
            return HttpsProblem("the certificate is for another name", sentence)
        return None


def format_day(at: Instant) -> str:
    """Return the day of a time, as `2026-11-28`."""
    return rfc3339(at)[:10]


def read_pem_file(path: Path) -> bytes:
    """Return the content of a file. Raise `UnfitCertificate`."""
    try:
        return path.read_bytes()
    except OSError as error:
        sentence = say(UNREADABLE_FORM, file=path, error=error.strerror)
        raise UnfitCertificate(HttpsProblem("a file of the certificate cannot be read", sentence)) from error


def read_pair(chain: bytes, key: bytes, chain_file: str, key_file: str) -> HttpsCertificate:
    """Return the certificate of a PEM chain with its key. The file names are for what is wrong.

    The first certificate must be that of this server, as TLS sends them in this order. Raise `UnfitCertificate`.
    """
    try:
        first, *_ = x509.load_pem_x509_certificates(chain)
        public = first.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        names, issuer = find_names(first), find_issuer(first)
    except MALFORMED:
        problem = HttpsProblem("there is no certificate in its file", say(NO_CERTIFICATE, file=chain_file))
        raise UnfitCertificate(problem) from None
    found = KEY.search(key)
    if found is not None and (b"ENCRYPTED" in found[0]):
        raise UnfitCertificate(HttpsProblem("the key has a passphrase", say(LOCKED_KEY, file=key_file)))
    try:
        private = load_pem_private_key(found[0] if found else b"", None)
    except MALFORMED:
        problem = HttpsProblem("there is no key in its file", say(NO_KEY, file=key_file))
        raise UnfitCertificate(problem) from None
    if private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != public:
        problem = HttpsProblem("the key does not belong to the certificate", say(UNMATCHED, file=key_file))
        raise UnfitCertificate(problem)
    return HttpsCertificate(
        chain=chain,
        key=key,
        names=names,
        issuer=issuer,
        begins_at=int(first.not_valid_before_utc.timestamp() * 1000),
        ends_at=int(first.not_valid_after_utc.timestamp() * 1000),
    )


def find_names(certificate: x509.Certificate) -> tuple[str, ...]:
    """Return the names and addresses that a certificate is for, in lower case."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    names = [name.lower() for name in found.get_values_for_type(x509.DNSName)]
    return (*names, *map(str, found.get_values_for_type(x509.IPAddress)))


def find_issuer(certificate: x509.Certificate) -> str:
    """Return the organisation and the common name of the issuer."""
    found = [
        str(attribute.value)
        for oid in (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME)
        for attribute in certificate.issuer.get_attributes_for_oid(oid)
    ]
    return ", ".join(found) or certificate.issuer.rfc4514_string()
