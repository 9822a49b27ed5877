"""The files that somebody brings to seal with: each mistake is told with its remedy, and all of them at once."""

import base64
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from esign.authority import (
    AuthorityError,
    MaterialFindings,
    MaterialSource,
    SealFiles,
    SealMaterial,
    examine_material,
    load_or_make_authority,
    open_upload,
)
from esign.authority.checks import CONFIGURED_PEM
from esign.core.instant import DAY, to_datetime
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import a_pdf, an_order
from tests.pki import MADE, NOW, YEAR, Issued, a_key, a_seal, an_authority

ROOT = an_authority()
MIDDLE = an_authority("Issuing", above=ROOT)
SOURCE = MaterialSource("seal.key", "seal.pem", CONFIGURED_PEM)

# What today's libraries no longer make: a PKCS#12 file encrypted with RC2 (passphrase "right"), and a certificate
# issued with SHA-1, both of one key.
RC2 = base64.b64decode("""
MIIDmgIBAzCCA2AGCSqGSIb3DQEHAaCCA1EEggNNMIIDSTCCAj8GCSqGSIb3DQEHBqCCAjAwggIsAgEAMIICJQYJKoZIhvcNAQcB
MBwGCiqGSIb3DQEMAQYwDgQIt8Lr/W8FM+oCAggAgIIB+IT1GBXcMeK/ObL3uiosT2YV+eVvwYYBA3MsWv6kbnRqOgZUTyhazCXj
JUN8mI9oNjaJBXC9d/qpQYPN8gdYSYg+v6dB9xDyQHnz9Kj5RXXnIVArpLi4fOH/INSV1h7Ehc9lFuDEql4argoo4Pv7pRFr9uuA
lDW9hCDUSjOMVQT5k2DzKCwgkm32W8v9uPd5P4+hS4PvOU/gPwTNcVKJCJc6v81Ux1+AI4aV0zN/YTzjqUHzY1BbBEdV7oLrxrug
/OEZWiC2ZBHDbP8ybNMFvvwYOgxs7W0c8ntBArOoSIq3w2xGYNM/vl9J43KiUNquHCBQUNIkEqc0s4hbSAaIpHAQ5Vi6oFtECvJd
lv4kRFmY7BoZeqM9+IT25xWv8+QRRCOTOdsUo/mhUPo1G0O8F5QQLlJL6pRvcypoUrspqdMgjhavDnd+yNrvHQXgdgyaBgCtmG8p
CbSEsRF6TLDTt1sD+hZ3ZN7wXk9q3kxTy7QGFAXT+eWcK7kA9nzCIHyiAXNRCXgr1AjfJGfrXa6MiuYESoArD2wEbrjjcx6HwV2g
IVxm1emtZ6lOy2p6AKU3oDmdje08s45lF25UWYVvnnrpxjJ/cxhQm5ToZt6xtApOCjAViWhdFQK4IjVTM0VebStw10o+p0HpQEVB
x0RzPeJRrnd0UxD2wzCCAQIGCSqGSIb3DQEHAaCB9ASB8TCB7jCB6wYLKoZIhvcNAQwKAQKggbQwgbEwHAYKKoZIhvcNAQwBAzAO
BAiU/Oo3IrQRdAICCAAEgZASkUW6ljlMueWKlcEDaMcb10dFbxmJjn9943aIWcUfFXbNVX0q7nNpaMF3N66WBqkqCUl6vBsp6MFZ
eLdvGFWoTYLzTu00dhbnT0iEjB073tUmnOqk3yXvrAhrBMwG0yDASXl8cyFXSiu/vuFkmqaPwQ3DrJCIme8jyHDoXhcgAwHPjfng
JXx5u7fALJYwI+AxJTAjBgkqhkiG9w0BCRUxFgQUiBsfY9cCty6KkudL7c0laot5n6EwMTAhMAkGBSsOAwIaBQAEFHLG18rVjZ35
JAH1UGfZen/pESs4BAhI+JK1co43mQICCAA=
""")
SHA1 = b"""
-----BEGIN CERTIFICATE-----
MIIBmjCCAUCgAwIBAgIUFGpDryYQa/9gEx6jPqgX5zegmp8wCQYHKoZIzj0EATAd
MRswGQYDVQQDDBJBY21lIERvY3VtZW50IFNlYWwwIBcNMjYxMTIyMTYzMTU3WhgP
MjEyNjEwMjkxNjMxNTdaMB0xGzAZBgNVBAMMEkFjbWUgRG9jdW1lbnQgU2VhbDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABCR9GtmGUIlefxB15NLtRdjmkQSl8jzz
mMVslAIAxmkhDjInPY7dWOnAhJ+1qr7IhSMBFZwFTzug90z9niUYY5SjXTBbMB0G
A1UdDgQWBBRm4Cc0h8XiXjf/pmdquq2x8tWCIzAfBgNVHSMEGDAWgBRm4Cc0h8Xi
Xjf/pmdquq2x8tWCIzAMBgNVHRMBAf8EAjAAMAsGA1UdDwQEAwIHgDAJBgcqhkjO
PQQBA0kAMEYCIQCQuEqBgoqHjRMtZpcTRHOytX2VY5HkARqTN6eBZbS3bQIhAJ0p
KykqNzki159ipKeGI9xy4ABlU3eveRVhVWKtZZE3
-----END CERTIFICATE-----
"""
KEY = b"""
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQ3VdyGqVnUSAkK/8
3+RiFAb4+uOfpCZ/uaPb5LBa2G2hRANCAAQkfRrZhlCJXn8QdeTS7UXY5pEEpfI8
85jFbJQCAMZpIQ4yJz2O3VjpwISftaq+yIUjARWcBU87oPdM/Z4lGGOU
-----END PRIVATE KEY-----
"""


