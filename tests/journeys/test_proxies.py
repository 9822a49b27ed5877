"""The configurations of reverse proxies that the documentation prints, each in a proxy that runs."""

import asyncio
import logging
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from esign.core.actor import Mode
from esign.core.people.api_key import Scope
from tests.https.pairs import make_authority, make_pair
from tests.https.pebble import until_open
from tests.journeys.site import JourneySite, a_site, new_key
from tests.ports import reserve_port

PAGE = Path(__file__).parents[2] / "docs" / "https.md"
HOST = "sign.example.com"
CLIENT = "127.0.0.5"  # from here on loopback, so that it is not the proxy's own address
MIB = 2**20


@dataclass(frozen=True)
class Ports:
    http: int
    https: int
    esign: int


def find_snippet(language: str) -> str:
    """The text of a block of the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def replace(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def configure_nginx(folder: Path, ports: Ports) -> tuple[str, ...]:
    """The block of the page with the ports and files of this test, inside the least that nginx needs around it."""
    site = replace(
        re.sub(r"    listen \[::\].*\n", "", find_snippet("nginx")),
        ("listen 80;", f"listen 127.0.0.1:{ports.http};"),
        ("listen 443 ", f"listen 127.0.0.1:{ports.https} "),
        (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(folder / "site.pem")),
        (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(folder / "site.key")),
        ("127.0.0.1:8080", f"127.0.0.1:{ports.esign}"),
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "\n".join(f"{kind}_temp_path {folder / kind};" for kind in kinds)
    user = "user root;\n" if os.geteuid() == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off;\n{user}pid {folder / 'pid'};\nerror_log {folder / 'log'};\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}\n{site}}}\n"
    )
    return ("nginx", "-c", str(file), "-p", str(folder), "-e", str(folder / "log"))


def configure_caddy(folder: Path, ports: Ports) -> tuple[str, ...]:
    """The block of the page with a certificate of this test, since no authority issues one here."""
    site = replace(
        find_snippet("caddyfile"),
        (f"{HOST} {{\n", f"{HOST} {{\ntls {folder / 'site.pem'} {folder / 'site.key'}\n"),
        ("127.0.0.1:8080", f"127.0.0.1:{ports.esign}"),
    )
    options = f"admin off\nhttp_port {ports.http}\nhttps_port {ports.https}\ndefault_bind 127.0.0.1\n"
    file = folder / "Caddyfile"
    file.write_text(f"{{\n{options}}}\n{site}")
    return ("caddy", "run", "--config", str(file), "--adapter", "caddyfile")


@dataclass(frozen=True)
class ProxiedSite:
    """A server behind a proxy, seen by curl as by anybody outside."""

    site: JourneySite
    folder: Path
    ports: Ports
    key: str

    async def curl(self, url: str, *more: str) -> str:
        """What curl prints; the names of the URL lead to the proxy."""
        ends = [f"{HOST}:443:127.0.0.1:{self.ports.https}", f"{HOST}:80:127.0.0.1:{self.ports.http}"]
        process = await asyncio.create_subprocess_exec(
            "curl", "--silent", "--show-error", "--max-time", "60", "--interface", CLIENT,
            "--cacert", str(self.folder / "root.pem"),
            *(part for end in ends for part in ("--connect-to", end)), *more, url,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
        assert process.returncode == 0, (url, out)
        return out.decode()


PROXIES: dict[str, Callable[[Path, Ports], tuple[str, ...]]] = {
    "nginx": configure_nginx,
    "caddy": configure_caddy,
}


def write_files(folder: Path) -> None:
    folder.mkdir()
    root = make_authority()
    pair = make_pair(HOST, issuer=root)
    (folder / "root.pem").write_bytes(root.chain)
    (folder / "site.pem").write_bytes(pair.chain)
    (folder / "site.key").write_bytes(pair.key)


@asynccontextmanager
async def behind(folder: Path, name: str) -> AsyncIterator[ProxiedSite]:
    assert shutil.which(name), "packaging/test installs it"
    write_files(folder / "proxy")
    server = {"base_url": f"https://{HOST}", "trusted_proxies": ["127.0.0.1"]}
    async with a_site(folder / "data", server=server) as site:
        ports = Ports(reserve_port(), reserve_port(), site.runtime.config.server.port)
        process = await asyncio.create_subprocess_exec(
            *PROXIES[name](folder / "proxy", ports),
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await until_open(ports.https)
            key = await new_key(site.runtime, frozenset({Scope.ALL}), Mode.LIVE)
            yield ProxiedSite(site, folder / "proxy", ports, key)
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.parametrize("name", PROXIES)
async def test_what_the_documentation_prints_works(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(tmp_path, name) as proxied:
        head = await proxied.curl(f"https://{HOST}/sign-in", "--http2", "--head")
        assert head.startswith("HTTP/2 200"), "HTTP/2 towards browsers"
        assert len(re.findall("strict-transport-security: max-age=", head, re.IGNORECASE)) == 1
        said = await proxied.curl(f"http://{HOST}/sign-in?a=1", "--head")
        assert re.match(r"HTTP/1.1 308 ", said) and f"https://{HOST}/sign-in?a=1" in said
        with caplog.at_level(logging.INFO, "esign.access"):
            await proxied.curl(f"https://{HOST}/healthz", "--header", "X-Forwarded-For: 203.0.113.9")
            seen = orjson.loads(caplog.records[-1].getMessage())
        assert seen["ip"] == CLIENT, "the client, and not what it claims to be"
        assert not proxied.site.runtime.unknown_proxies
        body = tmp_path / "body"
        body.write_bytes(b'{"title": "' + b"x" * 33 * MIB + b'"}')
        answer = await proxied.curl(
            f"https://{HOST}/api/v1/documents", "--data-binary", f"@{body}", "--write-out", "\n%{http_code}",
            "--header", f"Authorization: Bearer {proxied.key}", "--header", "Content-Type: application/json",
        )  # fmt: skip
        assert "This member is required." in answer and answer.endswith("\n400"), "esign itself has read it"
