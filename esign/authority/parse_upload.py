"""Read an uploaded seal: one PKCS#12 file, or the PEM files that hold its key and certificates."""

from collections.abc import Sequence
from dataclasses import replace

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import pem, pkcs12
from esign.authority.checks import CHOSEN, UNREADABLE, AuthorityError, MaterialSource, SealMaterial
from esign.core.sentence import say

UNKNOWN = "{file} is neither a PKCS#12 file (.p12 or .pfx) nor key or certificate in PEM; choose another one."
LARGEST = 2**20  # a chain of ten certificates has 30 kB


def open_upload(
    files: Sequence[tuple[str, bytes]], passphrase: str | None
) -> tuple[SealMaterial, MaterialSource]:
    """Return the material of the uploaded files, given as names and contents. Raises `AuthorityError`."""
    bundles, texts = [], []
    for name, content in files:
        if len(content) > LARGEST:
            raise AuthorityError(
                say("{file} is too large for a key or a certificate; choose another one.", file=name)
            )
        if (certificate := _read_der_certificate(content)) is not None:
            texts.append((name, certificate.public_bytes(Encoding.PEM)))
        elif content[:1] == b"\x30":
            bundles.append((name, content))
        elif b"-----BEGIN " in content:
            texts.append((name, content + b"\n"))
        else:
            raise AuthorityError(say(UNKNOWN, file=name))
    if len(bundles) > 1:
        raise AuthorityError(
            say(
                "{file} and {other} hold a seal each; choose one of them.",
                file=bundles[0][0],
                other=bundles[1][0],
            )
        )
    return _open_bundle(bundles[0], texts, passphrase) if bundles else _open_texts(texts, passphrase)


def _read_der_certificate(content: bytes) -> x509.Certificate | None:
    """Return the certificate if the file is one in DER, as some issuers send it, or None."""
    try:
        return x509.load_der_x509_certificate(content)
    except UNREADABLE:
        return None


def _open_bundle(
    one: tuple[str, bytes], texts: Sequence[tuple[str, bytes]], passphrase: str | None
) -> tuple[SealMaterial, MaterialSource]:
    """Return the material of a PKCS#12 file. Certificates in the other files may complete its chain."""
    name, content = one
    source = MaterialSource(name, name, CHOSEN)
    material = pkcs12.open_bundle(content, passphrase, source)
    beside = tuple(
        certificate
        for text_name, text in texts
        for certificate in pem.read_certificates(text, replace(source, certificate=text_name))
    )
    return replace(material, others=(*material.others, *beside)), source


def _open_texts(
    texts: Sequence[tuple[str, bytes]], passphrase: str | None
) -> tuple[SealMaterial, MaterialSource]:
    whole = b"".join(text for _, text in texts)
    keys = [name for name, text in texts if pem.KEY.search(text)]
    certificates = [name for name, text in texts if b"-----BEGIN CERTIFICATE-----" in text]
    if len(keys) > 1:
        raise AuthorityError(
            say("{file} and {other} hold a key each; choose one of them.", file=keys[0], other=keys[1])
        )
    names = ", ".join(name for name, _ in texts)
    if not keys:
        raise AuthorityError(
            say("{files} holds no private key; choose the file of the key together with it.", files=names)
        )
    if not certificates:
        raise AuthorityError(
            say(
                "{files} holds no certificate; choose the file of the certificate together with it.",
                files=names,
            )
        )
    source = MaterialSource(keys[0], ", ".join(certificates), CHOSEN)
    return pem.open_pem(whole, whole, passphrase, source), source
