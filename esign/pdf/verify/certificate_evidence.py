"""Collect the evidence about certificates: the trusted roots, and revocation proofs from the file or fetched."""

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from asn1crypto import cms, crl, ocsp, x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import ValidationError

# Exceptions that parsers raise on a damaged or hostile signature. They lead to a verdict on it, not to an error.
BROKEN = (
    PdfError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    ArithmeticError,  # OverflowError, and of malformed numbers decimal.InvalidOperation
    RecursionError,
    EOFError,
    SyntaxError,  # of XML: ElementTree.ParseError
    struct.error,
    zlib.error,
    ValidationError,
    UnsupportedAlgorithm,
    InvalidSignature,
)
# Exceptions of these that say nothing about the signature: a library met something that it does not support.
GAVE_UP = (AssertionError, NotImplementedError, RecursionError, UnsupportedAlgorithm)
Proof: TypeAlias = crl.CertificateList | ocsp.OCSPResponse
MOST = 200  # certificates, and proofs, that are read of one file; no honest file has so many


class StoredEvidence(NamedTuple):
    """The readable entries of a document's store of validation data (DSS); anything else proves nothing."""

    certificates: tuple[x509.Certificate, ...]
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Trusted roots, further certificates and revocation proofs.

    `asked` is true if the caller has asked the revocation sources, so that a missing answer is a doubt.
    """

    roots: tuple[x509.Certificate, ...]
    certificates: tuple[x509.Certificate, ...] = ()
    proofs: tuple[Proof, ...] = ()
    asked: bool = False

    def at(self, moment: datetime) -> ValidationContext:
        """Return the context for validating certificates as of `moment`.

        Revocation is judged separately by `revocation`.
        """
        return ValidationContext(
            trust_roots=list(self.roots),
            other_certs=list(self.certificates),
            moment=moment,
            allow_fetching=False,
            revocation_mode="none",
        )


def gather_evidence(
    reader: PdfFileReader,
    signed: Iterable[cms.SignedData],
    roots: Sequence[bytes],
    fetched: Sequence[bytes] | None,
) -> Evidence:
    """Collect the evidence in the file and what was fetched. Damaged entries prove nothing and are left out."""
    kept = read_store(reader)
    inside = [proof for data in signed for proof in _read_signature_proofs(data)]
    return Evidence(
        tuple(x509.Certificate.load(root) for root in dict.fromkeys(roots)),
        kept.certificates,
        (*_parse_proofs(fetched or ()), *kept.proofs, *inside[:MOST]),
        fetched is not None,
    )


def read_store(handler: PdfFileReader | HistoricalResolver) -> StoredEvidence:
    """Read the DSS of a file, or of one of its revisions."""
    proofs = [
        *_read_streams(handler, "/OCSPs", ocsp.OCSPResponse),
        *_read_streams(handler, "/CRLs", crl.CertificateList),
    ]
    return StoredEvidence(tuple(_read_streams(handler, "/Certs", x509.Certificate)), tuple(proofs[:MOST]))


def _parse_proofs(proofs: Iterable[bytes]) -> Iterator[Proof]:
    """Yield the OCSP responses and revocation lists among the fetched bytes, which may be anything."""
    for proof in proofs:
        with suppress(*BROKEN):
            answer: ocsp.OCSPResponse = ocsp.OCSPResponse.load(proof)
            if answer["response_status"].native == "successful":
                yield answer
                continue
        with suppress(*BROKEN):
            listed: crl.CertificateList = crl.CertificateList.load(proof)
            if listed.issuer:
                yield listed


def _read_streams(handler: PdfFileReader | HistoricalResolver, name: str, kind: Any) -> Iterator[Any]:
    """Yield the readable entries of one list of the DSS."""

    def at(holder: Any, key: str) -> Any:
        return resolve(holder.raw_get(key))

    def resolve(item: Any) -> Any:
        # The object's own get_object() would return the newest version, not that of the revision.
        return handler.get_object(item.reference) if isinstance(item, generic.IndirectObject) else item

    try:
        store = at(handler.root, "/DSS")
        if name not in store:
            return
        entries = list(at(store, name))[:MOST]
    except BROKEN:
        return
    for entry in entries:
        try:
            found = kind.load(resolve(entry).data, strict=True)
            bytes(
                found.dump(force=kind is x509.Certificate)
            )  # asn1crypto complains only when it has to parse
        except BROKEN:
            continue
        yield found


def _read_signature_proofs(data: cms.SignedData) -> Iterator[Proof]:
    """Yield the revocation proofs inside a signature, both as CMS places them and as Adobe does."""
    try:
        for choice in data["crls"]:
            if isinstance(choice.chosen, crl.CertificateList):
                yield choice.chosen
        for signer in data["signer_infos"]:
            for attribute in signer["signed_attrs"]:
                if attribute["type"].native == "adobe_revocation_info_archival":
                    for archive in attribute["values"]:
                        yield from archive["ocsp"]
                        yield from archive["crl"]
    except BROKEN:
        return
