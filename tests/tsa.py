"""A time-stamp authority on loopback: real tokens under a PKI of its own, or any kind of wrong answer."""

import asyncio
import contextlib
import hashlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aiohttp import web
from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from esign.core.der import SEQUENCE, encode_der
from esign.core.instant import Instant, to_datetime
from tests.pki import MADE, NOW, YEAR, Issued, a_key, an_authority

POLICY = "1.3.6.1.4.1.99999.1"
STAMPING = x509.OID_TIME_STAMPING

Behaviour = Callable[["Tsa", web.Request, tsp.TimeStampReq], Awaitable[web.StreamResponse]]


def a_stamping_certificate(
    authority: Issued | None = None,
    kind: str = "p256",
    name: str = "Test Time Stamps",
    usage: tuple[x509.ObjectIdentifier, ...] = (STAMPING,),
    critical: bool = True,
    first: datetime = MADE,
    last: datetime = MADE + 5 * YEAR,
) -> Issued:
    authority = authority or an_authority("Time Stamp Root")
    key = a_key(kind, 7)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder(
            authority.certificate.subject, subject, key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(first)
        .not_valid_after(last)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    )
    if usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=critical)
    return Issued(key, builder.sign(authority.key, SHA256()), (authority.certificate, *authority.issuers))


@dataclass
class Tsa:
    """`how` may be changed at any time. `asked` counts questions, `connections` are those they came over."""

    issued: Issued
    now: Callable[[], Instant]
    how: Behaviour
    url: str = ""
    asked: int = 0
    connections: set[tuple[str, int]] = field(default_factory=set)

    @property
    def root(self) -> bytes:
        """The certificate (DER) that its tokens lead to."""
        return self.issued.issuers[-1].public_bytes(Encoding.DER)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        assert request.transport is not None
        self.connections.add(request.transport.get_extra_info("peername"))
        assert request.content_type == "application/timestamp-query"
        question = tsp.TimeStampReq.load(await request.read(), strict=True)
        return await self.how(self, request, question)

    def token(self, question: tsp.TimeStampReq, **wrong: Any) -> cms.ContentInfo:
        """As it should be, but for what is `wrong`.

        That is what is stated (`imprint`, `nonce`, `at`), how it is signed (`digest`, `algorithm`, `pss`, `older`,
        `named`, `signature`) or what comes along (`certificates`).
        """
        stated = self.state_time(question, wrong).dump()
        digest = wrong.get("digest", "sha256")
        attributes = self.attributes(stated, digest, wrong)
        certificates = wrong.get("certificates", (self.issued.certificate, *self.issued.issuers))
        signed = {
            "version": "v3",
            "digest_algorithms": [{"algorithm": digest}],
            "encap_content_info": {"content_type": "tst_info", "content": core.ParsableOctetString(stated)},
            "certificates": [asn1.Certificate.load(each.public_bytes(Encoding.DER)) for each in certificates],
            "signer_infos": [self.signer_info(attributes, digest, wrong)],
        }
        return cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(signed)})

    def state_time(self, question: tsp.TimeStampReq, wrong: dict[str, Any]) -> tsp.TSTInfo:
        imprint = question["message_imprint"]
        if "imprint" in wrong:
            imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": wrong["imprint"]}
        members = {
            "version": "v1",
            "policy": POLICY,
            "message_imprint": imprint,
            "serial_number": self.asked,
            "gen_time": to_datetime(wrong.get("at", self.now())),
            "nonce": wrong.get("nonce", question["nonce"].native),
        }
        return tsp.TSTInfo({name: value for name, value in members.items() if value is not None})

    def attributes(self, stated: bytes, digest: str, wrong: dict[str, Any]) -> cms.CMSAttributes:
        der = wrong.get("named", self.issued).der
        named: dict[str, Any] = {
            "type": "signing_certificate_v2",
            "values": [{"certs": [{"cert_hash": hashlib.sha256(der).digest()}]}],
        }
        if wrong.get("older"):
            named = {
                "type": "signing_certificate",
                "values": [{"certs": [{"cert_hash": hashlib.sha1(der, usedforsecurity=False).digest()}]}],
            }
        return cms.CMSAttributes(
            [
                {"type": "content_type", "values": ["tst_info"]},
                {"type": "message_digest", "values": [hashlib.new(digest, stated).digest()]},
                named,
            ]
        )

    def signer_info(
        self, attributes: cms.CMSAttributes, digest: str, wrong: dict[str, Any]
    ) -> dict[str, Any]:
        certificate, key = asn1.Certificate.load(self.issued.der), self.issued.key
        if isinstance(key, ec.EllipticCurvePrivateKey):
            algorithm: dict[str, Any] = {"algorithm": "sha256_ecdsa"}
            signature = key.sign(attributes.dump(), ec.ECDSA(SHA256()))
        elif wrong.get("pss"):
            parameters = {
                "hash_algorithm": {"algorithm": "sha256"},
                "mask_gen_algorithm": {"algorithm": "mgf1", "parameters": {"algorithm": "sha256"}},
                "salt_length": 32,
            }
            algorithm = {"algorithm": "rsassa_pss", "parameters": algos.RSASSAPSSParams(parameters)}
            signature = key.sign(attributes.dump(), padding.PSS(padding.MGF1(SHA256()), 32), SHA256())
        else:
            algorithm = {"algorithm": wrong.get("algorithm", "rsassa_pkcs1v15")}
            signature = key.sign(attributes.dump(), padding.PKCS1v15(), SHA256())
        return {
            "version": "v1",
            "sid": cms.SignerIdentifier(
                {
                    "issuer_and_serial_number": cms.IssuerAndSerialNumber(
                        {"issuer": certificate.issuer, "serial_number": certificate.serial_number}
                    )
                }
            ),
            "digest_algorithm": {"algorithm": digest},
            "signature_algorithm": algorithm,
            "signed_attrs": attributes,
            "signature": wrong.get("signature", signature),
        }

    def grant_token(self, question: tsp.TimeStampReq, **wrong: Any) -> bytes:
        status = {"status": "granted"}
        response = tsp.TimeStampResp({"status": status, "time_stamp_token": self.token(question, **wrong)})
        return bytes(response.dump())


