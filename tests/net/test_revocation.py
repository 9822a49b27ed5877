"""`esign verify --online`: a real authority on loopback is asked, and what it says decides."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from esign.cli.verify_file import Verifier, open_verifier, write_report
from esign.config import load_config
from esign.core.instant import DAY
from esign.pdf.report import Verification
from esign.pdf.verify.revocation_sources import list_sources
from esign.system.clock import SystemClock
from tests.pdf.others import a_stamper, signed_in_loop
from tests.pdf.others import sign_as_others as signed_elsewhere
from tests.pdf.proofs import a_list, an_answer, declaring
from tests.pdf.sealing import a_pdf
from tests.pki import NOW, Issued, a_seal, an_authority

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT, OTHER = an_authority(), an_authority("Other Root")
TODAY = SystemClock().now() // 1000 * 1000


class Responder(ThreadingHTTPServer):
    """`says` by path; everything that was asked stands in `asked`."""

    says: dict[str, bytes]
    asked: list[tuple[str, str]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class RevocationHandler(BaseHTTPRequestHandler):
    server: Responder

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = self.server.says.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Responder]:
    with Responder(("127.0.0.1", 0), RevocationHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def responder(server: Responder) -> Responder:
    server.says, server.asked = {}, []
    return server


@pytest.fixture(scope="module")
def signed(server: Responder) -> Issued:
    """A certificate whose issuer is asked at the responder."""
    return a_seal(ROOT, extensions=declaring(server.url))


@pytest.fixture(scope="module")
def file(signed: Issued) -> bytes:
    return signed_in_loop(a_pdf(), signed, "One", None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asking")
    (folder / "root.pem").write_bytes(ROOT.certificate.public_bytes(Encoding.PEM))
    (folder / "private.toml").write_text("[webhooks]\nallow_private = true\n")
    (folder / "public.toml").write_text("")
    return folder


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def judge(folder: Path) -> AsyncIterator[Verifier]:
    """As `esign verify --online` judges, which may go to private addresses too."""
    async with open_verifier(
        load_config(folder / "private.toml", {}), (folder / "root.pem",), online=True
    ) as judge:
        yield judge


def reasons(found: Verification) -> list[str]:
    return found["signatures"][0]["reasons"]


async def test_nobody_is_asked_unless_it_is_wanted(file: bytes, folder: Path, responder: Responder) -> None:
    async with open_verifier(load_config(folder / "private.toml", {}), (folder / "root.pem",)) as judge:
        assert (await judge(file))["result"] == "valid"
    assert responder.asked == []


async def test_a_good_answer_is_enough(
    judge: Verifier, file: bytes, signed: Issued, responder: Responder
) -> None:
    responder.says["/ocsp"] = an_answer(ROOT, signed, TODAY)
    found = await judge(file)
    assert (found["result"], found["signatures"][0]["revocation"]) == ("valid", "not_revoked")
    assert responder.asked == [("POST", "/ocsp")]
    assert "revoked: no," in write_report(found, as_json=False)


async def test_the_list_is_fetched_where_nobody_answers(
    judge: Verifier, file: bytes, signed: Issued, responder: Responder
) -> None:
    responder.says["/list.crl"] = a_list(ROOT, TODAY, {signed.certificate.serial_number: TODAY - DAY})
    found = await judge(file)
    assert (found["result"], found["signatures"][0]["revocation"]) == ("indeterminate", "revoked")
    assert responder.asked == [("POST", "/ocsp"), ("GET", "/list.crl")]
    responder.says["/ocsp"] = b"<html>"
    assert "was revoked on" in reasons(await judge(file))[0]


async def test_a_revoked_certificate_is_told(
    judge: Verifier, file: bytes, signed: Issued, responder: Responder
) -> None:
    responder.says["/ocsp"] = an_answer(ROOT, signed, TODAY, TODAY - DAY)
    found = await judge(file)
    assert found["result"] == "indeterminate"
    assert "was revoked on" in write_report(found, as_json=False)


@pytest.mark.parametrize("said", [None, b"", b"<html>sorry</html>", b"\x30\x03\x0a\x01\x06", b"x" * 70_000])
async def test_no_answer_is_a_doubt(
    judge: Verifier, file: bytes, responder: Responder, said: bytes | None
) -> None:
    if said is not None:
        responder.says |= {"/ocsp": said, "/list.crl": said}
    found = await judge(file)
    assert (found["result"], reasons(found)) == (
        "indeterminate",
        ["It is not known whether the certificate was revoked."],
    )


async def test_private_addresses_are_not_asked(
    file: bytes, folder: Path, signed: Issued, responder: Responder
) -> None:
    responder.says["/ocsp"] = an_answer(ROOT, signed, TODAY)
    async with open_verifier(
        load_config(folder / "public.toml", {}), (folder / "root.pem",), online=True
    ) as judge:
        assert (await judge(file))["result"] == "indeterminate"
    assert responder.asked == []


async def test_only_chains_to_a_trusted_certificate_are_asked_about(file: bytes) -> None:
    middle = an_authority("Middle", above=ROOT)
    declared = a_seal(middle, extensions=declaring())
    below = await signed_elsewhere(a_pdf(), declared, "One", a_stamper())
    found = await asyncio.to_thread(
        list_sources, below, (ROOT.der, an_authority("Test Time Stamps Root").der), NOW
    )
    assert [source.url.rpartition("/")[2] for source in found] == ["ocsp", "list.crl"]
    for other, root in ((below, OTHER), (file, OTHER), (b"%PDF-1.7", ROOT)):
        assert await asyncio.to_thread(list_sources, other, (root.der,), NOW) == []


@pytest.mark.parametrize(
    ("places", "asked"),
    [
        (("ldap://directory.test/cn=list", "http://list.test/list.crl"), ["http://list.test/list.crl"]),
        (("ftp://list.test/list.crl",), []),
    ],
    ids=["a directory first", "no web"],
)
async def test_of_the_places_of_a_list_those_on_the_web_are_asked(
    places: tuple[str, ...], asked: list[str]
) -> None:
    names = [x509.UniformResourceIdentifier(place) for place in places]
    held = x509.CRLDistributionPoints([x509.DistributionPoint(names, None, None, None)])
    file = await signed_elsewhere(a_pdf(), a_seal(ROOT, extensions=(held,)), "One", None)
    found = await asyncio.to_thread(list_sources, file, (ROOT.der,), NOW)
    assert [source.url for source in found] == asked
