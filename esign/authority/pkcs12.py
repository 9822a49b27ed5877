"""Read key, certificate and chain from a PKCS#12 file, as certification authorities hand them out."""

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4, RC2, TripleDES
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, CipherAlgorithm, modes
from cryptography.hazmat.primitives.serialization import pkcs12

from esign.authority.checks import NO_SEALING_KEY, UNREADABLE, AuthorityError, MaterialSource, SealMaterial
from esign.core.sentence import join, say

OLD = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"  # 1.2.840.113549.1.12.1, and one more byte for each of its ciphers
CIPHERS: dict[bytes, tuple[str, CipherAlgorithm]] = {
    b"\x01": ("RC4", ARC4(bytes(16))),
    b"\x02": ("RC4", ARC4(bytes(5))),
    b"\x03": ("3DES", TripleDES(bytes(range(24)))),
    b"\x04": ("3DES", TripleDES(bytes(range(24)))),
    b"\x05": ("RC2", RC2(bytes(16))),
    b"\x06": ("RC2", RC2(bytes(16))),
}

BUNDLE = "It must be a .p12 or .pfx file."
BUNDLE_OR_PEM = "It must be a .p12 or .pfx file, or name PEM files as seal.certificate and seal.key."
NO_KEY = "{file} holds no private key; export it again with key, certificate and chain."
NO_CERTIFICATE = "{file} holds no certificate of its key; export it again with key, certificate and chain."
LEGACY = (
    "{file} is encrypted with {cipher}, a legacy algorithm that OpenSSL on this server no longer has; convert it on a"
    " computer that does: openssl pkcs12 -legacy -in old.p12 -nodes -out seal.pem, then openssl pkcs12 -export -in"
    " seal.pem -out new.p12, and delete seal.pem."
)
WRONG = "{file} cannot be opened: the passphrase is wrong or the file is damaged."
LOCKED = "{file} cannot be opened: it needs a passphrase or the file is damaged."


def open_bundle(content: bytes, passphrase: str | None, source: MaterialSource) -> SealMaterial:
    """Return key, certificate and chain. Raises `AuthorityError` with the cause and its remedy."""
    if content[:1] != b"\x30":
        need = BUNDLE_OR_PEM if b"-----BEGIN " in content else BUNDLE
        raise AuthorityError(
            source.ask_for_another(say("{file} is not a PKCS#12 file.", file=source.key), need)
        )
    try:
        bundle = pkcs12.load_pkcs12(content, passphrase.encode() if passphrase else None)
    except UNREADABLE as error:
        known = find_missing_cipher(content) is None
        if known and isinstance(
            error, UnsupportedAlgorithm
        ):  # the file was decrypted, but its key cannot be used
            raise AuthorityError(say(NO_SEALING_KEY, file=source.key)) from error
        raise AuthorityError(explain_closed_bundle(content, passphrase, source)) from error
    if bundle.key is None or bundle.cert is None:
        raise AuthorityError(say(NO_KEY if bundle.key is None else NO_CERTIFICATE, file=source.key))
    others = tuple(extra.certificate for extra in bundle.additional_certs)
    return SealMaterial(bundle.key, bundle.cert.certificate, others)


def explain_closed_bundle(content: bytes, passphrase: str | None, source: MaterialSource) -> str:
    """Return why the file cannot be opened.

    The library raises the same error for a wrong passphrase and a missing cipher.
    """
    if missing := find_missing_cipher(content):
        return say(LEGACY, file=source.key, cipher=missing)
    problem = say(WRONG if passphrase else LOCKED, file=source.key)
    return join([problem, source.remedies.check_passphrase])


def find_missing_cipher(content: bytes) -> str | None:
    """Return the name of a cipher that the file uses and OpenSSL on this machine lacks, or None."""
    return next(
        (
            name
            for last, (name, cipher) in CIPHERS.items()
            if OLD + last in content and not _is_supported(cipher)
        ),
        None,
    )


def _is_supported(cipher: CipherAlgorithm) -> bool:
    from cryptography.hazmat.backends.openssl import backend

    if not isinstance(cipher, BlockCipherAlgorithm):
        return backend.cipher_supported(cipher, None)  # type: ignore[arg-type]  # a stream has no mode
    return backend.cipher_supported(cipher, modes.CBC(bytes(cipher.block_size // 8)))
