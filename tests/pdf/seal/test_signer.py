"""Whoever holds the key: what it tells fits what it signs, and others can take its place."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from esign.pdf.seal import cms, signer
from esign.pdf.seal.signer import KeySigner
from esign.pdf.seal_order import SealFailed
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.sealing import a_pdf, sign_file
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()


class Token:
    """A signer that gives its key to nobody, as a token or a remote service: all it lends is its signature."""

    def __init__(self, inside: KeySigner) -> None:
        self._inside = inside
        self.signed = 0

    @property
    def digest(self) -> str:
        return self._inside.digest

    @property
    def algorithm(self) -> bytes:
        return self._inside.algorithm

    @property
    def public_der(self) -> bytes:
        return self._inside.public_der

    def sign(self, message: bytes) -> bytes:
        self.signed += 1
        return self._inside.sign(message)


@pytest.mark.parametrize("kind", ["rsa", "p256", "p384", "p521"])
def test_any_signer_seals_as_the_one_in_this_process_does(kind: str) -> None:
    key = cms.load_key(a_seal(ROOT, kind).credential)
    token = Token(key.private)
    sealed = sign_file(a_pdf(), replace(key, private=token), NOW, "Acme")
    assert verify_signatures(sealed, [ROOT.der], NOW)["result"] == "valid"
    assert token.signed == 1


def test_a_key_that_is_none_or_cannot_seal_is_said() -> None:
    good = a_seal(ROOT).credential
    with pytest.raises(SealFailed, match="key cannot be read; install it again"):
        signer.build_signer(replace(good, key_der=b"junk"))
    odd = ed25519.Ed25519PrivateKey.generate().private_bytes(
        Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
    )
    with pytest.raises(SealFailed, match="use an RSA or elliptic-curve key"):
        signer.build_signer(replace(good, key_der=odd))
