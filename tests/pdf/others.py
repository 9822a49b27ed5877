"""Signatures and time stamps that another program puts into a file: pyHanko, with authorities of the tests."""

import asyncio
import hashlib
import io
from datetime import datetime
from functools import cache

from asn1crypto import cms, core, keys
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import SigSeedSubFilter
from pyhanko.sign.general import as_signing_certificate
from pyhanko.sign.timestamps import DummyTimeStamper
from pyhanko_certvalidator.registry import SimpleCertificateStore
from pyhanko_certvalidator.util import get_pyca_cryptography_hash

from esign.core.instant import to_datetime
from tests.pki import MADE, NOW, YEAR, Issued, a_key, an_authority


def certificate(issued: Issued) -> asn1.Certificate:
    return asn1.Certificate.load(issued.der)


def key(issued: Issued) -> keys.PrivateKeyInfo:
    der = issued.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return keys.PrivateKeyInfo.load(der)


def store(*issuers: x509.Certificate) -> SimpleCertificateStore:
    known = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    for issuer in issuers:
        known.register(asn1.Certificate.load(issuer.public_bytes(Encoding.DER)))
    return known


class Stamper(DummyTimeStamper):
    """Stamps like the class it extends, but loads its key once: that one loads and checks it, 50 ms, for each stamp."""

    def __init__(self, issued: Issued, known: SimpleCertificateStore, at: datetime) -> None:
        super().__init__(certificate(issued), key(issued), certs_to_embed=known, fixed_dt=at)
        assert isinstance(issued.key, RSAPrivateKey)
        self._loaded = issued.key

    def _sign_tst_info(
        self, tst_info_data: bytes, md_algorithm: str, dt: datetime
    ) -> tuple[bytes, cms.CMSAttributes]:
        digest = hashlib.new(md_algorithm, tst_info_data).digest()
        values = {
            "content_type": "tst_info",
            "signing_time": cms.Time({"utc_time": core.UTCTime(dt)}),
            "signing_certificate": as_signing_certificate(self.tsa_cert),
            "message_digest": digest,
        }
        attributes = cms.CMSAttributes({"type": name, "values": (value,)} for name, value in values.items())
        hashed_by = get_pyca_cryptography_hash(md_algorithm)
        return self._loaded.sign(attributes.dump(), PKCS1v15(), hashed_by), attributes


@cache
def a_stamper(
    name: str = "Test Time Stamps", at: int = NOW, last: datetime = MADE + 3 * YEAR
) -> DummyTimeStamper:
    authority, own = an_authority(f"{name} Root"), a_key("rsa", 7)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(
            authority.certificate.subject, subject, own.public_key(), x509.random_serial_number()
        )
        .not_valid_before(MADE)
        .not_valid_after(last)
        .add_extension(x509.ExtendedKeyUsage([x509.OID_TIME_STAMPING]), critical=True)
        .sign(authority.key, SHA256())
    )
    issued = Issued(own, made)
    known = store(authority.certificate)
    return Stamper(issued, known, to_datetime(at))


def signed_in_loop(
    pdf: bytes, issued: Issued, field: str, stamper: DummyTimeStamper | None, digest: str = "sha256"
) -> bytes:
    signer = signers.SimpleSigner(
        signing_cert=certificate(issued),
        signing_key=key(issued),
        cert_registry=store(*issued.issuers),
    )
    about = signers.PdfSignatureMetadata(
        field_name=field, md_algorithm=digest, subfilter=SigSeedSubFilter.PADES
    )
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    return bytes(signers.sign_pdf(writer, about, signer, timestamper=stamper).getvalue())


async def sign_as_others(
    pdf: bytes, issued: Issued, field: str, stamper: DummyTimeStamper | None = None
) -> bytes:
    """In a thread: it runs a loop of its own."""
    return await asyncio.to_thread(signed_in_loop, pdf, issued, field, stamper)


def stamped_in_loop(pdf: bytes, stamper: DummyTimeStamper) -> bytes:
    """With a time stamp over the whole document behind everything else."""
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    return bytes(signers.PdfTimeStamper(stamper).timestamp_pdf(writer, "sha256").getvalue())


async def stamp_as_others(pdf: bytes) -> bytes:
    """In a thread: it runs a loop of its own."""
    return await asyncio.to_thread(stamped_in_loop, pdf, a_stamper())