def bring_material(issued: Issued) -> SealMaterial:
    return SealMaterial(issued.key, issued.certificate, issued.issuers)


def examine_issued(issued: Issued, now: int = NOW) -> MaterialFindings:
    return examine_material(bring_material(issued), to_datetime(now), SOURCE)


# ---------- what a certificate may be ----------

SERVERS = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),)
BOTH = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),)
MIXED = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.EMAIL_PROTECTION]),)
CA = (x509.BasicConstraints(ca=True, path_length=None),)


@pytest.mark.parametrize(
    "issued",
    [
        a_seal(MIDDLE),
        a_seal(MIDDLE, "rsa"),
        a_seal(MIDDLE, usage=("digital_signature",)),
        a_seal(MIDDLE, usage=("content_commitment",)),
        a_seal(MIDDLE, extensions=MIXED),
    ],
)
def test_a_good_pair_has_nothing_against_it(issued: Issued) -> None:
    assert examine_issued(issued) == MaterialFindings((), None, ())


@pytest.mark.parametrize(
    ("issued", "said", "remedy"),
    [
        (a_seal(ROOT, "rsa1024"), "seal.key holds a weak key, RSA with 1024 bits", "use RSA with 2048 bits"),
        (a_seal(ROOT, "p192"), "seal.key holds a weak key, on the curve secp192r1", "use RSA with 2048 bits"),
        (a_seal(ROOT, "k256"), "seal.key holds a key that cannot seal", "use RSA with 2048 bits"),
        (a_seal(ROOT, extensions=CA), "is that of a certification authority (CA:TRUE)", "made with CA:FALSE"),
        (
            a_seal(ROOT, usage=("key_encipherment",)),
            "its key usage names neither digitalSignature nor nonRepudiation",
            "It must be issued for signing documents.",
        ),
        (
            a_seal(ROOT, extensions=SERVERS),
            "is only for serverAuth (extended key usage)",
            "It must be issued for signing documents.",
        ),
        (a_seal(ROOT, extensions=BOTH), "is only for clientAuth, serverAuth", "issued for signing"),
    ],
)
def test_what_forbids_a_seal_is_told_with_its_remedy(issued: Issued, said: str, remedy: str) -> None:
    [problem] = examine_issued(issued).problems
    _, found, advice = problem.partition(said)
    assert found and remedy in advice


