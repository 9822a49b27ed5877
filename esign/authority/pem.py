"""Read what seals documents from PEM files: a private key, its certificate and those of the issuers, in any order."""

import binascii
import re
from contextlib import suppress

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from esign.authority.checks import NO_SEALING_KEY, UNREADABLE, AuthorityError, MaterialSource, SealMaterial
from esign.authority.pkcs12 import find_missing_cipher
from esign.authority.public_key import is_pair
from esign.core.sentence import join, say

KEY = re.compile(rb"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----.*?-----END (?P=kind)-----\n?", re.DOTALL)
BODY = re.compile(rb"-----\s+([A-Za-z0-9+/=\s]+)-----END")
WRONG = "{file} cannot be opened: the passphrase is wrong or the file is damaged."
DAMAGED = "{file} cannot be opened: the file is damaged."
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
                say(
                    "{file} holds a private key and no certificate; give the file of its certificate there.",
                    file=source.certificate,
                )
            ) from error
        raise AuthorityError(
            say(
                "{file} holds no certificate in PEM (-----BEGIN CERTIFICATE-----); convert it: openssl x509 -in"
                " seal.cer -out seal.pem.",
                file=source.certificate,
            )
        ) from error


def _read_private_key(content: bytes, passphrase: str | None, source: MaterialSource) -> object:
    block = KEY.search(content)
    if block is None:
        raise AuthorityError(
            say(
                "{file} holds no private key in PEM (-----BEGIN PRIVATE KEY-----); convert it: openssl pkey -in"
                " seal.key -out seal-key.pem.",
                file=source.key,
            )
        )
    locked = b"ENCRYPTED" in block[0]
    if locked and not passphrase:
        problem = say("{file} cannot be opened: it needs a passphrase.", file=source.key)
        raise AuthorityError(join([problem, source.remedies.give_passphrase]))
    try:
        return load_pem_private_key(block[0], passphrase.encode() if locked and passphrase else None)
    except UnsupportedAlgorithm as error:
        raise AuthorityError(say(NO_SEALING_KEY, file=source.key)) from error
    except (ValueError, TypeError) as error:
        if locked and _is_locked_by_unknown(block[0], str(error)):
            raise AuthorityError(
                say(
                    "{file} is encrypted with a legacy or unusual algorithm that esign does not know; convert it:"
                    " openssl pkey -provider legacy -provider default -in seal.key -aes256 -out seal-key.pem.",
                    file=source.key,
                )
            ) from error
        problem = say(WRONG if locked else DAMAGED, file=source.key)
        raise AuthorityError(join([problem, source.remedies.check_passphrase])) from error


def _is_locked_by_unknown(block: bytes, error: str) -> bool:
    """Return whether the key is encrypted with an algorithm that is not available here."""
    body, content = BODY.search(block), b""
    with suppress(ValueError):  # damaged
        content = binascii.a2b_base64(body[1]) if body else b""
    return bool(UNKNOWN.search(error) or find_missing_cipher(content))
