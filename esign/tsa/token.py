"""Write the request to a time-stamp authority, and check its answer before it is used (RFC 3161)."""

import hashlib
from datetime import datetime

from asn1crypto import algos, cms, core, tsp, x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm
from cryptography.hazmat.primitives.serialization import load_der_public_key

from esign.core.der import BOOLEAN, NULL, OCTETS, SEQUENCE, encode_der, encode_integer, encode_oid
from esign.core.instant import HOUR, Instant, to_datetime
from esign.core.sentence import say
from esign.core.timestamp import LARGEST, TimeStamp
from esign.pdf.verify import cms_envelope

SHA256_OID = "2.16.840.1.101.3.4.2.1"
DIGESTS: dict[str, HashAlgorithm] = {"sha256": SHA256(), "sha384": SHA384(), "sha512": SHA512()}
CLOCKS_APART = HOUR  # a larger difference means that one of the two clocks is wrong

# Exceptions of asn1crypto for bytes that are not the structure it expects.
BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)

NONE = "its answer isn’t a time stamp"


class UnusableToken(Exception):
    """The answer of an authority cannot be used; the message continues a sentence about the authority."""


class TimeStampResponse(core.Sequence):  # type: ignore[misc]  # asn1crypto has no types
    """The `TimeStampResp` of RFC 3161 with an optional token, which is missing in a refusal."""

    _fields = [  # noqa: RUF012  # how asn1crypto wants it
        ("status", tsp.PKIStatusInfo),
        ("time_stamp_token", cms.ContentInfo, {"optional": True}),
    ]


def write_request(digest: bytes, nonce: int) -> bytes:
    """Return a request for a time stamp over a SHA-256, asking for the authority's certificate."""
    algorithm = encode_der(SEQUENCE, encode_oid(SHA256_OID), encode_der(NULL))
    imprint = encode_der(SEQUENCE, algorithm, encode_der(OCTETS, digest))
    return encode_der(
        SEQUENCE, encode_integer(1), imprint, encode_integer(nonce), encode_der(BOOLEAN, b"\xff")
    )


def check_answer(answer: bytes, digest: bytes, nonce: int, now: Instant) -> TimeStamp:
    """Return the time stamp in an answer to that request. Raises `UnusableToken` for any other answer."""
    try:
        return _check_response(answer, digest, nonce, now)
    except UnsupportedAlgorithm as error:
        raise UnusableToken("its time stamp is signed in a way that cannot be checked here") from error
    except BROKEN as error:
        raise UnusableToken(NONE) from error


def check_token(token: bytes, digest: bytes) -> tuple[TimeStamp, bytes]:
    """Return the time stamp over a SHA-256 that was kept, and its signer's certificate (DER).

    The certificate is checked for the time of the stamp. Raises `UnusableToken`.
    """
    try:
        content = cms.ContentInfo.load(token, strict=True)
        signed = content["content"]
        if signed["encap_content_info"]["content_type"].native != "tst_info":
            raise UnusableToken(NONE)
        stated = bytes(signed["encap_content_info"]["content"])
        info = tsp.TSTInfo.load(stated, strict=True)
        _require_own_request(info, digest, info["nonce"].native)
        (signer_info,) = signed["signer_infos"]
        certificate = _find_signer(signed, signer_info["sid"])
        at: datetime = info["gen_time"].native
        millis = int(at.timestamp() * 1000)
        _require_stamping_certificate(certificate, at, millis)
        _require_signature(signer_info, stated, certificate)
    except UnsupportedAlgorithm as error:
        raise UnusableToken("its time stamp is signed in a way that cannot be checked here") from error
    except BROKEN as error:
        raise UnusableToken(NONE) from error
    return TimeStamp(token, millis, _write_name(certificate.subject)), certificate.dump()