def test_a_key_of_another_certificate_is_told() -> None:
    pair = SealMaterial(a_key("p384"), a_seal(ROOT).certificate, ROOT.issuers)
    [problem] = examine_material(pair, to_datetime(NOW), SOURCE).problems
    assert problem == "The key in seal.key does not belong to its certificate; put the matching two in place."


def test_a_certificate_issued_with_sha1_is_told() -> None:
    certificate = x509.load_pem_x509_certificate(SHA1)
    at = certificate.not_valid_before_utc + timedelta(days=1)
    [problem] = examine_material(
        SealMaterial(load_pem_private_key(KEY, None), certificate), at, SOURCE
    ).problems
    assert "“Acme Document Seal” in seal.pem was issued with SHA-1" in problem
    assert problem.endswith("It must be issued with SHA-256.")


ECDSA_SHA256, SM2_SM3 = bytes.fromhex("06082a8648ce3d040302"), bytes.fromhex("06082a811ccf55018375")
KEY_USAGE, CONSTRAINTS = bytes.fromhex("0603551d0f"), bytes.fromhex("0603551d13")


@pytest.mark.parametrize(
    ("found", "put"),
    [(ECDSA_SHA256, SM2_SM3), (KEY_USAGE, CONSTRAINTS)],
    ids=["another algorithm", "a damaged extension"],
)
def test_a_certificate_of_which_a_part_cannot_be_read_is_told(found: bytes, put: bytes) -> None:
    issued = a_seal(ROOT)
    der = issued.certificate.public_bytes(Encoding.DER)
    assert found in der
    odd = base64.encodebytes(der.replace(found, put))
    file = b"-----BEGIN CERTIFICATE-----\n" + odd + b"-----END CERTIFICATE-----\n" + issued.key_pem()
    material, source = open_upload([("seal.pem", file)], None)
    with pytest.raises(
        AuthorityError, match=r"seal\.pem, or one above it, is damaged or .*\. Choose another"
    ):
        examine_material(material, to_datetime(NOW), source)


def test_a_certificate_of_a_version_that_there_is_not_is_told() -> None:
    issued = a_seal(ROOT)
    der = issued.certificate.public_bytes(Encoding.DER).replace(b"\xa0\3\2\1\2", b"\xa0\3\2\1\x50")
    file = b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"
    with pytest.raises(AuthorityError, match="holds no certificate in PEM"):
        open_upload([("seal.pem", file + issued.key_pem())], None)


def test_dates_are_told_with_the_day() -> None:
    late = examine_issued(a_seal(ROOT, last=MADE + timedelta(days=9)))
    assert late.dates == (
        "The seal certificate in seal.pem expired on 2026-01-10. Set seal.certificate and seal.key to another one."
    )
    early = examine_issued(a_seal(ROOT, first=MADE + YEAR)).dates
    assert early and "is not valid before 2027-01-01; check the server’s clock. Set seal.certificate" in early
    assert not late.problems, "a date alone stops no server: seals wait"


def test_the_missing_issuer_is_named_but_forbids_nothing() -> None:
    alone = Issued(a_key("p256"), a_seal(MIDDLE).certificate)
    [notice] = examine_issued(alone).notices
    assert notice.brief == "chain of the seal certificate not complete"
    assert (
        "the certificate of “Issuing”, which issued “Acme Ltd Document Seal”, is missing" in notice.sentence
    )
    assert notice.sentence.endswith("add it.")
    half = Issued(alone.key, alone.certificate, (MIDDLE.certificate,))
    assert "“Test Root”, which issued “Issuing”, is missing" in examine_issued(half).notices[0].sentence
    assert not examine_issued(alone).problems


