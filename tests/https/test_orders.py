"""Certificates of an authority: ordered, renewed, refused, and kept over an authority that is away for a week."""

import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from esign.config import ServerSettings
from esign.core.instant import DAY, HOUR, MINUTE, Instant
from esign.https import HttpsCertificates
from esign.web.http.plain_http import PlainHttp
from esign.web.http.server import run_server
from tests.https.conftest import find_shown, showing
from tests.https.pebble import HOST, Dns, Pebble, running_pebble
from tests.ports import reserve_port


@dataclass
class Site:
    """A data folder, and the authority that its certificates are from."""

    data: Path
    pebble: Pebble
    dns: Dns
    addresses: Sequence[str] = ("192.0.2.7",)

    def open(self, now: Instant, **settings: object) -> HttpsCertificates:
        given = {
            "https": "auto",
            "base_url": f"https://{HOST}",
            "acme_directory": self.pebble.directory,
            "acme_trust": self.pebble.trust,
            "http_port": self.pebble.http_port,
        }
        return HttpsCertificates(
            ServerSettings.model_validate({**given, **settings}), self.data, now, lookup=self.look_up
        )

    async def look_up(self, host: str) -> Sequence[str]:
        assert host == HOST
        if not self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.addresses


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    (data := tmp_path / "data").mkdir()
    async with running_pebble(tmp_path / "pebble") as (pebble, dns):
        yield Site(data, pebble, dns)


async def refuse(*_: object) -> None:
    raise AssertionError("nobody asks for a probe here")


@asynccontextmanager
async def port_80(certificates: HttpsCertificates, port: int) -> AsyncIterator[None]:
    """What the program serves there."""
    app = PlainHttp(certificates.proofs, refuse, lambda: f"https://{HOST}", lambda: None)
    async with run_server(app, "127.0.0.1", port):
        yield


