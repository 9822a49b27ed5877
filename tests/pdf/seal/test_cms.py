"""The signature in the seal, written by hand, beside the one that pyHanko makes for the same document and key.

Three things differ on purpose. SHA-2 has no parameters (RFC 5754, 2; pyHanko writes NULL); the certificate is named by
its hash alone (issuerSerial is optional, RFC 5035, 5, and stands in the SignerInfo already); with RSA the algorithm is
the key's own, which RFC 5754, 3.2, allows beside the one that names the hash again.
"""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from asn1crypto import cms as asn1
from asn1crypto import tsp

from esign.core.der import SEQUENCE, encode_der
from esign.pdf.seal.seal import FIELD, SLACK, SealTerms
from tests.pdf.contents import contents, pem, read_covered_bytes, run
from tests.pdf.drawing.test_stamped import an_authority_of_time, token_for
from tests.pdf.local_seal import LocalKey, fill_file, load_key, prepare_file
from tests.pdf.others import a_stamper, signed_in_loop
from tests.pdf.sealing import a_pdf
from tests.pki import NOW, Issued, a_seal, an_authority

ROOT = an_authority()
BETWEEN = an_authority("Issuing", "rsa", above=ROOT)
DIGESTS = {"rsa": "sha256", "p256": "sha256", "p384": "sha384", "p521": "sha512"}
SIGNED = {"content_type", "message_digest", "signing_certificate_v2"}
STAMP = "signature_time_stamp_token"

every_kind = pytest.mark.parametrize("kind", DIGESTS)
both_levels = pytest.mark.parametrize("stamped", [False, True], ids=["B-B", "B-T"])


def ours(kind: str, stamped: bool) -> bytes:
    issued = a_seal(BETWEEN, kind)
    return make_cms(issued, stamped)


def make_cms(issued: Issued, stamped: bool) -> bytes:
    key = load_key(issued.credential)
    file = prepare_file(a_pdf({}, {}), key, SealTerms(NOW, "All recipients have finished", level="B-T"))
    return fill_file(file, key, token_for(file.signature, an_authority_of_time()) if stamped else None)


def of(pdf: bytes) -> tuple[Any, Any]:
    """The SignedData, and the only SignerInfo of it."""
    data = asn1.ContentInfo.load(contents(pdf), strict=True)["content"]
    (signer,) = data["signer_infos"]
    return data, signer


def attributes(signer: Any, which: str = "signed_attrs") -> dict[str, Any]:
    """The only value of each attribute."""
    found = {}
    for attribute in signer[which]:
        (found[attribute["type"].native],) = attribute["values"]
    return found


@both_levels
@every_kind
def test_everything_in_the_signature_is_as_pyhanko_writes_it(kind: str, stamped: bool) -> None:
    issued = a_seal(BETWEEN, kind)
    digest, stamper = DIGESTS[kind], a_stamper() if stamped else None
    pdf = make_cms(issued, stamped)
    (data, signer), (its_data, its) = (
        of(pdf),
        of(signed_in_loop(a_pdf({}, {}), issued, FIELD, stamper, digest)),
    )

    for name in ("version", "encap_content_info", "certificates"):
        assert data[name].dump() == its_data[name].dump(), name
    assert len(data["certificates"]) == 3  # its own and those of both issuers
    assert data["crls"].native is its_data["crls"].native is None
    for name in ("version", "sid"):
        assert signer[name].dump() == its[name].dump(), name
    assert signer["sid"].name == "issuer_and_serial_number"
    algorithm, its_algorithm = signer["signature_algorithm"], its["signature_algorithm"]
    assert algorithm.signature_algo == its_algorithm.signature_algo
    assert kind == "rsa" or algorithm.dump() == its_algorithm.dump()
    for each in (signer["digest_algorithm"], its["digest_algorithm"], *data["digest_algorithms"]):
        assert each["algorithm"].native == digest

    signed, its_signed = attributes(signer), attributes(its)
    assert signed.keys() == its_signed.keys() == SIGNED  # so no signing-time, which PAdES forbids
    assert signed["content_type"].dump() == its_signed["content_type"].dump()
    assert signed["message_digest"].native == hashlib.new(digest, read_covered_bytes(pdf)).digest()
    (named,), (its_named,) = (each["signing_certificate_v2"]["certs"] for each in (signed, its_signed))
    for name in ("hash_algorithm", "cert_hash"):
        assert named[name].dump() == its_named[name].dump(), name
    assert named["cert_hash"].native == hashlib.sha256(issued.der).digest()

    unsigned, its_unsigned = ([a["type"].native for a in each["unsigned_attrs"]] for each in (signer, its))
    assert unsigned == its_unsigned == ([STAMP] if stamped else [])