def test_an_issuer_of_the_same_name_with_another_key_is_not_taken_for_the_issuer() -> None:
    namesake = Issued(a_key("p384"), an_authority("Test Root", "p384").certificate)
    seal_of_root = a_seal(ROOT)
    pair = SealMaterial(seal_of_root.key, seal_of_root.certificate, (namesake.certificate, ROOT.certificate))
    assert pair.credential.chain_der == (ROOT.der,)
    wrong = SealMaterial(seal_of_root.key, seal_of_root.certificate, (namesake.certificate,))
    assert "is missing" in examine_material(wrong, to_datetime(NOW), SOURCE).notices[0].sentence


def test_an_end_that_comes_near_is_told_sixty_days_before() -> None:
    ending = a_seal(ROOT, last=to_datetime(NOW + 59 * DAY))
    [notice] = examine_issued(ending).notices
    assert notice.brief == "seal certificate ends soon"
    assert "ends on 2027-01-19; replace it before that day. Set seal.certificate" in notice.sentence
    assert examine_issued(a_seal(ROOT, last=to_datetime(NOW + 61 * DAY))).notices == ()


def test_an_issuer_that_has_expired_is_told() -> None:
    [notice] = examine_issued(a_seal(ROOT, last=MADE + 15 * YEAR), NOW + 12 * 365 * DAY).notices
    assert "“Test Root” in seal.pem expired on" in notice.sentence


def test_everything_is_told_at_once() -> None:
    bad = a_seal(
        MIDDLE, "rsa1024", last=MADE + timedelta(days=9), usage=("key_agreement",), extensions=SERVERS + CA
    )
    pair = SealMaterial(bad.key, bad.certificate)
    told = examine_material(pair, to_datetime(NOW), SOURCE)
    assert len(told.problems) == 4 and told.dates and len(told.notices) == 1


# ---------- files ----------


def load_pkcs12(folder: Path, content: bytes, passphrase: str | None = "right") -> None:
    (folder / "own.p12").write_bytes(content)
    load_or_make_authority(folder, "Acme Ltd", NOW, SealFiles(folder / "own.p12", None, passphrase))


def test_all_problems_of_a_configured_file_stand_in_one_message(tmp_path: Path) -> None:
    bad = a_seal(ROOT, "rsa1024", extensions=SERVERS)
    with pytest.raises(
        AuthorityError, match=r"weak key.*only for serverAuth.*Set seal\.pkcs12 to another one"
    ) as error:
        load_pkcs12(tmp_path, bad.pkcs12("right"))
    assert len(error.value.problems) == 2


def test_an_old_pkcs12_file_is_opened_where_the_library_still_can(tmp_path: Path) -> None:
    load_pkcs12(tmp_path, RC2)
    with pytest.raises(AuthorityError, match="the passphrase is wrong"):
        load_pkcs12(tmp_path, RC2, "wrong")


def test_a_pem_file_in_its_place_is_told_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(AuthorityError, match=r"or name PEM files as seal\.certificate and seal\.key\."):
        load_pkcs12(tmp_path, a_seal(ROOT).pem)


