import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address

import pytest

from esign.net import OutboundClient, RequestFailed, TargetRefused, TargetRules
from esign.net.address_gate import AddressBarred, AddressGate, Resolve, belongs_to_this_machine
from esign.net.time_limits import TimeLimits
from esign.net.zones import Zone
from esign.system.clock import SystemClock
from tests.certificates import TlsPair
from tests.net.receiver import OK, SocketReceiver, answering, hanging_up, receiving, silent

HEADERS = {"Content-Type": "application/json", "User-Agent": "esign-webhooks/1", "webhook-id": "evt_1"}
BODY = b'{"id":"evt_1"}'
PUBLIC = "93.184.216.34"
LOCAL = TargetRules(allow_private=True)


def resolving(*answers: Sequence[str]) -> Resolve:
    """A resolver that gives one answer after the other, the last one for ever."""
    left = list(answers)

    async def resolve(host: str) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@contextlib.asynccontextmanager
async def outbound(
    rules: TargetRules = LOCAL, resolve: Resolve | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[OutboundClient]:
    out = OutboundClient(lambda: rules, SystemClock(), resolve=resolve, tls=tls)
    try:
        yield out
    finally:
        await out.close()


async def test_the_endpoint_receives_exactly_the_bytes_and_headers() -> None:
    async with receiving() as receiver, outbound() as out:
        answer = await out.post(f"http://127.0.0.1:{receiver.port}/hook?a=%2F", BODY, HEADERS)

    (head, body) = receiver.requests[0]
    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.headers["content-length"] == "2"
    assert 0 <= answer.duration_ms < 5_000
    assert body == BODY
    assert head.startswith(b"POST /hook?a=%2F HTTP/1.1\r\n")
    names = {line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:] if line}
    assert names == {b"host", b"content-type", b"user-agent", b"webhook-id", b"content-length", b"accept"}


async def test_the_host_header_is_the_name_and_not_the_address() -> None:
    async with receiving() as receiver, outbound(resolve=resolving(["127.0.0.1"])) as out:
        await out.post(f"http://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert f"Host: hooks.example.test:{receiver.port}\r\n".encode() in receiver.requests[0][0]


async def test_connections_are_reused() -> None:
    async with receiving() as receiver, outbound() as out:
        for _ in range(20):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)

    assert len(receiver.requests) == 20
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "rules", [TargetRules(), TargetRules(["hooks.example.test"]), TargetRules(loopback_allowed=True)]
)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2", "rebound.example.test"])
async def test_a_loopback_listener_is_reached_only_when_the_rules_say_so(
    rules: TargetRules, host: str
) -> None:
    allowed = rules.loopback_allowed and host in ("127.0.0.1", "localhost")
    async with receiving() as receiver, outbound(rules, resolving(["127.0.0.1"])) as out:
        url = f"http://{host}:{receiver.port}/"
        if allowed:
            assert (await out.post(url, BODY, HEADERS, plain_allowed=True)).status == 200
        else:
            with pytest.raises(TargetRefused, match=r"^address_refused: "):
                await out.post(url, BODY, HEADERS, plain_allowed=True)

    assert receiver.connections == int(allowed)


