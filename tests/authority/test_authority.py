import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    load_der_private_key,
    pkcs12,
)
from cryptography.x509.oid import ObjectIdentifier

from esign import authority
from esign.authority import AuthorityError, SealAuthority, SealFiles
from esign.core.instant import DAY
from esign.core.seal_credential import TEST_MARK, Credential
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import a_pdf, an_order
from tests.pki import MADE, NOW, YEAR, Issued, a_seal, an_authority


def load(
    folder: Path, name: str = "Acme Ltd", now: int = NOW, file: Path | None = None, word: str | None = None
) -> SealAuthority:
    return authority.load_or_make_authority(folder, name, now, SealFiles(file, None, word) if file else None)


def certificate_of(credential: Credential) -> x509.Certificate:
    return x509.load_der_x509_certificate(credential.certificate_der)


def issuer_of(credential: Credential) -> x509.Certificate:
    return x509.load_der_x509_certificate(credential.anchor_der)


def common_name(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)


# ---------- self-made ----------


def test_the_first_start_makes_both_modes_and_the_next_finds_them(tmp_path: Path) -> None:
    made = load(tmp_path / "data")
    assert load(tmp_path / "data", now=NOW + 100 * DAY) == made
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "authority.key",
        "authority.pem",
        "seal.key",
        "seal.pem",
        "test-authority.key",
        "test-authority.pem",
        "test-seal.key",
        "test-seal.pem",
    ]


def test_what_it_makes_is_readable_by_its_user_alone(tmp_path: Path) -> None:
    load(tmp_path / "data")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()} == {0o600}


def test_a_seal_certificate_says_what_it_is_for(tmp_path: Path) -> None:
    extensions = certificate_of(load(tmp_path).live).extensions
    usage = extensions.get_extension_for_class(x509.KeyUsage).value
    assert usage.digital_signature and usage.content_commitment and not usage.key_cert_sign
    purposes = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [ObjectIdentifier("1.3.6.1.5.5.7.3.36"), x509.OID_EMAIL_PROTECTION]
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    assert common_name(certificate_of(load(tmp_path).live)) == "Acme Ltd Document Seal"


def test_a_seal_certificate_is_signed_by_the_authority_and_no_longer_valid_than_it(tmp_path: Path) -> None:
    made = load(tmp_path)
    for credential in (made.live, made.test):
        seal, issuer = certificate_of(credential), issuer_of(credential)
        seal.verify_directly_issued_by(issuer)
        issuer.verify_directly_issued_by(issuer)
        identifier = seal.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
        assert identifier == issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
        assert issuer.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
        assert seal.not_valid_after_utc <= issuer.not_valid_after_utc
    now = datetime.fromtimestamp(NOW / 1000, UTC)
    assert certificate_of(made.live).not_valid_after_utc - now > timedelta(days=3 * 365 - 1)
    assert issuer_of(made.live).not_valid_after_utc - now > timedelta(days=10 * 365 - 1)


def test_test_mode_has_an_authority_of_its_own_that_says_so(tmp_path: Path) -> None:
    made = load(tmp_path)
    assert TEST_MARK in common_name(certificate_of(made.test))
    assert TEST_MARK in common_name(issuer_of(made.test))
    assert TEST_MARK not in common_name(certificate_of(made.live))
    assert made.test.anchor_der != made.live.anchor_der
    assert made.roots == (made.live.anchor_der, made.test.anchor_der)


@pytest.mark.parametrize("name", ["", "  ", "A" * 300, "Łódź 😀 محمد", "two\nlines"])
def test_any_name_of_an_organisation_makes_a_certificate(tmp_path: Path, name: str) -> None:
    made = load(tmp_path, name)
    for credential in (made.live, made.test):
        assert 1 <= len(common_name(certificate_of(credential))) <= 64


def test_what_a_crash_left_half_done_is_finished(tmp_path: Path) -> None:
    made = load(tmp_path)
    (tmp_path / "seal.pem").unlink()
    again = load(tmp_path)
    assert again.live.key_der == made.live.key_der
    assert again.live.certificate_der != made.live.certificate_der
    assert again.roots == made.roots


