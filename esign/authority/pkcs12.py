"""Read key, certificate and chain from a PKCS#12 file, as certification authorities hand them out."""

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4, RC2, TripleDES
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, CipherAlgorithm, modes
from cryptography.hazmat.primitives.serialization import pkcs12

from esign.authority.checks import KEYS, UNREADABLE, AuthorityError, MaterialSource, SealMaterial

OLD = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"  # 1.2.840.113549.1.12.1, and one more byte for each of its ciphers
CIPHERS: dict[bytes, tuple[str, CipherAlgorithm]] = {
    b"\x01": ("RC4", ARC4(bytes(16))),
    b"\x02": ("RC4", ARC4(bytes(5))),
    b"\x03": ("3DES", TripleDES(bytes(range(24)))),
    b"\x04": ("3DES", TripleDES(bytes(range(24)))),
    b"\x05": ("RC2", RC2(bytes(16))),
    b"\x06": ("RC2", RC2(bytes(16))),
}


def open_bundle(content: bytes, passphrase: str | None, source: MaterialSource) -> SealMaterial:
    """Return key, certificate and chain. Raises `AuthorityError` with the cause and its remedy."""
    if content[:1] != b"\x30":
        pem = ", or name PEM files as seal.certificate and seal.key" if b"-----BEGIN " in content else ""
        raise AuthorityError(f"{source.key} is no PKCS#12 file; {source.another}: a .p12 or .pfx file{pem}.")
    try:
        bundle = pkcs12.load_pkcs12(content, passphrase.encode() if passphrase else None)
    except UNREADABLE as error:
        known = find_missing_cipher(content) is None
        if known and isinstance(
            error, UnsupportedAlgorithm
        ):  # the file was decrypted, but its key cannot be used
            raise AuthorityError(f"{source.key} holds a key that cannot seal; use {KEYS}.") from error
        raise AuthorityError(explain_closed_bundle(content, passphrase, source)) from error
    if bundle.key is None or bundle.cert is None:
        lacking = "private key" if bundle.key is None else "certificate of its key"
        raise AuthorityError(
            f"{source.key} holds no {lacking}; export it again with key, certificate and chain."
        )
    others = tuple(extra.certificate for extra in bundle.additional_certs)
    return SealMaterial(bundle.key, bundle.cert.certificate, others)


def explain_closed_bundle(content: bytes, passphrase: str | None, source: MaterialSource) -> str:
    """Return why the file cannot be opened.

    The library raises the same error for a wrong passphrase and a missing cipher.
    """
    if missing := find_missing_cipher(content):
        return (
            f"{source.key} is encrypted with {missing}, a legacy algorithm that OpenSSL on this machine no longer has;"
            " convert it on a machine that does: openssl pkcs12 -legacy -in old.p12 -nodes -out seal.pem, then"
            " openssl pkcs12 -export -in seal.pem -out new.p12, and delete seal.pem."
        )
    wrong = "the passphrase is wrong" if passphrase else "it needs a passphrase"
    return (
        f"{source.key} cannot be opened: {wrong} or the file is damaged; check {source.secret} and the file."
    )


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
