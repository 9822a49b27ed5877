"""Files of a certificate, and a server that shows what is present."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509

from esign.config import ServerSettings
from esign.core.instant import Instant
from esign.https import HttpsCertificates
from esign.system.clock import SystemClock
from tests.https.pairs import WebPair, make_authority, make_pair
from tests.https.pebble import HOST


@pytest.fixture
def now() -> Instant:
    """The real time: what pebble issues begins at it."""
    return SystemClock().now()


class CertificateFiles:
    """The files that the settings name; `replace` writes others over them."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "site.pem", folder / "site.key"
        self.root = make_authority()
        self.data = folder / "data"
        self.data.mkdir()

    def issue(self, *names: str, **dates: object) -> WebPair:
        return make_pair(*(names or (HOST,)), issuer=self.root, **dates)  # type: ignore[arg-type]

    def replace(self, pair: WebPair) -> WebPair:
        self.certificate.write_bytes(pair.chain)
        self.key.write_bytes(pair.key)
        return pair

    def open(self, now: Instant) -> HttpsCertificates:
        settings = ServerSettings(
            https="files",
            base_url=f"https://{HOST}",
            https_certificate=self.certificate,
            https_key=self.key,
        )
        return HttpsCertificates(settings, self.data, now)


@pytest.fixture
def files(tmp_path: Path) -> CertificateFiles:
    return CertificateFiles(tmp_path)


@asynccontextmanager
async def showing(certificates: HttpsCertificates) -> AsyncIterator[int]:
    """A server that echoes lines behind this certificate; its port."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=certificates.tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        server.close_clients() if hasattr(server, "close_clients") else None


async def connect(port: int, name: str | None = HOST) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that trusts anything."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname=name or "", ssl_handshake_timeout=10
    )


def read_serial(writer: asyncio.StreamWriter) -> int:
    """The serial number of the certificate that a connection was shown."""
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return x509.load_der_x509_certificate(shown).serial_number


async def find_shown(port: int, name: str | None = HOST) -> int:
    """The serial number of what a new connection is shown."""
    _, writer = await connect(port, name)
    serial = read_serial(writer)
    writer.close()
    return serial


Opened = Callable[[Instant], HttpsCertificates]