def test_the_authoritys_key_may_be_kept_elsewhere(tmp_path: Path) -> None:
    made = load(tmp_path)
    (tmp_path / "authority.key").unlink()
    assert load(tmp_path) == made


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("seal.key", None, "seal.key cannot be read"),
        ("seal.key", b"junk", "seal.key is not a PEM private key"),
        ("seal.pem", b"junk", "seal.pem is not a PEM certificate"),
        ("authority.pem", None, "authority.pem cannot be read"),
    ],
)
def test_a_damaged_file_is_named_with_a_remedy(
    tmp_path: Path, file: str, content: bytes | None, said: str
) -> None:
    load(tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(AuthorityError, match=said) as error:
        load(tmp_path)
    assert "; " in str(error.value)


def test_a_certificate_without_its_key_is_never_replaced(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "authority.key").unlink()
    (tmp_path / "seal.pem").unlink()
    with pytest.raises(AuthorityError, match=r"authority\.pem exists without"):
        load(tmp_path)


def test_a_key_that_is_not_the_certificates_is_refused(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "seal.key").write_bytes((tmp_path / "authority.key").read_bytes())
    with pytest.raises(AuthorityError, match="does not belong to its certificate"):
        load(tmp_path)


def test_an_expired_seal_certificate_is_named_with_a_remedy(tmp_path: Path) -> None:
    """As happens where the key that would renew it is kept elsewhere."""
    load(tmp_path)
    (tmp_path / "authority.key").unlink()
    late = load(tmp_path, now=NOW + 4 * 365 * DAY)
    said = r"seal.pem expired on 2029-11-21\. .*authority.key is missing; put it back"
    assert re.search(said, late.warnings[0])
    assert len(late.warnings) == 1, "that of test mode was renewed"


def test_a_clock_before_the_certificate_is_named(tmp_path: Path) -> None:
    load(tmp_path)
    early = load(tmp_path, now=NOW - 365 * DAY)
    assert re.search(r"not valid before .* clock", early.warnings[0])


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"a file in its place")
    with pytest.raises(AuthorityError, match=r"data.*cannot be made"):
        load(tmp_path / "data")


# ---------- PKCS#12 ----------

ROOT = an_authority()
MIDDLE = an_authority("Issuing", above=ROOT)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "seal.p12"
    path.write_bytes(a_seal(MIDDLE).pkcs12("right"))
    return path


def test_what_is_sealed_here_is_known_by_the_certificate_and_not_by_who_issued_it(
    tmp_path: Path, bundle: Path
) -> None:
    made_here = load(tmp_path)
    assert made_here.live.anchor_der in made_here.own
    before = authority.find_known_own(tmp_path)
    made = load(tmp_path, file=bundle, word="right")
    assert set(made.own) == {made.live.certificate_der, *before}
    theirs = seal_document(an_order(a_pdf()), a_seal(MIDDLE, name="Somebody Else").credential).sealed
    ours = seal_document(an_order(a_pdf()), made.live).sealed
    for file, issued_here in ((theirs, False), (ours, True)):
        found = verify_signatures(file, made.roots, NOW, own=made.own)
        assert (found["result"], found["issuedHere"]) == ("valid", issued_here)
    assert made.live.certificate_der in load(tmp_path).own, "also when it is not used any more"
    assert authority.find_known_own(tmp_path / "nowhere", SealFiles(bundle, None, "right")) == (
        made.live.certificate_der,
    )


def test_a_pkcs12_file_gives_key_certificate_and_chain_in_order(tmp_path: Path, bundle: Path) -> None:
    made = load(tmp_path, file=bundle, word="right")
    assert common_name(certificate_of(made.live)) == "Acme Ltd Document Seal"
    assert made.live.chain_der == (MIDDLE.der, ROOT.der)
    assert made.live.anchor_der == made.roots[0] == ROOT.der
    load_der_private_key(made.live.key_der, None)
    assert TEST_MARK in common_name(certificate_of(made.test))
    assert not (tmp_path / "seal.key").exists()


def test_the_authorities_made_are_known_without_making_any(tmp_path: Path) -> None:
    assert authority.find_known_roots(tmp_path / "nowhere") == ()
    assert not (tmp_path / "nowhere").exists()
    assert authority.find_known_roots(tmp_path) == ()
    assert load(tmp_path).roots == authority.find_known_roots(tmp_path)


def test_an_authority_made_before_stays_trusted(tmp_path: Path, bundle: Path) -> None:
    before = load(tmp_path)
    assert before.live.anchor_der in load(tmp_path, file=bundle, word="right").roots


def test_the_anchor_of_the_configured_file_is_known_too(tmp_path: Path, bundle: Path) -> None:
    assert authority.find_known_roots(tmp_path, SealFiles(bundle, None, "right")) == (ROOT.der,)
    with pytest.raises(AuthorityError, match="passphrase"):
        authority.find_known_roots(tmp_path, SealFiles(bundle, None, "wrong"))


