"""Read what seals documents from PEM files: a private key, its certificate and those of the issuers, in any order."""

import binascii
import re
from contextlib import suppress

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from esign.authority.checks import KEYS, UNREADABLE, AuthorityError, MaterialSource, SealMaterial
from esign.authority.pkcs12 import find_missing_cipher
from esign.authority.public_key import is_pair

KEY = re.compile(rb"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----.*?-----END (?P=kind)-----\n?", re.DOTALL)
BODY = re.compile(rb"-----\s+([A-Za-z0-9+/=\s]+)-----END")
UNKNOWN = re.compile("unknown (cipher|key encryption)", re.IGNORECASE)  # texts of the library's errors


def open_pem(certificates: bytes, key: bytes, passphrase: str | None, source: MaterialSource) -> SealMaterial:
    """Return key, certificate and the other certificates. Raises `AuthorityError`.

    If no certificate belongs to the key, the first one is taken as the seal's; `checks` then reports the
    mismatch.
    """
    found = read_certificates(certificates, source)
    private = _read_private_key(key, passphrase, source)
    own = next((one for one in found if is_pair(private, one)), found[0])
    return SealMaterial(private, own, tuple(one for one in found if one != own))


def read_certificates(content: bytes, source: MaterialSource) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(content)
    except UNREADABLE as error:
        if KEY.search(content) and b"CERTIFICATE-----" not in content:
            raise AuthorityError(
                f"{source.certificate} holds a private key and no certificate; give the file of its certificate there."
            ) from error
        raise AuthorityError(
            f"{source.certificate} holds no certificate in PEM (-----BEGIN CERTIFICATE-----); convert it:"
            " openssl x509 -in seal.cer -out seal.pem."
        ) from error


def _read_private_key(content: bytes, passphrase: str | None, source: MaterialSource) -> object:
    block = KEY.search(content)
    if block is None:
        raise AuthorityError(
            f"{source.key} holds no private key in PEM (-----BEGIN PRIVATE KEY-----); convert it:"
            " openssl pkey -in seal.key -out seal-key.pem."
        )
    locked = b"ENCRYPTED" in block[0]
    if locked and not passphrase:
        raise AuthorityError(
            f"{source.key} cannot be opened: it needs a passphrase; give it as {source.secret}."
        )
    try:
        return load_pem_private_key(block[0], passphrase.encode() if locked and passphrase else None)
    except UnsupportedAlgorithm as error:
        raise AuthorityError(f"{source.key} holds a key that cannot seal; use {KEYS}.") from error
    except (ValueError, TypeError) as error:
        if locked and _is_locked_by_unknown(block[0], str(error)):
            raise AuthorityError(
                f"{source.key} is encrypted with a legacy or unusual algorithm that is not known here; convert it:"
                " openssl pkey -provider legacy -provider default -in seal.key -aes256 -out seal-key.pem."
            ) from error
        wrong = "the passphrase is wrong or the file is damaged" if locked else "the file is damaged"
        raise AuthorityError(
            f"{source.key} cannot be opened: {wrong}; check {source.secret} and the file."
        ) from error


def _is_locked_by_unknown(block: bytes, error: str) -> bool:
    """Return whether the key is encrypted with an algorithm that is not available here."""
    body, content = BODY.search(block), b""
    with suppress(ValueError):  # damaged
        content = binascii.a2b_base64(body[1]) if body else b""
    return bool(UNKNOWN.search(error) or find_missing_cipher(content))