def reply(body: bytes, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/timestamp-reply")


def granting(**wrong: Any) -> Behaviour:
    """A time stamp as it should be, or with something wrong (see `Tsa.token`)."""

    async def how(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        return reply(tsa.grant_token(question, **wrong))

    return how


def saying(body: bytes, status: int = 200) -> Behaviour:
    async def how(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        return reply(body, status)

    return how


async def refusing(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
    """No, and why; such an answer has no token."""
    status = tsp.PKIStatusInfo({"status": "rejection", "fail_info": {"time_not_available"}})
    return reply(encode_der(SEQUENCE, status.dump()))


async def hanging(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
    """Takes the question and never says anything."""
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits that long")


def slow(seconds: float) -> Behaviour:
    async def how(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return reply(tsa.grant_token(question))

    return how


async def dripping(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
    """One byte after the other, so that no single wait is long."""
    response = web.StreamResponse()
    await response.prepare(request)
    for byte in tsa.grant_token(question):
        await response.write(bytes((byte,)))
        await asyncio.sleep(0.05)
    return response


async def endless(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
    """An answer without an end."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(bytes(8192))


async def closing(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
    """Ends the connection without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@contextlib.asynccontextmanager
async def stamping(
    how: Behaviour | None = None,
    issued: Issued | None = None,
    now: Callable[[], Instant] = lambda: NOW,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Tsa]:
    """An authority at work; `now` is its clock."""
    tsa = Tsa(issued or a_stamping_certificate(), now, how or granting())
    app = web.Application()
    app.router.add_post("/tsr", tsa.answer)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "localhost" if tls else "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    tsa.url = f"{'https://localhost' if tls else 'http://127.0.0.1'}:{runner.addresses[0][1]}/tsr"
    try:
        yield tsa
    finally:
        await runner.cleanup()
