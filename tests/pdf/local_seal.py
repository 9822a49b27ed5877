"""Seals made in this process, where the key of a test is no secret."""

from collections.abc import Sequence
from dataclasses import dataclass

from esign.core.seal_credential import Credential
from esign.pdf.seal import cms, seal
from esign.pdf.seal.seal import SealTerms
from esign.pdf.seal_order import BegunSeal, SealedFiles, SealFailed, SealOrder, UnsealedFile
from esign.pdf.signer.signing_key import RefusedToSign, SigningKey


@dataclass(frozen=True)
class LocalKey:
    """A key with its private half."""

    public: cms.SealKey
    private: SigningKey

    @property
    def sha256(self) -> str:
        return self.public.sha256

    def sign(self, digests: Sequence[bytes]) -> list[bytes]:
        return [self.private.sign_digest(digest) for digest in digests]


def load_key(credential: Credential) -> LocalKey:
    try:
        private = SigningKey(credential.certificate_der, credential.key_der)
    except RefusedToSign as refusal:
        raise SealFailed(str(refusal)) from refusal
    return LocalKey(cms.load_key(credential.public), private)


def seal_document(order: SealOrder, credential: Credential) -> SealedFiles:
    return seal.seal_document(order, credential.public, lambda digests: load_key(credential).sign(digests))


def begin_seal(order: SealOrder, credential: Credential) -> BegunSeal:
    return seal.begin_seal(order, credential.public, lambda digests: load_key(credential).sign(digests))


def finish_seal(begun: BegunSeal, tokens: Sequence[bytes], credential: Credential) -> SealedFiles:
    return seal.finish_seal(begun, tokens, credential.public)


def prepare_file(pdf: bytes, key: LocalKey, terms: SealTerms) -> UnsealedFile:
    """The file with its signature, which is not in it yet."""
    (file,) = seal.sign_drafts([seal.prepare_file(pdf, key.public, terms)], key.public, key.sign)
    return file


def fill_file(file: UnsealedFile, key: LocalKey, token: bytes | None = None) -> bytes:
    return seal.fill_file(file, key.public, token)