@pytest.mark.parametrize(
    ("word", "said"), [("wrong", "the passphrase is wrong"), (None, "needs a passphrase")]
)
def test_a_wrong_passphrase_is_said(tmp_path: Path, bundle: Path, word: str | None, said: str) -> None:
    with pytest.raises(AuthorityError, match=said):
        load(tmp_path, file=bundle, word=word)


def test_what_is_no_pkcs12_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "seal.p12").write_bytes(b"-----BEGIN CERTIFICATE-----")
    with pytest.raises(AuthorityError, match=r"not a PKCS#12 file\. Set seal\.pkcs12"):
        load(tmp_path, file=tmp_path / "seal.p12", word="right")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(AuthorityError, match="cannot be read"):
        load(tmp_path, file=tmp_path / "nowhere.p12", word="right")


def test_a_bundle_without_a_key_is_said(tmp_path: Path) -> None:
    only = pkcs12.serialize_key_and_certificates(
        b"x", None, ROOT.certificate, None, BestAvailableEncryption(b"right")
    )
    (tmp_path / "seal.p12").write_bytes(only)
    with pytest.raises(AuthorityError, match="holds no private key"):
        load(tmp_path, file=tmp_path / "seal.p12", word="right")


def test_an_expired_bundle_is_said(tmp_path: Path) -> None:
    expired = a_seal(ROOT, last=MADE + timedelta(days=9))
    (tmp_path / "seal.p12").write_bytes(expired.pkcs12("right"))
    late = load(tmp_path, file=tmp_path / "seal.p12", word="right")
    assert re.search(r"seal\.p12 expired on 2026-01-10\. Set seal\.pkcs12", late.warnings[0])


def test_a_bundle_whose_key_cannot_seal_is_said(tmp_path: Path) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    name = ROOT.certificate.subject
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 7)
        .not_valid_before(MADE)
        .not_valid_after(MADE + YEAR)
        .sign(key, None)
    )
    locked = BestAvailableEncryption(b"right")
    path = tmp_path / "seal.p12"
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"x", key, certificate, None, locked))
    with pytest.raises(AuthorityError, match="holds a key that cannot seal; use RSA"):
        load(tmp_path, file=path, word="right")


def test_what_is_made_seals_and_verifies(tmp_path: Path) -> None:
    made = load(tmp_path)
    sealed = seal_document(an_order(a_pdf()), made.live).sealed
    assert verify_signatures(sealed, [], NOW, own=made.roots)["issuedHere"] is True
    test = verify_signatures(
        seal_document(an_order(a_pdf(), mode="test"), made.test).sealed, [], NOW, own=made.roots
    )
    assert test["result"] == "valid"
    assert test["signatures"][0]["reasons"] == ["Sealed with a test certificate: no legal effect."]
    assert timedelta(0) < YEAR


# ---------- authorities of others ----------


def test_trusted_roots_come_from_files_and_folders_each_once(tmp_path: Path) -> None:
    (tmp_path / "one.pem").write_bytes(pem(ROOT) + pem(MIDDLE))
    (tmp_path / "two.der").write_bytes(ROOT.der)
    (tmp_path / "readme.txt").write_text("no certificate")
    assert authority.read_trusted_roots(()) == ()
    assert authority.read_trusted_roots([tmp_path]) == (ROOT.der, MIDDLE.der)
    assert authority.read_trusted_roots([tmp_path / "two.der", tmp_path / "one.pem"]) == (
        ROOT.der,
        MIDDLE.der,
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("junk.pem", b"junk", "not a certificate"),
        ("half.pem", b"-----BEGIN CERTIFICATE-----\n", "not a certificate"),
        ("none.pem", None, "cannot be read"),
        ("empty/x", b"", "holds no certificate"),
    ],
)
def test_a_place_without_certificate_is_named(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    if content is not None:
        place.write_bytes(content)
    with pytest.raises(AuthorityError, match=said):
        authority.read_trusted_roots([place.parent if "/" in name else place])


def test_the_system_s_store_is_what_openssl_would_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = b"-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
    (tmp_path / "roots.pem").write_bytes(b"Of this machine\n" + odd + pem(ROOT))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "roots.pem"))
    assert authority.read_trusted_roots(["system"]) == (ROOT.der,)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert authority.read_trusted_roots(["system"]) == (ROOT.der,)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    with pytest.raises(AuthorityError, match="no trust store"):
        authority.read_trusted_roots(["system"])


def pem(issued: Issued) -> bytes:
    return issued.certificate.public_bytes(Encoding.PEM)