def check_seal(seal: bytes, content: bytes) -> bytes:
    """Return the certificate (DER) whose key made this detached CMS over the content. Raises `UnusableToken`."""
    try:
        signed = cms.ContentInfo.load(seal, strict=True)["content"]
        (signer_info,) = signed["signer_infos"]
        certificate = _find_signer(signed, signer_info["sid"])
        name = signer_info["digest_algorithm"]["algorithm"].native
        _choose_digest(name)
        over = signer_info["signed_attrs"].untag().dump()
        attributes = {each["type"].native: each["values"] for each in signer_info["signed_attrs"]}
        if attributes["message_digest"][0].native != hashlib.new(name, content).digest():
            raise UnusableToken("its seal is over something else")
        if not _is_certificate_named(attributes, certificate):
            raise UnusableToken("its seal names another certificate")
        key = load_der_public_key(certificate.public_key.dump())
        _verify_signature(
            key, signer_info["signature_algorithm"], signer_info["signature"].native, over, name
        )
    except InvalidSignature as error:
        raise UnusableToken("its seal is wrong") from error
    except UnsupportedAlgorithm as error:
        raise UnusableToken("its seal cannot be checked here") from error
    except BROKEN as error:
        raise UnusableToken("its seal cannot be read") from error
    der: bytes = certificate.dump()
    return der


def _check_response(answer: bytes, digest: bytes, nonce: int, now: Instant) -> TimeStamp:
    response = TimeStampResponse.load(answer, strict=True)
    status = response["status"]["status"].native
    if status not in ("granted", "granted_with_mods"):
        causes = ", ".join(sorted(response["status"]["fail_info"].native)) or status
        raise UnusableToken(say("it refused: {causes}", causes=causes.replace("_", " ")))
    content = response["time_stamp_token"]
    token: bytes = (
        content.dump()
    )  # dumped before it is parsed: afterwards asn1crypto would encode it anew, at great length
    if content["content_type"].native != "signed_data":
        raise UnusableToken(NONE)
    signed = content["content"]
    if signed["encap_content_info"]["content_type"].native != "tst_info":
        raise UnusableToken(NONE)
    stated = bytes(signed["encap_content_info"]["content"])
    info = tsp.TSTInfo.load(stated, strict=True)
    _require_own_request(info, digest, nonce)
    (signer_info,) = signed["signer_infos"]
    certificate = _find_signer(signed, signer_info["sid"])
    at: datetime = info["gen_time"].native
    _require_stamping_certificate(certificate, at, now)
    _require_signature(signer_info, stated, certificate)
    if len(token) > LARGEST:
        raise UnusableToken(say("its time stamp has more than {most:,} bytes", most=LARGEST))
    if not cms_envelope.is_bare_token(token):
        raise UnusableToken("its time stamp carries something that it did not sign and that proves nothing")
    return TimeStamp(token, int(at.timestamp() * 1000), _write_name(certificate.subject))


def _require_own_request(info: tsp.TSTInfo, digest: bytes, nonce: int) -> None:
    """Raise `UnusableToken` unless the answer is to this request."""
    imprint = info["message_imprint"]
    hashed = imprint["hash_algorithm"]["algorithm"].native, imprint["hashed_message"].native
    if hashed != ("sha256", digest):
        raise UnusableToken("its time stamp is not for this seal")
    if info["nonce"].native != nonce:
        raise UnusableToken("its time stamp answers another request")


def _find_signer(signed: cms.SignedData, named: cms.SignerIdentifier) -> x509.Certificate:
    for choice in signed["certificates"]:
        certificate = choice.chosen
        if not isinstance(certificate, x509.Certificate):
            continue
        if named.name == "subject_key_identifier":
            if certificate.key_identifier == named.chosen.native:
                return certificate
        elif (certificate.issuer, certificate.serial_number) == (
            named.chosen["issuer"],
            named.chosen["serial_number"].native,
        ):
            return certificate
    raise UnusableToken("its time stamp comes without a certificate")


