"""What speaks for certificates besides their dates: who is trusted, and proofs of revocation in the file or fetched."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from asn1crypto import cms, crl, ocsp, x509
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko_certvalidator import ValidationContext

# What a damaged or hostile signature makes the parsers raise: a verdict on that signature, no failure of ours.
BROKEN = (
    PdfError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    OverflowError,
    RecursionError,
)
Proof: TypeAlias = crl.CertificateList | ocsp.OCSPResponse
MOST = 200  # certificates, and proofs, of one file; no honest one has so many


@dataclass(frozen=True, slots=True)
class Evidence:
    """`asked`: whoever verifies had the sources asked, so that no answer is a doubt."""

    roots: tuple[x509.Certificate, ...]
    certificates: tuple[x509.Certificate, ...] = ()
    proofs: tuple[Proof, ...] = ()
    asked: bool = False

    def at(self, moment: datetime) -> ValidationContext:
        """For certificates as they were then; whether they were revoked is judged apart, by `revocation`."""
        return ValidationContext(
            trust_roots=list(self.roots),
            other_certs=list(self.certificates),
            moment=moment,
            allow_fetching=False,
            revocation_mode="none",
        )


def gather(
    reader: PdfFileReader,
    signed: Iterable[cms.SignedData],
    roots: Sequence[bytes],
    fetched: Sequence[bytes] | None,
) -> Evidence:
    """All that lies in the file, and what was fetched; what is damaged proves nothing and is left out."""
    kept = [*_streams(reader, "/OCSPs", ocsp.OCSPResponse), *_streams(reader, "/CRLs", crl.CertificateList)]
    inside = [proof for data in signed for proof in _of_signature(data)]
    return Evidence(
        tuple(x509.Certificate.load(root) for root in dict.fromkeys(roots)),
        tuple(_streams(reader, "/Certs", x509.Certificate)),
        (*_read(fetched or ()), *kept[:MOST], *inside[:MOST]),
        fetched is not None,
    )


def _read(proofs: Iterable[bytes]) -> Iterator[Proof]:
    """Of what was fetched whatever is a proof: anything may stand where a certificate points."""
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


def _streams(reader: PdfFileReader, name: str, kind: Any) -> Iterator[Any]:
    """The entries of the document's store of validation data (DSS)."""
    try:
        entries = list(reader.root["/DSS"][name])[:MOST]
    except BROKEN:
        return
    for entry in entries:
        try:
            found = kind.load(entry.get_object().data)
            bytes(
                found.dump(force=kind is x509.Certificate)
            )  # asn1crypto complains only when it has to parse
        except BROKEN:
            continue
        yield found


def _of_signature(data: cms.SignedData) -> Iterator[Proof]:
    """What a signature carries itself, as CMS has it and as Adobe has it."""
    try:
        for choice in data["crls"]:
            if choice.name == "certificate_list":
                yield choice.chosen
        for signer in data["signer_infos"]:
            for attribute in signer["signed_attrs"]:
                if attribute["type"].native == "adobe_revocation_info_archival":
                    for archive in attribute["values"]:
                        yield from archive["ocsp"]
                        yield from archive["crl"]
    except BROKEN:
        return
