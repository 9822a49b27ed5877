"""The seal of two PEM files: certificates, the seal's own and its issuers in any order, and the private key."""

import re

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from esign.authority.checks import UNREADABLE, AuthorityError, Material, Source, is_pair

KEY = re.compile(rb"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----.*?-----END (?P=kind)-----\n?", re.DOTALL)


def opened(certificates: bytes, key: bytes, passphrase: str | None, source: Source) -> Material:
    """Raises `AuthorityError`. Where no certificate belongs to the key, the first one is taken for the seal's."""
    found = certificates_in(certificates, source)
    private = _private(key, passphrase, source)
    own = next((one for one in found if is_pair(private, one)), found[0])
    return Material(private, own, tuple(one for one in found if one != own))


def certificates_in(content: bytes, source: Source) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(content)
    except UNREADABLE as error:
        raise AuthorityError(
            f"{source.certificate} holds no certificate in PEM (-----BEGIN CERTIFICATE-----); convert it:"
            " openssl x509 -in seal.cer -out seal.pem."
        ) from error


def _private(content: bytes, passphrase: str | None, source: Source) -> object:
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
    except (ValueError, TypeError) as error:
        wrong = "the passphrase is wrong or the file is damaged" if locked else "the file is damaged"
        raise AuthorityError(
            f"{source.key} cannot be opened: {wrong}; check {source.secret} and the file."
        ) from error
