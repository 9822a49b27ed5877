"""What all pages for people share: the Jinja environment, the static files, and the responses made from them.

All static files share one hash, as a folder in their address. Modules, style sheets and fonts can therefore
name each other by relative paths, and browsers may keep them for ever. A script or style sheet that a page names is
sent with all that it imports (`bundle`); with the variable `ESIGN_UNBUNDLED` the files are sent as they are.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from esign.web.bundle import bundle_files
from esign.web.http.encoding import PAGE, KeptBody, encode
from esign.web.http.security import FILE_POLICY, PAGE_HEADERS, PLAIN_POLICY, build_page_headers

HERE = Path(__file__).parent
FONTS = HERE.parent / "pdf" / "fonts"

UNBUNDLED = "ESIGN_UNBUNDLED"  # for development: each module is a file of its own in the tools of the browser
FOR_EVER = "public, max-age=31536000, immutable"
FOR_AN_HOUR = "public, max-age=3600"
MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
}


@dataclass(frozen=True, slots=True)
class Assets:
    """All static files by name, and the hash over all of them."""

    files: Mapping[str, KeptBody]
    digest: str

    @classmethod
    def load(cls, *, bundled: bool = True) -> "Assets":
        """Read every static file of the package into memory, and bundle the scripts and style sheets of pages."""
        files = dict(sorted(_load_files()))
        if bundled:
            files |= _bundle_assets(files)
        whole = hashlib.sha256()
        for name, asset in files.items():
            whole.update(name.encode() + b"\0" + hashlib.sha256(asset.plain).digest())
        return cls(files, whole.hexdigest()[:16])

    def address(self, name: str) -> str:
        """Return the path of a file. Raise KeyError for an unknown name, so that no template can ask for one."""
        self.files[name]
        return f"/static/{self.digest}/{name}"

    def make_icon_drawer(self) -> Callable[..., Markup]:
        """Return the function that templates call for an icon: its name, and more classes if it has any.

        A page has hundreds of icons of a few dozen kinds. A macro takes 10 µs for each, this 0.5 µs.
        """
        address = self.address("icons.svg")

        @cache
        def draw_icon(name: str, more: str = "") -> Markup:
            """Return an icon as SVG that refers to the file of all icons."""
            classes = f"i {more}" if more else "i"
            return Markup('<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>').format(
                classes, address, name
            )

        return draw_icon

    def route(self) -> Route:
        return Route("/static/{digest}/{name:path}", self.serve, methods=["GET"])

    async def serve(self, request: Request) -> Response:
        """Send a static file, or answer 404 for an unknown name or the hash of another version."""
        asset = self.files.get(request.path_params["name"])
        if asset is None or request.path_params["digest"] != self.digest:
            raise HTTPException(404)
        return await make_asset_response(request, asset, FOR_EVER, "same-origin")

    async def embed(self, request: Request) -> Response:
        """Send the script that pages of other applications load. Its address never changes."""
        return await make_asset_response(request, self.files["embed.js"], FOR_AN_HOUR, "cross-origin")


async def make_asset_response(request: Request, asset: KeptBody, kept: str, readers: str) -> Response:
    """Return the response for a static file.

    `kept` is the `Cache-Control` header; `readers` says whether pages of other sites may load the file.
    """
    headers = {
        "Cache-Control": kept,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": readers,
        "Content-Security-Policy": PLAIN_POLICY,
    }
    return await asset.respond(request.scope, headers)


def _load_files() -> Iterator[tuple[str, KeptBody]]:
    """Yield (name, file) for the static folder and for the fonts."""
    for path in (HERE / "static").rglob("*.*"):
        yield path.relative_to(HERE / "static").as_posix(), _load_asset(path)
    for path in (*FONTS.glob("EsignHand*.ttf"), *FONTS.glob("Noto*-Regular.ttf")):
        yield f"fonts/{path.name}", _load_asset(path)  # the same files that the PDF worker draws with


def _bundle_assets(files: Mapping[str, KeptBody]) -> dict[str, KeptBody]:
    """Return the scripts and style sheets that import others, with these in them."""
    texts = {name: asset.plain.decode() for name, asset in files.items() if name.endswith((".js", ".css"))}
    return {name: replace(files[name], plain=text.encode()) for name, text in bundle_files(texts).items()}


# Removed before serving: indentation, all comments of a style sheet, and the comments of a script that fill lines.
UNSENT = {
    ".css": re.compile(rb"/\*.*?\*/|^[ \t]+|\n(?=\s*\n)", re.MULTILINE | re.DOTALL),
    ".js": re.compile(rb"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)\n|^[ \t]+", re.MULTILINE | re.DOTALL),
}


def _load_asset(path: Path) -> KeptBody:
    """Read one file, and remove the comments and indentation of scripts and style sheets."""
    plain = path.read_bytes()
    if unsent := UNSENT.get(path.suffix):
        plain = unsent.sub(b"", plain)
    return KeptBody(MEDIA[path.suffix], plain)


class CompressedPage(HTMLResponse):
    """An HTML page, compressed if the client accepts gzip (see `encoding` for what that must not reveal)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body, headers = await encode(scope, bytes(self.body), PAGE)
        self.headers.update({**headers, "Content-Length": str(len(self.body))})
        await super().__call__(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Pages:
    """Renders templates."""

    environment: Environment
    assets: Assets

    @classmethod
    @cache
    def load(cls) -> "Pages":
        """Load the templates and static files, once per process."""
        assets = Assets.load(bundled=not os.environ.get(UNBUNDLED))
        environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.globals["asset"] = assets.address
        environment.globals["draw_icon"] = assets.make_icon_drawer()
        return cls(environment, assets)

    def page(self, template: str, context: Mapping[str, Any]) -> HTMLResponse:
        """Render a template with a nonce of its own. The status is 200.

        `ancestors` in the context lists the sites that may frame the page; without it no site may.
        """
        nonce = secrets.token_urlsafe(16)
        text = self.environment.get_template(template).render(context, nonce=nonce)
        return CompressedPage(text, headers=build_page_headers(nonce, context.get("ancestors", ())))


def make_attachment(file_name: str, content: bytes, media: str = "application/pdf") -> Response:
    """Return a response that a browser saves as a file and never shows inside this origin."""
    return Response(content, media_type=media, headers=make_download_headers(file_name))


def make_download_headers(file_name: str) -> dict[str, str]:
    """Return the headers of a response that a browser only saves, under this file name."""
    return {
        **PAGE_HEADERS,
        "Content-Security-Policy": FILE_POLICY,
        "Content-Disposition": format_disposition(file_name),
    }


def format_disposition(file_name: str) -> str:
    """Return `Content-Disposition` with the name twice: as safe ASCII, and in UTF-8 (RFC 6266)."""
    name = "".join(c for c in file_name if c.isprintable() and c not in "/\\") or "document.pdf"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " ._-()") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
