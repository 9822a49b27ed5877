"""The client of time-stamp authorities against real ones on loopback: good, bad, slow, and none at all."""

import base64
import hashlib
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web
from asn1crypto import cms, tsp
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pydantic import SecretStr

from esign.config import RemoteAddress
from esign.core.instant import DAY, HOUR
from esign.core.timestamp import LARGEST
from esign.net import DirectClient
from esign.tsa import NoTimeStamp, TimeStampClient
from tests.certificates import make_pair
from tests.fakes import FakeClock
from tests.pki import MADE, NOW, YEAR, Issued, a_seal, an_authority
from tests.tsa import (
    Behaviour,
    Tsa,
    a_stamping_certificate,
    closing,
    dripping,
    endless,
    granting,
    hanging,
    refusing,
    saying,
    slow,
    stamping,
)

SIGNATURE = b"the signature of a seal"
BOTH = (SIGNATURE, b"that of its certificate page")


@asynccontextmanager
async def asking(
    *urls: str | RemoteAddress,
    clock: FakeClock | None = None,
    timeout: float = 10,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[TimeStampClient]:
    http = DirectClient(tls=tls)
    try:
        remotes = [RemoteAddress(url=url) if isinstance(url, str) else url for url in urls]
        yield TimeStampClient(remotes, http, clock or FakeClock(), timeout)
    finally:
        await http.close()


async def reason(how: Behaviour, issued: Issued | None = None, timeout: float = 10) -> str:
    """Why there is no time stamp of an authority that behaves like this."""
    async with stamping(how, issued) as tsa, asking(tsa.url, timeout=timeout) as stamps:
        with pytest.raises(NoTimeStamp) as failure:
            await stamps.stamp_signatures([SIGNATURE])
        (told,) = stamps.authorities
        assert told.error and told.name is None and told.asked_at == NOW
        host = tsa.url.split("/")[2]
        assert failure.value.reason == f"No authority issued a time stamp. {host}: {told.error}."
        return told.error


# ---------- a good one ----------


def openssl_accepts(token: bytes, root: bytes, folder: Path, signature: bytes = SIGNATURE) -> bool:
    pem = x509.load_der_x509_certificate(root).public_bytes(Encoding.PEM)
    for name, content in (("token", token), ("data", signature), ("root.pem", pem)):
        (folder / name).write_bytes(content)
    run = subprocess.run(
        [
            *(
                "openssl",
                "ts",
                "-verify",
                "-token_in",
                "-in",
                "token",
                "-data",
                "data",
                "-CAfile",
                "root.pem",
            ),
            *("-attime", str(NOW // 1000)),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode == 0 and "Verification: OK" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("p256", granting()),
        ("rsa", granting()),
        ("rsa", granting(algorithm="sha256_rsa")),
        ("rsa", granting(older=True)),
    ],
    ids=["ECDSA", "RSA", "RSA with the digest", "older attribute"],
)
async def test_a_token_is_one_that_openssl_accepts_too(kind: str, how: Behaviour, tmp_path: Path) -> None:
    async with stamping(how, a_stamping_certificate(kind=kind)) as tsa, asking(tsa.url) as stamps:
        (stamp,) = await stamps.stamp_signatures([SIGNATURE])
        assert (stamp.at, stamp.authority) == (NOW, "Test Time Stamps")
        assert openssl_accepts(stamp.token, tsa.root, tmp_path)
        assert not openssl_accepts(stamp.token, tsa.root, tmp_path, b"another signature")
        (told,) = stamps.authorities
        assert (told.url, told.asked_at, told.error, told.name) == (tsa.url, NOW, None, "Test Time Stamps")


async def test_a_token_signed_by_rsa_pss_which_openssl_does_not_know_is_checked_and_taken() -> None:
    issued = a_stamping_certificate(kind="rsa")
    async with stamping(granting(pss=True), issued) as tsa, asking(tsa.url) as stamps:
        assert await stamps.stamp_signatures([SIGNATURE])
    wrong = granting(pss=True, signature=bytes(256))
    assert await reason(wrong, issued) == "the signature of its time stamp is wrong"


async def test_the_question_is_for_a_hash_and_wants_the_certificate_and_never_asks_twice_alike() -> None:
    seen: list[tsp.TimeStampReq] = []

    async def noting(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        seen.append(question)
        return await granting()(tsa, request, question)

    async with stamping(noting) as tsa, asking(tsa.url) as stamps:
        await stamps.stamp_signatures([SIGNATURE])
        await stamps.stamp_signatures([SIGNATURE])
    first, second = (question.native for question in seen)
    assert first["message_imprint"]["hash_algorithm"] == {"algorithm": "sha256", "parameters": None}
    assert first["message_imprint"]["hashed_message"] == hashlib.sha256(SIGNATURE).digest()
    assert (first["version"], first["cert_req"]) == ("v1", True)
    assert first["nonce"] != second["nonce"] and first["nonce"].bit_length() == 64


async def test_both_tokens_of_a_seal_come_at_once_and_the_connections_are_kept() -> None:
    async with stamping(slow(0.05)) as tsa, asking(tsa.url) as stamps:
        first = await stamps.stamp_signatures(BOTH)
        assert [cms.ContentInfo.load(stamp.token)["content_type"].native for stamp in first] == [
            "signed_data"
        ] * 2
        assert first[0].token != first[1].token
        for _ in range(3):
            await stamps.stamp_signatures(BOTH)
        assert (tsa.asked, len(tsa.connections)) == (8, 2)


async def test_a_kept_connection_that_the_authority_has_closed_meanwhile_costs_nothing() -> None:
    ended: list[int] = []

    async def once(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        ended.append(1)
        how = closing if len(ended) == 2 else granting()
        return await how(tsa, request, question)

    async with stamping(once) as tsa, asking(tsa.url) as stamps:
        await stamps.stamp_signatures([SIGNATURE])
        await stamps.stamp_signatures([SIGNATURE])
        assert len(ended) == 3


async def test_authorities_on_https_are_held_to_their_certificate(tmp_path: Path) -> None:
    pair = make_pair(tmp_path)
    async with stamping(tls=pair.server) as tsa:
        async with asking(tsa.url, tls=pair.client) as stamps:
            assert await stamps.stamp_signatures([SIGNATURE])
        async with asking(tsa.url) as stamps:
            with pytest.raises(NoTimeStamp, match="no certificate that can be trusted"):
                await stamps.stamp_signatures([SIGNATURE])


# ---------- bad ones ----------

BAD: dict[str, tuple[Behaviour, str]] = {
    "an HTTP error": (saying(b"gone", 503), "it answered with HTTP status 503"),
    "a redirect": (saying(b"", 302), "it answered with HTTP status 302"),
    "a page": (saying(b"<html>Sign in</html>"), "its answer isn’t a time stamp"),
    "nothing": (saying(b""), "its answer isn’t a time stamp"),
    "nested without end": (saying(b"\x30\x80" * 8000), "its answer isn’t a time stamp"),
    "too much": (saying(bytes(17_000)), "its answer has more than 16,384 bytes"),
    "no end": (endless, "its answer has more than 16,384 bytes"),
    "no": (refusing, "it refused: time not available"),
    "another imprint": (granting(imprint=bytes(32)), "its time stamp is not for this seal"),
    "another nonce": (granting(nonce=5), "its time stamp answers another request"),
    "no nonce": (granting(nonce=None), "its time stamp answers another request"),
    "another signature": (granting(signature=bytes(64)), "the signature of its time stamp is wrong"),
    "another certificate named": (
        granting(named=a_seal(an_authority())),
        "its time stamp names another certificate",
    ),
    "no certificate": (granting(certificates=()), "its time stamp comes without a certificate"),
    "an unsafe digest": (
        granting(digest="sha1"),
        "its time stamp uses an algorithm that is no longer safe (sha1)",
    ),
    "a clock ahead": (
        granting(at=NOW + HOUR + 1000),
        "its time is more than an hour away from the server’s clock",
    ),
    "a clock behind": (
        granting(at=NOW - DAY),
        "its time is more than an hour away from the server’s clock",
    ),
    "hanging up": (closing, "the connection ended without an answer"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_answer_is_not_used_and_its_cause_is_named(name: str) -> None:
    how, expected = BAD[name]
    assert await reason(how) == expected


async def test_a_token_that_finds_no_room_in_a_seal_is_not_used() -> None:
    issued = a_stamping_certificate()
    many = [an_authority(f"Authority {n}").certificate for n in range(38)]
    told = await reason(granting(certificates=(issued.certificate, *many)), issued)
    assert told == f"its time stamp has more than {LARGEST:,} bytes"


async def test_a_token_with_a_certificate_that_does_not_belong_to_it_is_not_used() -> None:
    """A seal that carries it would not verify: nobody signed which certificates there are."""
    issued = a_stamping_certificate()
    told = await reason(
        granting(certificates=(issued.certificate, an_authority("Stranger").certificate)), issued
    )
    assert told == "its time stamp carries something that it did not sign and that proves nothing"


@pytest.mark.parametrize(
    ("issued", "expected"),
    [
        (lambda: a_stamping_certificate(last=MADE + timedelta(days=30)), "expired on 2026-01-31"),
        (lambda: a_stamping_certificate(first=MADE + YEAR), "is not valid before 2027-01-01"),
        (lambda: a_stamping_certificate(usage=()), "isn’t issued for time stamps"),
        (lambda: a_stamping_certificate(critical=False), "isn’t issued for time stamps"),
        (
            lambda: a_stamping_certificate(usage=(x509.OID_CODE_SIGNING,)),
            "isn’t limited to time stamps",
        ),
        (
            lambda: a_stamping_certificate(usage=(x509.OID_TIME_STAMPING, x509.OID_CODE_SIGNING)),
            "isn’t limited to time stamps",
        ),
    ],
    ids=["expired", "not yet", "no usage", "not critical", "other usage", "more usage"],
)
async def test_a_certificate_that_may_not_stamp_is_refused(
    issued: Callable[[], Issued], expected: str
) -> None:
    assert await reason(granting(), issued()) == f"its certificate {expected}"


@pytest.mark.parametrize("how", [hanging, dripping, slow(5)], ids=["hangs", "drips", "slow"])
async def test_who_is_too_slow_is_given_up(how: Behaviour) -> None:
    assert await reason(how, timeout=0.3) == "no answer within the time allowed"


async def test_nobody_at_home() -> None:
    async with stamping() as tsa:
        gone = tsa.url
    async with asking(gone) as stamps:
        with pytest.raises(NoTimeStamp, match="the host refuses connections"):
            await stamps.stamp_signatures([SIGNATURE])


async def test_the_addresses_of_clouds_are_out_of_reach_and_private_ones_are_not() -> None:
    async with asking("http://169.254.169.254/tsr") as stamps:
        with pytest.raises(NoTimeStamp, match="an address that can’t be a time-stamping authority"):
            await stamps.stamp_signatures([SIGNATURE])


async def test_who_wants_a_user_name_and_a_password_gets_them_and_they_are_told_to_nobody() -> None:
    said: list[str | None] = []

    async def asking_who(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        said.append(request.headers.get("Authorization"))
        known = said[-1] == "Basic " + base64.b64encode("jo:s3:crét".encode()).decode()
        return await (granting() if known else saying(b"", 401))(tsa, request, question)

    for login, cause in (
        ("jo:s3:crét", None),
        ("jo:wrong", "rejects the user name and password"),
        (None, "asks for a user name and password"),
    ):
        async with stamping(asking_who) as tsa:
            remote = RemoteAddress(url=tsa.url, login=SecretStr(login) if login else None)
            async with asking(remote) as stamps:
                if cause is None:
                    assert len(await stamps.stamp_signatures(BOTH)) == 2
                else:
                    with pytest.raises(NoTimeStamp, match=cause):
                        await stamps.stamp_signatures([SIGNATURE])
                assert "s3" not in repr(stamps.authorities) and "wrong" not in repr(stamps.authorities)
    assert said[-1] is None


# ---------- one after the other ----------


async def test_the_next_authority_is_asked_and_who_failed_is_asked_last_for_a_minute() -> None:
    clock = FakeClock()
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(stamping(saying(b"", 500)))
        second = await stack.enter_async_context(stamping(now=clock.now))
        stamps = await stack.enter_async_context(asking(first.url, second.url, clock=clock))
        assert len(await stamps.stamp_signatures(BOTH)) == 2
        assert [each.error for each in stamps.authorities] == ["it answered with HTTP status 500", None]
        await stamps.stamp_signatures(BOTH)
        assert (first.asked, second.asked) == (2, 4), "the one that works is asked first now"
        clock.advance(seconds=61)
        first.how, first.now = granting(), clock.now
        await stamps.stamp_signatures(BOTH)
        assert (first.asked, second.asked) == (4, 4)
        assert [each.error for each in stamps.authorities] == [None, None]


async def test_both_tokens_are_from_one_authority() -> None:
    """The first one gives out after one answer: the other token is not fetched elsewhere, but both are."""

    async def half(tsa: Tsa, request: web.Request, question: tsp.TimeStampReq) -> web.StreamResponse:
        how = granting() if tsa.asked == 1 else saying(b"", 429)
        return await how(tsa, request, question)

    async with (
        stamping(half) as first,
        stamping(issued=a_stamping_certificate(name="Second")) as second,
        asking(first.url, second.url) as stamps,
    ):
        assert [stamp.authority for stamp in await stamps.stamp_signatures(BOTH)] == ["Second", "Second"]


async def test_where_all_fail_the_reason_names_each_and_nobody_asks_again_for_a_moment() -> None:
    clock = FakeClock()
    async with (
        stamping(saying(b"", 500)) as first,
        stamping(refusing, now=clock.now) as second,
        asking(first.url, second.url, clock=clock) as stamps,
    ):
        for _ in range(3):
            with pytest.raises(NoTimeStamp, match=r"HTTP status 500; .*time not available"):
                await stamps.stamp_signatures([SIGNATURE])
        assert (first.asked, second.asked) == (1, 1)
        second.how = granting()
        clock.advance(seconds=11)
        assert await stamps.stamp_signatures([SIGNATURE])


async def test_what_was_known_before_the_start_is_known_again_for_addresses_still_in_the_settings() -> None:
    async with stamping(saying(b"", 500)) as tsa, asking(tsa.url) as stamps:
        with pytest.raises(NoTimeStamp):
            await stamps.stamp_signatures([SIGNATURE])
        async with asking(tsa.url, "http://127.0.0.1:1/other") as again:
            again.remember_states(stamps.authorities)
            assert [each.error for each in again.authorities] == ["it answered with HTTP status 500", None]
        async with asking("http://127.0.0.1:1/other") as elsewhere:
            elsewhere.remember_states(stamps.authorities)
            assert [each.asked_at for each in elsewhere.authorities] == [None]
