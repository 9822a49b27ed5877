"""Check the entries of a DSS: each is one certificate, revocation list or OCSP response."""

from typing import Literal

from asn1crypto import parser
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509 import ocsp

from esign.pdf.verify.certificate_evidence import BROKEN
from esign.pdf.verify.revisions import inflate_stream
from esign.pdf.verify.strict_syntax import NotStrict, PdfName, PdfStream

EntryKind = Literal["certificate", "list", "answer"]
ENTRY_KEYS = frozenset(map(PdfName, (b"Length", b"Filter")))


def check_entry(stream: PdfStream, kind: EntryKind) -> None:
    """Raise `NotStrict` unless the stream holds one proof of that kind and nothing else."""
    if not stream.entries.keys() <= ENTRY_KEYS:
        raise NotStrict("a proof that says more than it needs")
    check_data(decode_stream(stream), kind)


def decode_stream(stream: PdfStream) -> bytes:
    """Return the decoded data of a stream. Raises `NotStrict`."""
    return inflate_stream(stream)


def check_data(data: bytes, kind: EntryKind) -> None:
    """Raise `NotStrict` unless the bytes are one proof of that kind, in DER and to the last byte."""
    try:
        match kind:
            case "certificate":
                x509.load_der_x509_certificate(data)
            case "list":
                x509.load_der_x509_crl(data)
            case "answer":
                answer = ocsp.load_der_ocsp_response(data)
                if answer.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
                    raise NotStrict("an OCSP response that answers nothing")
    except UnsupportedAlgorithm:
        return  # it was parsed, but names an algorithm that this library does not know
    except BROKEN as error:
        raise NotStrict(f"validation data that are no {kind}") from error


def check_padding(token: bytes) -> None:
    """Raise `NotStrict` unless only zeros follow the token in its place."""
    try:
        _, _, _, header, content, trailer = parser.parse(token, strict=False)
    except BROKEN as error:
        raise NotStrict("a token is expected") from error
    if token[len(header) + len(content) + len(trailer) :].strip(b"\0"):
        raise NotStrict("something behind a token that is no zero")
