"""What every page for people shares: one Jinja environment, the static files, and the answers made of them.

All static files share one hash, as a folder in their address, so that modules, sheets and fonts may name each
other by relative paths and be kept for ever.
"""

import gzip
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from esign.web.http.body import apart
from esign.web.http.security import FILE_POLICY, PAGE_HEADERS, PLAIN_POLICY, page_headers

HERE = Path(__file__).parent
FONTS = HERE.parent / "pdf" / "fonts"

FOR_EVER = "public, max-age=31536000, immutable"
FOR_AN_HOUR = "public, max-age=3600"
MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file; `packed` is its gzip form where that is worth sending."""

    media: str
    plain: bytes
    packed: bytes | None


@dataclass(frozen=True, slots=True)
class Assets:
    """Every static file by its name, and the hash over all of them."""

    files: Mapping[str, Asset]
    digest: str

    @classmethod
    def load(cls) -> "Assets":
        files = dict(sorted(_files()))
        whole = hashlib.sha256()
        for name, asset in files.items():
            whole.update(name.encode() + b"\0" + hashlib.sha256(asset.plain).digest())
        return cls(files, whole.hexdigest()[:16])

    def address(self, name: str) -> str:
        """Where a file is served; an unknown name is a KeyError, so a template cannot ask for one."""
        self.files[name]
        return f"/static/{self.digest}/{name}"

    def route(self) -> Route:
        return Route("/static/{digest}/{name:path}", self.serve, methods=["GET"])

    async def serve(self, request: Request) -> Response:
        asset = self.files.get(request.path_params["name"])
        if asset is None or request.path_params["digest"] != self.digest:
            raise HTTPException(404)
        return sent(request, asset, FOR_EVER, "same-origin")

    async def embed(self, request: Request) -> Response:
        """The script that pages of other applications load, at an address that stays."""
        return sent(request, self.files["embed.js"], FOR_AN_HOUR, "cross-origin")


def sent(request: Request, asset: Asset, kept: str, readers: str) -> Response:
    """`kept` is for caches; `readers` says whether pages of other sites may use it."""
    headers = {
        "Cache-Control": kept,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": readers,
        "Content-Security-Policy": PLAIN_POLICY,
        "Vary": "Accept-Encoding",
    }
    body = asset.plain
    if asset.packed is not None and takes_gzip(request.scope):
        body, headers["Content-Encoding"] = asset.packed, "gzip"
    return Response(body, headers=headers, media_type=asset.media)


def _files() -> Iterator[tuple[str, Asset]]:
    for path in (HERE / "static").rglob("*.*"):
        yield path.relative_to(HERE / "static").as_posix(), _asset(path)
    for path in (*FONTS.glob("EsignHand*.ttf"), *FONTS.glob("Noto*-Regular.ttf")):
        yield f"fonts/{path.name}", _asset(path)  # the very files that the seal draws with


# What is written for people: comments that fill their lines, any in a style sheet; and what stands before a line.
UNSENT = {
    ".css": re.compile(rb"/\*.*?\*/|^[ \t]+|\n(?=\s*\n)", re.MULTILINE | re.DOTALL),
    ".js": re.compile(rb"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)\n|^[ \t]+", re.MULTILINE | re.DOTALL),
}


def _asset(path: Path) -> Asset:
    plain = path.read_bytes()
    if unsent := UNSENT.get(path.suffix):
        plain = unsent.sub(b"", plain)
    packed = gzip.compress(plain, 9, mtime=0)
    return Asset(MEDIA[path.suffix], plain, packed if len(packed) < 0.9 * len(plain) else None)


class Page(HTMLResponse):
    """Goes out packed to whoever takes that: nothing of a request is repeated in it, so its length tells nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers["Vary"] = "Accept-Encoding"
        if takes_gzip(scope):
            self.body = await apart(self.body, gzip.compress, self.body, 6, mtime=0)
            self.headers["Content-Encoding"], self.headers["Content-Length"] = "gzip", str(len(self.body))
        await super().__call__(scope, receive, send)


def takes_gzip(scope: Scope) -> bool:
    return "gzip" in Headers(scope=scope).get("accept-encoding", "")


@dataclass(frozen=True, slots=True)
class Pages:
    """Turns templates into answers."""

    environment: Environment
    assets: Assets

    @classmethod
    @cache
    def load(cls) -> "Pages":
        """Read and packed once: what the package holds stays the same while it runs."""
        assets = Assets.load()
        environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.globals["asset"] = assets.address
        return cls(environment, assets)

    def page(self, template: str, context: Mapping[str, Any]) -> HTMLResponse:
        """The template as a page of its own nonce; always 200, a state is not an error.

        Who may frame it stands as `ancestors` in the context; nobody may where it does not.
        """
        nonce = secrets.token_urlsafe(16)
        text = self.environment.get_template(template).render(context, nonce=nonce)
        return Page(text, headers=page_headers(nonce, context.get("ancestors", ())))


def attachment(file_name: str, content: bytes, media: str = "application/pdf") -> Response:
    """A file to be saved, never shown inside this origin."""
    return Response(content, media_type=media, headers=saved(file_name))


def saved(file_name: str) -> dict[str, str]:
    """The headers of what is only ever saved, under this name."""
    return {
        **PAGE_HEADERS,
        "Content-Security-Policy": FILE_POLICY,
        "Content-Disposition": disposition(file_name),
    }


def disposition(file_name: str) -> str:
    """`Content-Disposition` with the name twice: safe ASCII, and UTF-8 for those who read it (RFC 6266)."""
    name = "".join(c for c in file_name if c.isprintable() and c not in "/\\") or "document.pdf"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " ._-()") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