@both_levels
@every_kind
def test_what_differs_is_what_the_standards_leave_open(kind: str, stamped: bool) -> None:
    data, signer = of(ours(kind, stamped))
    for each in (signer["digest_algorithm"], *data["digest_algorithms"]):
        assert each.dump() == encode_der(SEQUENCE, each["algorithm"].dump())
    if kind == "rsa":
        assert signer["signature_algorithm"].dump().hex() == "300d06092a864886f70d0101010500"
    (named,) = attributes(signer)["signing_certificate_v2"]["certs"]
    assert named["issuer_serial"].native is None


@both_levels
@every_kind
def test_the_encoding_is_the_distinguished_one(kind: str, stamped: bool) -> None:
    """The members of each set in the order of their encodings, and nothing longer than it has to be."""
    whole = contents(ours(kind, stamped))
    data, signer = of(ours(kind, stamped))
    for members in (data["digest_algorithms"], data["certificates"], signer["signed_attrs"]):
        encoded = [member.dump() for member in members]
        assert encoded == sorted(encoded)
    _minimal(whole)


def _minimal(encoded: bytes) -> None:
    """Every length, to the bottom: definite, and in as few bytes as can be."""
    while encoded:
        tag, first = encoded[0], encoded[1]
        assert first != 0x80
        more = first & 0x7F if first > 0x80 else 0
        length = int.from_bytes(encoded[2 : 2 + more], "big") if more else first
        body, encoded = encoded[2 + more : 2 + more + length], encoded[2 + more + length :]
        if more:
            assert length >= 0x80 and length.bit_length() > 8 * (more - 1)
        if tag & 0x20:
            _minimal(body)


def make_bare_cms(key: LocalKey) -> bytes:
    digest = hashlib.new(key.public.digest).digest()
    return key.public.build_cms(key.public.build_signer_info(digest, *key.sign([digest])))


@every_kind
def test_the_place_of_a_signature_has_some_room_to_spare_and_not_much(kind: str) -> None:
    key = load_key(a_seal(BETWEEN, kind).credential)
    longest = max(len(make_bare_cms(key)) for _ in range(20))
    assert 100 < key.public.longest_cms + SLACK - longest < 400


@every_kind
def test_the_time_stamp_is_over_the_signature(kind: str) -> None:
    _, signer = of(ours(kind, stamped=True))
    token = attributes(signer, "unsigned_attrs")[STAMP]["content"]
    stated: tsp.TSTInfo = token["encap_content_info"]["content"].parsed
    imprint = stated["message_imprint"]
    assert imprint["hash_algorithm"]["algorithm"].native == "sha256"
    assert imprint["hashed_message"].native == hashlib.sha256(signer["signature"].native).digest()


@both_levels
@every_kind
def test_openssl_reads_and_accepts_it(kind: str, stamped: bool, tmp_path: Path) -> None:
    """As a CAdES signature, so that the named certificate is held against the signing one."""
    pdf = ours(kind, stamped)
    (tmp_path / "seal.der").write_bytes(contents(pdf))
    (tmp_path / "covered").write_bytes(read_covered_bytes(pdf))
    (tmp_path / "root.pem").write_bytes(pem(ROOT.der))
    verify = (
        *("openssl", "cms", "-verify", "-binary", "-cades", "-inform", "DER", "-in", "seal.der"),
        *("-CAfile", "root.pem", "-purpose", "any", "-attime", str(NOW // 1000), "-out", "/dev/null"),
    )
    status, said = run(tmp_path, *verify, "-content", "covered")
    assert status == 0, said
    status, said = run(tmp_path, "openssl", "cms", "-cmsout", "-print", "-inform", "DER", "-in", "seal.der")
    assert status == 0, said
    (listed,) = re.findall(r"signedAttrs:(.*?)\n *signatureAlgorithm:", said, re.DOTALL)
    found = re.findall(r"object: (\S+)", listed)
    assert sorted(found) == ["contentType", "id-smime-aa-signingCertificateV2", "messageDigest"]
    (tmp_path / "covered").write_bytes(read_covered_bytes(pdf)[:-1] + b"x")
    status, said = run(tmp_path, *verify, "-content", "covered")
    assert status != 0 and "content verify error" in said