async def test_the_first_certificate_is_ordered_shown_and_kept_for_this_user_alone(
    site: Site, now: Instant
) -> None:
    certificates = site.open(now)
    assert certificates.read_state().certificate is None
    async with port_80(certificates, site.pebble.http_port), showing(certificates) as port:
        assert await certificates.refresh(now)
        state = certificates.read_state()
        assert state.problem is None and state.certificate is not None
        assert state.certificate.names == (HOST,) and "Pebble" in state.certificate.issuer
        assert state.renews_at == state.certificate.ends_at - 30 * DAY
        serial = await find_shown(port)
        assert not await certificates.refresh(now + DAY), "it is not due"
    assert certificates.proofs == {}
    folder = site.data / "https"
    assert {path.name for path in folder.iterdir()} == {"account.key", "certificate.pem", "orders.json"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
    again = site.open(now)
    async with showing(again) as port:
        assert await find_shown(port) == serial, "a restart orders nothing"


async def test_an_authority_that_is_away_for_a_week_costs_nothing_but_words(site: Site, now: Instant) -> None:
    """And it may have forgotten the account meanwhile."""
    certificates = site.open(now)
    async with port_80(certificates, site.pebble.http_port), showing(certificates) as port:
        await certificates.refresh(now)
        first = await find_shown(port)
        await site.pebble.stop()
        begun = at = now + 61 * DAY
        tries = 0
        while at < begun + 7 * DAY:
            before = certificates.read_state().next_at
            assert not await certificates.refresh(at)
            state = certificates.read_state()
            tries += state.next_at != before
            assert state.problem is not None and "127.0.0.1 can’t be reached" in state.problem.sentence
            assert state.problem.detail == "Connection refused"
            assert state.failed_since == begun and state.next_at is not None and at < state.next_at
            assert state.is_valid(at)
            at += 10 * MINUTE if at < begun + HOUR else 6 * HOUR
        assert 25 <= tries <= 35, "four a day, after a few in the first hours"
        assert await find_shown(port) == first
        certificates.close()
        again = site.open(at)  # a restart meanwhile
        assert again.read_state().failed_since == begun
        certificates.proofs = again.proofs
        await site.pebble.start()
    async with port_80(again, site.pebble.http_port), showing(again) as port:
        assert await again.refresh(at + 15 * MINUTE)
        assert await find_shown(port) != first
    state = again.read_state()
    assert state.problem is None and state.failed_since is None and state.next_at is None


async def test_a_closed_port_is_told_with_the_addresses_of_the_name(site: Site, now: Instant) -> None:
    certificates = site.open(now)
    assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the authority cannot reach port 80"
    assert problem.sentence.startswith(f"The authority can’t reach {HOST} on port 80. Open port 80")
    assert problem.sentence.endswith(f"At present {HOST} leads to 192.0.2.7.")
    assert "refused" in problem.detail
    assert not await certificates.refresh(now + 30_000), "it is not tried again before its time"
    assert certificates.read_state().next_at == now + MINUTE


async def test_a_name_that_leads_elsewhere_is_told(site: Site, now: Instant) -> None:
    certificates = site.open(now)
    elsewhere = Starlette()  # answers 404
    async with run_server(elsewhere, "127.0.0.1", site.pebble.http_port):
        assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "something else answers at this name"
    assert problem.sentence.startswith(f"Something else answers at http://{HOST}.")
    assert certificates.read_state().certificate is None


async def test_a_name_without_an_address_is_told(site: Site, now: Instant) -> None:
    await site.dns.lead_to("")
    site.addresses = ()
    certificates = site.open(now)
    assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the name has no address in the DNS", problem
    assert f"finds no address of {HOST}" in problem.sentence


async def test_an_authority_that_is_not_trusted_is_told(site: Site, now: Instant) -> None:
    certificates = site.open(now, acme_trust=None)
    assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the authority cannot be reached"
    assert "certificate" in problem.detail


async def test_another_name_or_a_damaged_file_leads_to_a_new_certificate(site: Site, now: Instant) -> None:
    certificates = site.open(now)
    async with port_80(certificates, site.pebble.http_port):
        await certificates.refresh(now)
    other = site.open(now, base_url="https://other.example.com")
    assert other.read_state().certificate is None
    async with port_80(other, site.pebble.http_port):
        assert await other.refresh(now)
    held = other.read_state().certificate
    assert held is not None and held.names == ("other.example.com",)
    (site.data / "https" / "certificate.pem").write_bytes(held.chain)  # without its key
    (site.data / "https" / "orders.json").write_bytes(b"{")
    last = site.open(now, base_url="https://other.example.com")
    assert last.read_state().certificate is None
    async with port_80(last, site.pebble.http_port):
        assert await last.refresh(now)


async def test_a_folder_that_takes_no_file_is_told_and_the_present_certificate_stays(
    site: Site, now: Instant
) -> None:
    certificates = site.open(now)
    (site.data / "https" / "orders.json").mkdir()
    assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the certificate cannot be stored"
    assert "orders.json cannot be written (Is a directory)" in problem.sentence
    assert "order-plz" not in site.pebble.said, "no order was placed"
    (site.data / "https" / "orders.json").rmdir()
    (site.data / "https" / "account.key").mkdir()
    assert not await certificates.refresh(now + HOUR)
    problem = certificates.read_state().problem
    assert problem is not None and "account.key cannot be read (Is a directory)" in problem.sentence


class LimitedAuthority:
    """An authority whose limit is reached: it answers as Let's Encrypt does (RFC 8555, 6.6)."""

    def __init__(self, typ: str, status: int, wish: str) -> None:
        self.typ, self.status, self.wish = typ, status, wish
        self.asked = 0
        self.app = Starlette(
            routes=[
                Route("/dir", self.list_addresses),
                Route("/nonce", self.give_nonce, methods=["HEAD", "GET"]),
                Route("/account", self.refuse, methods=["POST"]),
            ]
        )

    async def list_addresses(self, request: Request) -> Response:
        names = ("newNonce", "newAccount", "newOrder", "revokeCert", "keyChange")
        base = f"http://{request.headers['host']}"
        return JSONResponse({name: f"{base}/{name[3:].lower()}" for name in names})

    async def give_nonce(self, request: Request) -> Response:
        return PlainTextResponse("", headers={"Replay-Nonce": "bm9uY2U"})

    async def refuse(self, request: Request) -> Response:
        self.asked += 1
        problem = {
            "type": f"urn:ietf:params:acme:error:{self.typ}",
            "detail": "too many\n<b>certificates</b>",
        }
        headers = {"Retry-After": self.wish, "Content-Type": "application/problem+json"}
        return Response(json.dumps(problem), self.status, headers)


@pytest.mark.parametrize(
    ("typ", "status", "brief", "pause"),
    [
        ("rateLimited", 429, "a limit of the authority is reached", 2 * HOUR),
        ("caa", 403, "a CAA record forbids this authority", 2 * HOUR),
        ("serverInternal", 500, "the authority has trouble", 2 * HOUR),
        ("rejectedIdentifier", 400, "the authority issues no certificate", 2 * HOUR),
        ("somethingNew", 400, "the authority issues no certificate", 2 * HOUR),
    ],
)
async def test_the_refusal_of_an_authority_is_told_in_plain_words_and_its_wish_heeded(
    tmp_path: Path, now: Instant, typ: str, status: int, brief: str, pause: int
) -> None:
    authority = LimitedAuthority(typ, status, "7200")
    async with run_server(authority.app, "127.0.0.1", 0) as server:
        settings = ServerSettings(
            https="auto",
            base_url=f"https://{HOST}",
            acme_directory=f"http://127.0.0.1:{server.port}/dir",
            http_port=reserve_port(),
        )
        certificates = HttpsCertificates(settings, tmp_path, now)
        assert not await certificates.refresh(now)
        state = certificates.read_state()
        assert state.problem is not None and state.problem.brief == brief
        assert state.problem.detail == "too many <b>certificates</b>"
        assert state.next_at == now + pause
        assert not await certificates.refresh(now + pause - 1) and authority.asked == 1
        await certificates.refresh(now + pause)
        assert authority.asked == 2


async def test_an_answer_that_is_none_of_an_authority_is_told(tmp_path: Path, now: Instant) -> None:
    async with run_server(Starlette(), "127.0.0.1", 0) as server:
        settings = ServerSettings(
            https="auto", base_url=f"https://{HOST}", acme_directory=f"http://127.0.0.1:{server.port}/dir"
        )
        certificates = HttpsCertificates(settings, tmp_path, now)
        assert not await certificates.refresh(now)
    problem = certificates.read_state().problem
    assert problem is not None and problem.brief == "the authority has trouble"


class OddAuthority:
    """An authority that answers one of its requests as none should."""

    def __init__(self, odd: str, answer: object) -> None:
        self.odd, self.answer = odd, answer
        self.asked = 0
        self.app = Starlette(
            routes=[
                Route("/dir", self.give_directory),
                Route("/nonce", self.give_nonce, methods=["HEAD", "GET"]),
                Route("/{what}", self.give, methods=["POST"]),
            ]
        )

    async def give_directory(self, request: Request) -> Response:
        self.asked += 1
        names = ("newNonce", "newAccount", "newOrder", "revokeCert", "keyChange")
        usual = {name: self.place(request, name[3:].lower()) for name in names}
        return JSONResponse(self.answer if self.odd == "dir" else usual)

    async def give_nonce(self, request: Request) -> Response:
        return PlainTextResponse("", headers={"Replay-Nonce": "bm9uY2U"})

    async def give(self, request: Request) -> Response:
        what = request.path_params["what"]
        order = {
            "status": "pending",
            "identifiers": [{"type": "dns", "value": HOST}],
            "authorizations": [self.place(request, "authz")],
            "finalize": self.place(request, "finalize"),
        }
        usual = {"account": {"status": "valid"}, "order": order}
        headers = {"Replay-Nonce": "bm9uY2U", "Location": self.place(request, f"{what}/1")}
        if what != self.odd:
            return JSONResponse(usual[what], 201, headers)
        refused = isinstance(self.answer, dict) and "type" in self.answer
        return JSONResponse(self.answer, 400 if refused else 201, headers)

    @staticmethod
    def place(request: Request, what: str) -> str:
        return f"http://{request.headers['host']}/{what}"


@pytest.mark.parametrize(
    ("odd", "answer"),
    [
        ("dir", []),
        ("dir", {"newNonce": 5}),
        ("account", {"type": 5, "detail": ["x"]}),
        ("account", [1]),
        ("order", {"status": "pending"}),
        ("order", "what?"),
        ("authz", {"status": "pending"}),
        ("authz", []),
    ],
)
async def test_an_odd_answer_is_told_and_the_next_order_waits_as_after_any_failure(
    tmp_path: Path, now: Instant, odd: str, answer: object
) -> None:
    authority = OddAuthority(odd, answer)
    async with run_server(authority.app, "127.0.0.1", 0) as server:
        settings = ServerSettings(
            https="auto", base_url=f"https://{HOST}", acme_directory=f"http://127.0.0.1:{server.port}/dir"
        )
        certificates = HttpsCertificates(settings, tmp_path, now)
        assert not await certificates.refresh(now)
        state, asked = certificates.read_state(), authority.asked
        assert state.problem is not None and asked, "the authority was asked, and what it said is told"
        assert state.next_at == now + MINUTE
        assert not await certificates.refresh(now + 5_000)
        assert (certificates.read_state(), authority.asked) == (state, asked)
