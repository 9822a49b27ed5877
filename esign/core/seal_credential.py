"""What a seal is made with: a private key and its certificates, as plain DER that every floor may carry."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Credential:
    """`key_der` is PKCS#8 without a passphrase; `chain_der` holds the issuers, the nearest first."""

    key_der: bytes = field(repr=False)
    certificate_der: bytes
    chain_der: tuple[bytes, ...] = ()

    @property
    def anchor_der(self) -> bytes:
        """The certificate that trust in this credential begins with: the last of the chain, or its own."""
        return self.chain_der[-1] if self.chain_der else self.certificate_der


# Stands in the name of every test certificate, on test pages and in test verdicts (contract 8).
TEST_MARK = "TEST – no legal effect"
