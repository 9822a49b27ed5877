"""The certificates made here are renewed in time, and what was sealed before stays what it was."""

import os
import subprocess
from pathlib import Path

import pytest
from asn1crypto.cms import ContentInfo
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from esign import authority
from esign.authority import AuthorityError, Keyring, SealAuthority, SealFiles
from esign.authority.make_certificates import DOCUMENT_SIGNING
from esign.authority.selection import load_or_make_authority
from esign.core.actor import Mode
from esign.core.instant import DAY
from esign.core.seal_credential import Credential
from esign.pdf.verify.validate import verify_signatures
from esign.system.clock import SystemClock
from tests.authority.test_authority import certificate_of, common_name, issuer_of
from tests.pdf.forging import parts
from tests.pdf.local_seal import load_key, seal_document
from tests.pdf.sealing import a_pdf, an_order
from tests.pki import NOW, a_seal, an_authority

YEAR = 365 * DAY
DUE = NOW + 1096 * DAY - 90 * DAY  # when the first seal certificate has 90 days left


def load(folder: Path, now: int = NOW) -> SealAuthority:
    return load_or_make_authority(folder, "Acme Ltd", now)


def days_left(keys: SealAuthority, now: int) -> int:
    return int((certificate_of(keys.live).not_valid_after_utc.timestamp() * 1000 - now) // DAY)


def test_a_seal_is_renewed_ninety_days_before_its_end_and_not_earlier(tmp_path: Path) -> None:
    first = load(tmp_path)
    assert load(tmp_path, DUE - DAY) == first
    second = load(tmp_path, DUE)
    for was, now in ((first.live, second.live), (first.test, second.test)):
        assert now.key_der != was.key_der and now.certificate_der != was.certificate_der
        assert now.anchor_der == was.anchor_der, "readers who trust the authority trust it still"
        assert common_name(certificate_of(now)) == common_name(certificate_of(was))
    assert days_left(second, DUE) == 1096
    assert second.roots == first.roots and not second.warnings
    assert {path.name for path in tmp_path.glob("seal*")} == {
        "seal.key",
        "seal.pem",
        "seal-2.key",
        "seal-2.pem",
    }
    assert load(tmp_path, DUE + DAY) == second


def test_what_was_sealed_before_a_renewal_stays_valid_and_names_its_own_certificate(tmp_path: Path) -> None:
    first = load(tmp_path)
    before = seal_document(an_order(a_pdf(), now=DUE - DAY), first.live)
    second = load(tmp_path, DUE)
    after = seal_document(an_order(a_pdf(), now=DUE), second.live)
    for sealed, keys in ((before, first), (after, second)):
        found = verify_signatures(sealed.sealed, [], DUE, own=second.roots)
        assert (found["result"], found["issuedHere"]) == ("valid", True)
        assert sealed.certificate_sha256 == load_key(keys.live).sha256
        certificate = found["signatures"][0]["certificate"]
        assert certificate and certificate["sha256"] == sealed.certificate_sha256


def test_the_name_of_the_organisation_stays_that_of_the_certificate_before(tmp_path: Path) -> None:
    load(tmp_path)
    renewed = load_or_make_authority(tmp_path, "A name that came later", DUE)
    assert common_name(certificate_of(renewed.live)) == "Acme Ltd Document Seal"


def test_over_forty_years_there_is_always_a_whole_seal_and_everything_ever_made_is_trusted(
    tmp_path: Path,
) -> None:
    """Looked at once in a month, as by a server that runs for years: the authority never ends before its seal."""
    anchors: dict[bytes, None] = {}
    announced = 0
    for month in range(12 * 40):
        now = NOW + month * 30 * DAY
        keys = load(tmp_path, now)
        assert not keys.warnings and days_left(keys, now) >= 60
        issuer = issuer_of(keys.live)
        assert certificate_of(keys.live).not_valid_after_utc <= issuer.not_valid_after_utc
        before = list(anchors)
        anchors[keys.live.anchor_der] = None
        assert set(before) <= set(keys.roots)
        if keys.following is not None:
            announced += 1
            assert keys.following in keys.roots and "changes soon" in keys.notices[0].brief
        else:
            assert not keys.notices
    names = [common_name(x509.load_der_x509_certificate(der)) for der in anchors]
    assert names[:3] == ["Acme Ltd Authority", "Acme Ltd Authority 2", "Acme Ltd Authority 3"]
    assert announced >= 12, "each new authority can be made known for months before it issues a seal"


@pytest.mark.parametrize("gone", [("seal-2.pem",), ("seal-2.pem", "seal-2.key")])
def test_a_crash_in_the_middle_of_a_renewal_leaves_a_usable_pair(
    tmp_path: Path, gone: tuple[str, ...]
) -> None:
    first, second = load(tmp_path), load(tmp_path, DUE)
    key = (tmp_path / "seal-2.key").read_bytes()
    for name in gone:
        (tmp_path / name).unlink()
    assert load(tmp_path, DUE - DAY).live == first.live, "the pair before is in use"
    again = load(tmp_path, DUE)
    assert again.live.certificate_der not in (first.live.certificate_der, second.live.certificate_der)
    assert ((tmp_path / "seal-2.key").read_bytes() == key) == (len(gone) == 1)
    load_key(again.live)


def test_where_no_new_file_can_be_written_sealing_goes_on_with_the_old_one(tmp_path: Path) -> None:
    first = load(tmp_path)
    (tmp_path / f".seal-2.key.{os.getpid()}.part").mkdir()
    kept = load(tmp_path, DUE)
    assert kept.live == first.live and not kept.warnings
    [notice] = kept.notices
    assert notice.brief == "seal certificate ends soon"
    assert (
        "ends on 2029-11-21 and cannot be renewed" in notice.sentence
        and "cannot be written" in notice.sentence
    )


def test_an_authority_whose_key_is_kept_elsewhere_asks_for_it_in_time(tmp_path: Path) -> None:
    first = load(tmp_path)
    key = (tmp_path / "authority.key").rename(tmp_path / "elsewhere")
    assert load(tmp_path, DUE - DAY).notices == ()
    asking = load(tmp_path, DUE)
    assert asking.live == first.live
    assert "authority.key is missing; put it back in its place" in asking.notices[0].sentence
    key.rename(tmp_path / "authority.key")
    assert load(tmp_path, DUE).live != first.live


def test_what_was_made_while_the_clock_was_wrong_does_no_harm(tmp_path: Path) -> None:
    first = load(tmp_path)
    wrong = load(tmp_path, NOW + 24 * YEAR)
    assert wrong.live != first.live and not wrong.warnings
    assert load(tmp_path).live == first.live
    renewed = load(tmp_path, DUE)
    assert renewed.live.anchor_der == first.live.anchor_der and days_left(renewed, DUE) == 1096


def test_a_seal_is_made_anew_in_another_name(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path, "esign", NOW, None)
    before, after = keyring.make_anew("Fern & Söhne", NOW)
    assert common_name(certificate_of(before.live)) == "esign Document Seal"
    assert common_name(certificate_of(after.live)) == "Fern & Söhne Document Seal"
    assert common_name(issuer_of(after.live)) == "Fern & Söhne Authority 2"
    assert before.live.anchor_der in after.roots and after.test == before.test
    assert keyring.credentials[Mode.LIVE] == after.live
    assert load_or_make_authority(tmp_path, "esign", NOW).live.forget_key() == after.live, (
        "a restart finds it"
    )
    renewed = load_or_make_authority(tmp_path, "esign", DUE)
    assert renewed.live.anchor_der == after.live.anchor_der


# ---------- uploaded ----------


def material() -> authority.SealMaterial:
    issued = a_seal(an_authority())
    return authority.SealMaterial(issued.key, issued.certificate, issued.issuers)


def test_an_uploaded_seal_is_used_until_one_goes_back_and_stays_trusted(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path, "Acme Ltd", NOW, None)
    held = keyring.credentials
    made_here = held[Mode.LIVE]
    before, after = keyring.upload(material(), NOW)
    assert (before.origin, after.origin) == ("made", "uploaded")
    assert held[Mode.LIVE] == after.live != made_here, "whoever holds the mapping sees the change"
    assert held[Mode.TEST] == before.test
    found = load(tmp_path).live
    assert found.forget_key() == after.live and not after.live.key_der, "a restart finds it"
    for kept in (found, load(tmp_path).test):
        assert keyring.read_key(kept.certificate_der) == kept.key_der
    assert made_here.anchor_der in after.roots
    whole = (tmp_path / "seal.pem").read_bytes()
    (tmp_path / "seal.pem").write_text("damaged")
    assert keyring.read_key(found.certificate_der) == found.key_der, "another file is damaged, not this one"
    (tmp_path / "seal.pem").write_bytes(whole)
    file = tmp_path / "uploaded-seal.pem"
    assert file.stat().st_mode & 0o777 == 0o600 and b"PRIVATE KEY" in file.read_bytes()
    _, back = keyring.go_back(NOW)
    assert back.live == made_here and back.origin == "made"
    with pytest.raises(AuthorityError, match="not in its file any more"):
        keyring.read_key(after.live.certificate_der)
    assert after.live.anchor_der in back.roots
    assert set(back.roots) == set(authority.find_known_roots(tmp_path))
    assert not file.exists()
    left = b"".join(path.read_bytes() for path in tmp_path.glob("sealed-with-*"))
    assert b"CERTIFICATE" in left and b"PRIVATE" not in left


def test_an_uploaded_seal_that_is_damaged_is_named_and_not_passed_over(tmp_path: Path) -> None:
    Keyring(tmp_path, "Acme Ltd", NOW, None).upload(material(), NOW)
    (tmp_path / "uploaded-seal.pem").write_bytes(b"junk")
    with pytest.raises(AuthorityError, match=r"uploaded-seal\.pem is damaged; restore it .* or move it away"):
        load(tmp_path)


def test_what_is_configured_comes_before_what_was_uploaded(tmp_path: Path) -> None:
    Keyring(tmp_path, "Acme Ltd", NOW, None).upload(material(), NOW)
    configured = a_seal(an_authority("Other Root"), "p384")
    (tmp_path / "own.p12").write_bytes(configured.pkcs12("right"))
    found = load_or_make_authority(tmp_path, "Acme Ltd", NOW, SealFiles(tmp_path / "own.p12", None, "right"))
    assert found.origin == "configured" and found.live.certificate_der == configured.der
    assert found.live.anchor_der in authority.find_known_roots(tmp_path), (
        "it stays trusted without the setting"
    )


def test_a_file_that_cannot_be_used_leaves_a_running_program_as_it_is(tmp_path: Path) -> None:
    bundle = tmp_path / "own.p12"
    bundle.write_bytes(a_seal(an_authority()).pkcs12("right"))
    keyring = Keyring(tmp_path, "Acme Ltd", NOW, SealFiles(bundle, None, "right"))
    before = keyring.credentials[Mode.LIVE]
    bundle.write_bytes(b"half a fi")
    with pytest.raises(AuthorityError, match="not a PKCS#12 file"):
        keyring.refresh(NOW)
    assert keyring.credentials[Mode.LIVE] == before
    bundle.write_bytes(a_seal(an_authority(), "p384").pkcs12("right"))
    keyring.refresh(NOW)
    assert keyring.credentials[Mode.LIVE] != before, "a file put in its place is taken without a restart"


# ---------- the profile of certificates made before ----------


def with_old_profile(folder: Path) -> SealAuthority:
    """What an installation has whose certificates name document signing alone, as they did until November 2026."""
    made = load(folder)
    for prefix, mode in (("", made.live), ("test-", made.test)):
        key = load_pem_private_key((folder / f"{prefix}authority.key").read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        (folder / f"{prefix}seal.pem").write_bytes(
            reissue_certificate(certificate_of(mode), key).public_bytes(Encoding.PEM)
        )
    return made


def reissue_certificate(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """The same with another purpose."""
    builder = (
        x509.CertificateBuilder(certificate.issuer, certificate.subject, certificate.public_key(), 7)
        .not_valid_before(certificate.not_valid_before_utc)
        .not_valid_after(certificate.not_valid_after_utc)
    )
    for extension in certificate.extensions:
        old = isinstance(extension.value, x509.ExtendedKeyUsage)
        value = x509.ExtendedKeyUsage([DOCUMENT_SIGNING]) if old else extension.value
        builder = builder.add_extension(value, extension.critical)
    return builder.sign(key, SHA256())


def old_seal(folder: Path, prefix: str = "") -> Credential:
    """The seal of the old profile, as it was used before the renewal."""
    key = load_pem_private_key((folder / f"{prefix}seal.key").read_bytes(), None)
    certificate, issuer = (
        x509.load_pem_x509_certificate((folder / f"{prefix}{name}.pem").read_bytes())
        for name in ("seal", "authority")
    )
    return Credential(
        key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        certificate.public_bytes(Encoding.DER),
        (issuer.public_bytes(Encoding.DER),),
    )


def test_a_certificate_of_the_old_profile_is_renewed_under_the_same_authority(tmp_path: Path) -> None:
    made = with_old_profile(tmp_path)
    before = seal_document(an_order(a_pdf()), old_seal(tmp_path))
    renewed = load(tmp_path)
    for was, now in ((made.live, renewed.live), (made.test, renewed.test)):
        purposes = certificate_of(now).extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert set(purposes) == {DOCUMENT_SIGNING, x509.OID_EMAIL_PROTECTION}
        assert now.anchor_der == was.anchor_der and now.key_der != was.key_der
        assert common_name(certificate_of(now)) == common_name(certificate_of(was))
    assert renewed.roots == made.roots and not renewed.warnings and not renewed.notices
    assert load(tmp_path) == renewed, "once"
    for sealed in (before, seal_document(an_order(a_pdf()), renewed.live)):
        found = verify_signatures(sealed.sealed, [], NOW, own=renewed.own)
        assert (found["result"], found["issuedHere"]) == ("valid", True)


def test_a_running_program_renews_the_old_profile_by_itself(tmp_path: Path) -> None:
    load(tmp_path)
    keyring = Keyring(tmp_path, "Acme Ltd", NOW, None)
    with_old_profile(tmp_path)
    before, after = keyring.refresh(NOW)
    assert after.live.certificate_der != before.live.certificate_der
    assert keyring.read_history()[0].deed == "renewed"


def test_an_old_profile_is_kept_in_use_where_the_authority_is_away_and_its_key_is_asked_for(
    tmp_path: Path,
) -> None:
    with_old_profile(tmp_path)
    (tmp_path / "authority.key").rename(tmp_path / "elsewhere")
    asking = load(tmp_path)
    assert asking.live.certificate_der == old_seal(tmp_path).certificate_der and not asking.warnings
    [notice] = asking.notices
    assert notice.brief == "some PDF readers refuse the seal certificate"
    assert "authority.key is missing; put it back in its place" in notice.sentence
    (tmp_path / "elsewhere").rename(tmp_path / "authority.key")
    assert not load(tmp_path).notices


# ---------- other programs ----------


def ran(*command: str | Path) -> str:
    """What a program prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_nss_and_openssl_accept_a_seal_by_their_default_rules(tmp_path: Path) -> None:
    """OpenSSL asks a signer for the purpose smimesign, NSS for that of an e-mail signer."""
    now = SystemClock().now()  # these programs know no other time
    made = load(tmp_path / "now", now).live
    file = seal_document(an_order(a_pdf(), now=now), made).sealed
    (tmp_path / "sealed.pdf").write_bytes(file)
    root, own = tmp_path / "now" / "authority.pem", tmp_path / "now" / "seal.pem"
    ran("openssl", "verify", "-purpose", "smimesign", "-CAfile", root, own)
    whole = parts(file)
    (tmp_path / "cms").write_bytes(ContentInfo.load(whole.cms).dump())
    (tmp_path / "content").write_bytes(whole.before + whole.behind)
    ran(
        *("openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", tmp_path / "cms"),
        *("-content", tmp_path / "content", "-CAfile", root, "-out", tmp_path / "out"),
    )
    nss = tmp_path / "nss"
    nss.mkdir()
    ran("certutil", "-N", "-d", f"sql:{nss}", "--empty-password")
    ran("certutil", "-A", "-d", f"sql:{nss}", "-n", "root", "-t", "CT,C,C", "-i", root)
    ran("certutil", "-A", "-d", f"sql:{nss}", "-n", "seal", "-t", ",,", "-i", own)
    assert "certificate is valid" in ran("certutil", "-V", "-d", f"sql:{nss}", "-n", "seal", "-u", "S")
    said = ran("pdfsig", "-nssdir", f"sql:{nss}", tmp_path / "sealed.pdf")
    assert "Signature is Valid" in said and "Certificate is Trusted" in said
