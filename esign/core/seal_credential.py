"""The key and certificates that a seal is made with, as plain DER bytes that every floor can pass on."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Credential:
    """`key_der` is PKCS#8 without a passphrase; `chain_der` holds the issuers, the nearest first."""

    key_der: bytes = field(repr=False)
    certificate_der: bytes
    chain_der: tuple[bytes, ...] = ()

    @property
    def anchor_der(self) -> bytes:
        """Return the certificate that trust in this credential starts from: the last of the chain, or its own."""
        return self.chain_der[-1] if self.chain_der else self.certificate_der


# Stands in the name of every test certificate, on test pages and in test verdicts (contract 8).
TEST_MARK = "TEST – no legal effect"