def test_where_it_no_longer_can_the_algorithm_is_named_with_how_to_convert(tmp_path: Path) -> None:
    (tmp_path / "own.p12").write_bytes(RC2)
    (tmp_path / "new.p12").write_bytes(a_seal(ROOT).pkcs12("right"))
    code = """if True:
        from pathlib import Path
        from esign.authority import AuthorityError, SealFiles
        for name, passphrase in (("own.p12", "right"), ("new.p12", "right"), ("new.p12", "wrong")):
            try:
                SealFiles(Path(name), None, passphrase).read_material()
                print("opened")
            except AuthorityError as error:
                print(error)
    """
    without = os.environ | {
        "CRYPTOGRAPHY_OPENSSL_NO_LEGACY": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=without,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    old, new, wrong = ran.stdout.splitlines()
    assert "own.p12 is encrypted with RC2, a legacy algorithm" in old
    assert "; convert it" in old and "openssl pkcs12 -legacy -in old.p12" in old
    assert new == "opened"
    assert "the passphrase is wrong" in wrong


def pem(folder: Path, certificates: bytes, key: bytes, passphrase: str | None = None) -> SealFiles:
    (folder / "seal.crt").write_bytes(certificates)
    (folder / "seal.pem").write_bytes(key)
    return SealFiles(folder / "seal.crt", folder / "seal.pem", passphrase)


@pytest.mark.parametrize("passphrase", [None, "right"])
def test_certificates_and_key_in_pem_seal_and_verify(tmp_path: Path, passphrase: str | None) -> None:
    own = a_seal(MIDDLE)
    upside_down = b"".join(
        one.public_bytes(Encoding.PEM) for one in (ROOT.certificate, MIDDLE.certificate, own.certificate)
    )
    made = load_or_make_authority(
        tmp_path, "Acme Ltd", NOW, pem(tmp_path, upside_down, own.key_pem(passphrase), passphrase)
    )
    assert made.live == own.credential and made.origin == "configured"
    assert not made.notices and not made.warnings
    found = verify_signatures(seal_document(an_order(a_pdf()), made.live).sealed, [], NOW, own=made.roots)
    assert (found["result"], found["issuedHere"]) == ("valid", True)


def test_a_key_without_passphrase_does_not_mind_one_and_may_share_its_file(tmp_path: Path) -> None:
    own = a_seal(MIDDLE)
    both = own.pem + own.key_pem()
    assert (
        load_or_make_authority(tmp_path, "Acme Ltd", NOW, pem(tmp_path, both, both, "needless")).live
        == own.credential
    )


@pytest.mark.parametrize(
    ("certificates", "key", "passphrase", "said"),
    [
        (
            b"\x30\x82",
            a_seal(ROOT).key_pem(),
            None,
            r"seal\.crt holds no certificate in PEM .*; convert it: openssl x509",
        ),
        (
            a_seal(ROOT).key_pem(),
            a_seal(ROOT).key_pem(),
            None,
            r"seal\.crt holds a private key and no certificate; give the file of its certificate",
        ),
        (
            a_seal(ROOT).pem,
            b"\x30\x82",
            None,
            r"seal\.pem holds no private key in PEM .*; convert it: openssl pkey",
        ),
        (a_seal(ROOT).pem, a_seal(ROOT).pem, None, r"seal\.pem holds no private key in PEM"),
        (
            a_seal(ROOT).pem,
            a_seal(ROOT).key_pem("right"),
            "wrong",
            r"the passphrase is wrong .*\. Check seal\.passphrase",
        ),
        (
            a_seal(ROOT).pem,
            a_seal(ROOT).key_pem("right"),
            None,
            "needs a passphrase. Give it as seal.passphrase",
        ),
        (
            a_seal(ROOT).pem,
            a_seal(ROOT).key_pem().replace(b"MI", b"XX", 1),
            None,
            "the file is damaged. Check",
        ),
        (a_seal(ROOT).pem, a_seal(ROOT, "p384").key_pem(), None, "does not belong to its certificate; put"),
    ],
)
def test_pem_files_that_cannot_be_used_are_told_with_a_remedy(
    tmp_path: Path, certificates: bytes, key: bytes, passphrase: str | None, said: str
) -> None:
    with pytest.raises(AuthorityError, match=said):
        load_or_make_authority(tmp_path, "Acme Ltd", NOW, pem(tmp_path, certificates, key, passphrase))


# ---------- files as openssl makes them ----------


def make_folder(folder: Path, *commands: str) -> Path:
    for command in commands:
        subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, check=True, timeout=60)
    return folder


