"""The key and certificates that a seal is made with, as plain DER bytes that every floor can pass on."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SealCertificate:
    """The public half of a credential, which those may have who prepare what is signed."""

    certificate_der: bytes
    chain_der: tuple[bytes, ...] = ()

    @property
    def anchor_der(self) -> bytes:
        """Return the certificate that trust in this one starts from: the last of the chain, or itself."""
        return self.chain_der[-1] if self.chain_der else self.certificate_der


@dataclass(frozen=True, slots=True)
class Credential:
    """`key_der` is PKCS#8 without a passphrase; `chain_der` holds the issuers, the nearest first.

    `key_der` is empty in the server, which reads the key from its file only to hand it to the signer process.
    """

    key_der: bytes = field(repr=False)
    certificate_der: bytes
    chain_der: tuple[bytes, ...] = ()

    @property
    def public(self) -> SealCertificate:
        """Return the certificate and its issuers."""
        return SealCertificate(self.certificate_der, self.chain_der)

    def forget_key(self) -> "Credential":
        """Return the credential without its key."""
        return Credential(b"", self.certificate_der, self.chain_der)

    @property
    def anchor_der(self) -> bytes:
        """Return the certificate that trust in this credential starts from: the last of the chain, or its own."""
        return self.public.anchor_der


# Stands in the name of every test certificate, on test pages and in test verdicts (contract 8).
TEST_MARK = "TEST – no legal effect"