async def test_a_name_that_turns_private_after_its_registration_is_not_dialled() -> None:
    resolve = resolving([PUBLIC], ["127.0.0.1"])
    assert await resolve("hooks.example.test") == [PUBLIC]
    async with receiving() as receiver, outbound(TargetRules(), resolve) as out:
        with pytest.raises(TargetRefused, match="address_refused"):
            await out.post(f"https://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert receiver.connections == 0


async def test_each_attempt_looks_a_name_up_once() -> None:
    asked: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with outbound(LOCAL, resolve) as out:
        for _ in range(2):
            async with receiving(hanging_up) as receiver:
                with pytest.raises(RequestFailed):
                    await out.post(f"http://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert asked == ["hooks.example.test", "hooks.example.test"]


@pytest.mark.parametrize(
    "answer",
    [
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        [PUBLIC, "2606:4700:4700::1111", "::ffff:127.0.0.1"],
        ["fe80::1%lo"],
        ["::1"],
        ["64:ff9b::7f00:1"],
        ["169.254.169.254"],
        ["0.0.0.0"],
    ],
)
async def test_one_forbidden_address_refuses_the_whole_name(answer: Sequence[str]) -> None:
    async with receiving() as receiver, outbound(TargetRules(), resolving(answer)) as out:
        with pytest.raises(TargetRefused, match="address_refused"):
            await out.post(f"https://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert receiver.connections == 0


@pytest.mark.parametrize("answer", [["169.254.169.254"], ["0.0.0.0"], ["::ffff:127.0.0.1"], ["100.64.0.1"]])
@pytest.mark.parametrize("rules", [LOCAL, TargetRules(["hooks.example.test"])])
async def test_what_is_neither_public_nor_private_stays_refused_for_every_name(
    answer: Sequence[str], rules: TargetRules
) -> None:
    async with receiving() as receiver, outbound(rules, resolving(answer)) as out:
        with pytest.raises(TargetRefused, match="address_refused"):
            await out.post(f"https://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert receiver.connections == 0


async def test_plain_http_to_a_public_address_is_refused_where_only_private_ones_may_be_plain() -> None:
    async with outbound(LOCAL, resolving([PUBLIC])) as out:
        with pytest.raises(TargetRefused, match="address_refused"):
            await out.post("http://hooks.example.test/", BODY, HEADERS)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%lo"])
def test_the_socket_is_not_even_opened_for_an_address_out_of_reach(address: str) -> None:
    gate = AddressGate(frozenset({Zone.PUBLIC}), resolving([]))
    with pytest.raises(AddressBarred):
        gate.open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 443)))


def test_an_own_address_is_told_from_others() -> None:
    assert belongs_to_this_machine(ip_address("127.0.0.1"))
    assert not belongs_to_this_machine(ip_address("192.0.2.1"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer_and_is_not_followed(status: int) -> None:
    async with receiving() as inner, outbound() as out:
        moved = f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{inner.port}/\r\n"
        async with receiving(answering(moved.encode() + b"Content-Length: 0\r\n\r\n")) as receiver:
            answer = await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)

    assert answer.status == status
    assert inner.connections == 0
    assert len(receiver.requests) == 1


async def test_a_silent_endpoint_times_out() -> None:
    async with receiving(silent) as receiver, outbound() as out:
        with pytest.raises(RequestFailed, match=r"^timeout: "):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS, limits=TimeLimits(0.1))


async def test_a_body_that_never_ends_times_out_too() -> None:
    async with (
        receiving(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")) as receiver,
        outbound() as out,
    ):
        with pytest.raises(RequestFailed, match=r"^timeout: "):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS, limits=TimeLimits(0.1))


async def test_a_name_server_that_does_not_answer_counts_as_connecting() -> None:
    async def resolve(host: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with outbound(LOCAL, resolve) as out:
        with pytest.raises(RequestFailed, match=r"^connect_timeout: "):
            await out.post("http://hooks.example.test/", BODY, HEADERS, limits=TimeLimits(connect=0.1))


async def test_only_the_beginning_of_a_large_answer_is_kept() -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 200_000
    async with receiving(answering(large)) as receiver, outbound() as out:
        answers = [
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS, limits=TimeLimits(5))
            for _ in range(2)
        ]

    assert [(answer.status, len(answer.body)) for answer in answers] == [(200, 1_024)] * 2
    assert receiver.connections == 2


async def test_a_compressed_answer_is_not_unpacked() -> None:
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08"
    async with receiving(answering(packed)) as receiver, outbound() as out:
        assert (await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)).body == b"\x1f\x8b\x08"


async def test_cookies_are_not_kept() -> None:
    sets = OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=b; Path=/\r\n\r\n")
    async with receiving(answering(sets)) as receiver, outbound(resolve=resolving(["127.0.0.1"])) as out:
        for _ in range(2):
            await out.post(f"http://hooks.example.test:{receiver.port}/", BODY, HEADERS)

    assert b"cookie" not in receiver.requests[1][0].lower()


async def test_a_proxy_of_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver, outbound() as out:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)

    assert (proxy.connections, receiver.connections) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "bad_answer"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", "bad_answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "bad_answer"),
    ],
)
async def test_what_is_not_http_fails(answer: bytes, reason: str) -> None:
    async with receiving(answering(answer)) as receiver, outbound() as out:
        with pytest.raises(RequestFailed, match=f"^{reason}: "):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS, limits=TimeLimits(2))


async def test_an_endpoint_that_hangs_up_fails() -> None:
    async with receiving(hanging_up) as receiver, outbound() as out:
        with pytest.raises(RequestFailed, match=r"^disconnected: "):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)


async def test_a_closed_port_fails() -> None:
    async with receiving() as receiver:
        pass
    async with outbound() as out:
        with pytest.raises(RequestFailed, match=r"^connection_failed: "):
            await out.post(f"http://127.0.0.1:{receiver.port}/", BODY, HEADERS)


async def test_a_name_without_address_fails() -> None:
    async def resolve(host: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    async with outbound(TargetRules(), resolve) as out:
        with pytest.raises(RequestFailed, match=r"^name_not_found: "):
            await out.post("https://hooks.example.test/", BODY, HEADERS)


async def tls_attempt(pair: TlsPair, host: str) -> SocketReceiver:
    async with (
        receiving(tls=pair.server) as receiver,
        outbound(LOCAL, resolving(["127.0.0.1"]), pair.client) as out,
    ):
        await out.post(f"https://{host}:{receiver.port}/", BODY, HEADERS)
    return receiver


async def test_https_asks_for_the_certificate_of_the_name(pair: TlsPair) -> None:
    assert len((await tls_attempt(pair, "mail.example.test")).requests) == 1


async def test_https_to_a_host_with_another_certificate_fails_without_sending(pair: TlsPair) -> None:
    with pytest.raises(RequestFailed, match=r"^tls_failed: "):
        await tls_attempt(pair, "other.example.test")


async def test_https_with_an_unknown_authority_fails(pair: TlsPair) -> None:
    async with (
        receiving(tls=pair.server) as receiver,
        outbound(LOCAL, resolving(["127.0.0.1"])) as out,
    ):
        with pytest.raises(RequestFailed, match=r"^tls_failed: "):
            await out.post(f"https://mail.example.test:{receiver.port}/", BODY, HEADERS)

    assert receiver.requests == []