def _require_stamping_certificate(certificate: x509.Certificate, at: datetime, now: Instant) -> None:
    usage = certificate.extended_key_usage_value
    if usage is None or "extended_key_usage" not in certificate.critical_extensions:
        raise UnusableToken("its certificate isn’t issued for time stamps")
    if usage.native != ["time_stamping"]:
        raise UnusableToken("its certificate isn’t limited to time stamps")
    first, last = certificate.not_valid_before, certificate.not_valid_after
    for moment in (at, to_datetime(now)):
        if moment > last:
            raise UnusableToken(say("its certificate expired on {day}", day=f"{last:%Y-%m-%d}"))
        if moment < first:
            raise UnusableToken(say("its certificate is not valid before {day}", day=f"{first:%Y-%m-%d}"))
    if abs(int(at.timestamp() * 1000) - now) > CLOCKS_APART:
        raise UnusableToken("its time is more than an hour away from the server’s clock")


def _require_signature(signer_info: cms.SignerInfo, stated: bytes, certificate: x509.Certificate) -> None:
    """Raise `UnusableToken` unless the certificate's key signed the content and the signature names it."""
    name = signer_info["digest_algorithm"]["algorithm"].native
    _choose_digest(name)
    over = signer_info["signed_attrs"].untag().dump()  # dumped before it is parsed, as above
    attributes = {each["type"].native: each["values"] for each in signer_info["signed_attrs"]}
    if attributes["content_type"][0].native != "tst_info":
        raise UnusableToken(NONE)
    if attributes["message_digest"][0].native != hashlib.new(name, stated).digest():
        raise UnusableToken("the signature of its time stamp is wrong")
    if not _is_certificate_named(attributes, certificate):
        raise UnusableToken("its time stamp names another certificate")
    key = load_der_public_key(certificate.public_key.dump())
    signature = signer_info["signature"].native
    try:
        _verify_signature(key, signer_info["signature_algorithm"], signature, over, name)
    except InvalidSignature as error:
        raise UnusableToken("the signature of its time stamp is wrong") from error


def _choose_digest(name: str) -> HashAlgorithm:
    if name not in DIGESTS:
        raise UnusableToken(
            say("its time stamp uses an algorithm that is no longer safe ({name})", name=name)
        )
    return DIGESTS[name]


def _is_certificate_named(attributes: dict[str, cms.SetOfAny], certificate: x509.Certificate) -> bool:
    """Return whether the signed attributes name the certificate, by the older attribute (SHA-1) or the newer one."""
    if "signing_certificate_v2" in attributes:
        named = attributes["signing_certificate_v2"][0]["certs"][0]
        algorithm = named["hash_algorithm"]["algorithm"].native
    elif "signing_certificate" in attributes:
        named, algorithm = attributes["signing_certificate"][0]["certs"][0], "sha1"
    else:
        return False
    found: bytes = named["cert_hash"].native
    return found == hashlib.new(algorithm, certificate.dump()).digest()


def _verify_signature(
    key: object, algorithm: algos.SignedDigestAlgorithm, signature: bytes, over: bytes, digest: str
) -> None:
    kind = algorithm.signature_algo
    if isinstance(key, rsa.RSAPublicKey) and kind == "rsassa_pkcs1v15":
        plain = algorithm["algorithm"].native == "rsassa_pkcs1v15"  # the digest stands beside it
        key.verify(
            signature, over, padding.PKCS1v15(), _choose_digest(digest if plain else algorithm.hash_algo)
        )
    elif isinstance(key, rsa.RSAPublicKey) and kind == "rsassa_pss":
        hashing = _choose_digest(algorithm.hash_algo)
        salt = algorithm["parameters"]["salt_length"].native
        key.verify(signature, over, padding.PSS(padding.MGF1(hashing), salt), hashing)
    elif isinstance(key, ec.EllipticCurvePublicKey) and kind == "ecdsa":
        key.verify(signature, over, ec.ECDSA(_choose_digest(algorithm.hash_algo)))
    else:
        raise UnusableToken("its time stamp is signed in a way that cannot be checked here")


def _write_name(subject: x509.Name) -> str:
    """Return the common name, or the organisation, or the whole name, without unprintable characters."""
    native = subject.native
    found = native.get("common_name") or native.get("organization_name") or subject.human_friendly
    text = str(found[0] if isinstance(found, list) else found)
    return "".join(letter for letter in text if letter.isprintable())[:200]