PSS = "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out own.key"
NUMBERS = "ecparam -genkey -name prime256v1 -param_enc explicit -out own.key"
SHORT = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out long.key"
SHORTENED = "ec -in long.key -conv_form compressed -out own.key"
BRAINPOOL = "ecparam -genkey -name brainpoolP256r1 -out own.key"
BINARY = "ecparam -genkey -name sect283k1 -out own.key"
SELF = "req -x509 -key own.key -out own.crt -subj /CN=Own -days 9 -addext basicConstraints=CA:FALSE"
BUNDLE = "pkcs12 -export -inkey own.key -in own.crt -passout pass:right -out own.p12"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            (PSS,),
            r"is only for RSASSA-PSS signatures.*Set seal\.pkcs12 to another one\. .* for a plain RSA key",
        ),
        (
            (NUMBERS,),
            r"its key in an unusual form, the curve by its numbers.*Set seal\.pkcs12 .* have a name",
        ),
        ((SHORT, SHORTENED), r"in an unusual form, .* or the point compressed, which PDF readers refuse"),
        ((BINARY,), r"own\.p12 holds a key that cannot seal; use RSA"),
    ],
    ids=["RSA-PSS", "a curve by its numbers", "a compressed point", "a binary curve"],
)
def test_a_key_with_which_no_seal_would_hold_is_refused_before_one_is_made(
    tmp_path: Path, commands: tuple[str, ...], said: str
) -> None:
    make_folder(tmp_path, *commands, SELF, BUNDLE)
    with pytest.raises(AuthorityError, match=said):
        load_or_make_authority(tmp_path, "Acme Ltd", NOW, SealFiles(tmp_path / "own.p12", None, "right"))


def test_a_key_in_pem_on_a_curve_that_is_not_known_is_told(tmp_path: Path) -> None:
    make_folder(tmp_path, BINARY, SELF)
    with pytest.raises(AuthorityError, match=r"own\.key holds a key that cannot seal; use RSA"):
        load_or_make_authority(
            tmp_path, "Acme Ltd", NOW, SealFiles(tmp_path / "own.crt", tmp_path / "own.key")
        )


def test_a_curve_that_not_everybody_knows_is_told_and_taken(tmp_path: Path) -> None:
    make_folder(tmp_path, BRAINPOOL, SELF)
    brought = SealFiles(tmp_path / "own.crt", tmp_path / "own.key").read_material()
    told = examine_material(brought, brought.certificate.not_valid_before_utc, SOURCE)
    notice, _soon = told.notices
    assert not told.problems and not told.dates
    assert notice.brief == "not every PDF reader knows the curve of the seal key"
    assert "seal.key holds a key on the curve brainpoolP256r1" in notice.sentence


@pytest.mark.parametrize("passphrase", ["right", "wrong"])
@pytest.mark.parametrize(
    "command",
    [
        "rsa -in plain.key -traditional -camellia256 -passout pass:right -out own.key",
        "pkcs8 -topk8 -in plain.key -v2 camellia256 -passout pass:right -out own.key",
    ],
)
def test_a_key_in_pem_under_a_cipher_that_is_not_known_is_not_blamed_on_the_passphrase(
    tmp_path: Path, command: str, passphrase: str
) -> None:
    own = a_seal(ROOT, "rsa")
    (tmp_path / "plain.key").write_bytes(own.key_pem())
    (tmp_path / "own.crt").write_bytes(own.pem)
    given = SealFiles(tmp_path / "own.crt", make_folder(tmp_path, command) / "own.key", passphrase)
    with pytest.raises(
        AuthorityError, match=r"own\.key is encrypted with a legacy or unusual algorithm.*; convert"
    ):
        given.read_material()


def test_a_key_in_pem_that_is_locked_and_damaged_is_called_so(tmp_path: Path) -> None:
    damaged = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nM\n-----END ENCRYPTED PRIVATE KEY-----\n"
    with pytest.raises(AuthorityError, match="the passphrase is wrong or the file is damaged"):
        pem(tmp_path, a_seal(ROOT).pem, damaged, "right").read_material()
