"""Signatures that carry what nobody signed: each part of a CMS that no hash covers, filled with words of a forger."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from asn1crypto import algos, cms, core, crl, parser
from asn1crypto import x509 as asn1

from tests.pdf.others import a_stamper
from tests.pdf.proofs import a_list
from tests.pki import NOW, an_authority

WORDS = b"Pay 9,999,999 to Eve"
PLACE = re.compile(rb"/Contents <([0-9A-Fa-f]+)>")
Change = Callable[[cms.ContentInfo], bytes | None]


def place(file: bytes, number: int = 0) -> tuple[int, int]:
    """Where the digits of a signature stand, the first or a later one."""
    return [*PLACE.finditer(file)][number].span(1)


def change_signature(file: bytes, change: Change, number: int = 0) -> bytes:
    """The file with a signature that was changed in its place."""
    start, end = place(file, number)
    held = cms.ContentInfo.load(bytes.fromhex(file[start:end].decode()))
    made: bytes = change(held) or held.dump(force=True)
    digits = made.hex().encode()
    assert len(digits) <= end - start, "no room for it"
    return file[:start] + digits.ljust(end - start, b"0") + file[end:]


def attribute(kind: str, value: Any) -> cms.CMSAttribute:
    return cms.CMSAttribute({"type": cms.CMSAttributeType(kind), "values": [value]})


def words() -> core.Any:
    return core.Any(core.OctetString(WORDS))


def first_signer(held: cms.ContentInfo) -> cms.SignerInfo:
    return held["content"]["signer_infos"][0]


def stamp_of(held: cms.ContentInfo) -> cms.ContentInfo | None:
    """The time stamp on a signature."""
    unsigned = first_signer(held)["unsigned_attrs"]
    return unsigned[0]["values"][0] if unsigned.native else None


def with_attribute(held: cms.ContentInfo, added: cms.CMSAttribute) -> None:
    signer = first_signer(held)
    before = list(signer["unsigned_attrs"]) if signer["unsigned_attrs"].native else []
    signer["unsigned_attrs"] = cms.CMSAttributes([*before, added])


def with_words(held: cms.ContentInfo) -> None:
    with_attribute(held, attribute("1.2.3.4.5", words()))


def with_certificate(held: cms.ContentInfo, *, first: bool = False) -> None:
    stranger = asn1.Certificate.load(an_authority(WORDS.decode()).der)
    added = cms.CertificateChoices("certificate", stranger)
    known = list(held["content"]["certificates"])
    held["content"]["certificates"] = cms.CertificateSet([added, *known] if first else [*known, added])


def with_other_certificate(held: cms.ContentInfo) -> None:
    other = cms.OtherCertificateFormat({"other_cert_format": "1.2.3.4", "other_cert": words()})
    known = list(held["content"]["certificates"])
    held["content"]["certificates"] = cms.CertificateSet([*known, cms.CertificateChoices("other", other)])


def with_revocation(held: cms.ContentInfo, choice: cms.RevocationInfoChoice) -> None:
    held["content"]["crls"] = cms.RevocationInfoChoices([choice])


def with_other_revocation(held: cms.ContentInfo) -> None:
    other = cms.OtherRevocationInfoFormat({"other_rev_info_format": "1.2.3.4", "other_rev_info": words()})
    with_revocation(held, cms.RevocationInfoChoice("other", other))


def with_list(held: cms.ContentInfo) -> None:
    listed = crl.CertificateList.load(a_list(an_authority(WORDS.decode()), NOW))
    with_revocation(held, cms.RevocationInfoChoice("crl", listed))


def with_digests(held: cms.ContentInfo) -> None:
    held["content"]["digest_algorithms"] = cms.DigestAlgorithms(
        [{"algorithm": "sha256"}, {"algorithm": "md5"}]
    )


def with_parameters(held: cms.ContentInfo) -> None:
    kind = algos.DigestAlgorithmId("1.2.3.4")
    stated = cms.DigestAlgorithm({"algorithm": kind, "parameters": words()})
    held["content"]["digest_algorithms"] = cms.DigestAlgorithms([stated])


def with_long_length(held: cms.ContentInfo) -> bytes:
    content: bytes = parser.parse(held.dump())[4]
    return b"\x30\x84" + len(content).to_bytes(4, "big") + content


def with_second_stamp(held: cms.ContentInfo) -> None:
    digest = hashlib.sha256(first_signer(held)["signature"].native).digest()
    token = asyncio.run(a_stamper(WORDS.decode()).async_timestamp(digest, "sha256"))
    with_attribute(held, attribute("signature_time_stamp_token", cms.ContentInfo.load(token.dump())))


def in_stamp(change: Change) -> Change:
    """Make a change in the time stamp on the signature."""

    def changing(held: cms.ContentInfo) -> None:
        stamp = stamp_of(held)
        assert stamp is not None
        change(stamp)

    return changing


CHANGES: dict[str, Change] = {
    "an unsigned attribute": with_words,
    "a certificate": with_certificate,
    "a certificate in front": lambda held: with_certificate(held, first=True),
    "a certificate of another kind": with_other_certificate,
    "a revocation list": with_list,
    "revocation of another kind": with_other_revocation,
    "two digest algorithms": with_digests,
    "parameters": with_parameters,
    "a length in more bytes than it needs": with_long_length,
}
# For a signature with a time stamp on it.
STAMPED: dict[str, Change] = {
    "a second time stamp": with_second_stamp,
    **{
        f"{name} in the time stamp": in_stamp(change)
        for name, change in CHANGES.items()
        if "length" not in name
    },
}


def burden_signature(file: bytes, number: int = 0) -> Iterator[tuple[str, bytes]]:
    """The file with each of these in one of its signatures; what finds no room there is left out."""
    start, end = place(file, number)
    held = cms.ContentInfo.load(bytes.fromhex(file[start:end].decode()))
    for name, change in (CHANGES | (STAMPED if stamp_of(held) is not None else {})).items():
        try:
            yield name, change_signature(file, change, number)
        except AssertionError:
            continue


def in_indefinite_lengths(held: cms.ContentInfo) -> bytes:
    """The same in BER, as Bouncy Castle writes it."""
    kind, signed = held["content_type"].dump(), held["content"].untag().dump()
    inner = b"\x30\x80" + parser.parse(signed)[4] + b"\0\0"
    made: bytes = b"\x30\x80" + kind + b"\xa0\x80" + inner + b"\0\0" + b"\0\0"
    return made
