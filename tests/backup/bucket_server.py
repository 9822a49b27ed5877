"""S3-compatible storage that keeps files in memory, and checks every signature by a computation of its own."""

import asyncio
import hashlib
import hmac
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from aiohttp import web

from tests.ports import reserve_port

ACCESS, SECRET, REGION, BUCKET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "eu-test-1", "copies"


@dataclass
class Storage:
    """`fail` answers the next requests of a method with a status; `lose` cuts that many connections.

    `odd_size` stands in the list in place of each size; `endless`: the list never ends.
    """

    port: int = field(default_factory=reserve_port)
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, tuple[str, dict[int, bytes]]] = field(default_factory=dict)
    fail: list[tuple[str, int]] = field(default_factory=list)
    lose: int = 0
    refuse_parts: bool = False
    odd_size: str = ""
    endless: bool = False
    asked: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked.append(request.method)
        if self.lose and request.method == "PUT":
            self.lose -= 1
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if self.fail and self.fail[0][0] == request.method:
            return web.Response(status=self.fail.pop(0)[1])
        if code := check_signature(request, body):
            return refuse(403, code)
        _, bucket, *rest = unquote(request.path).split("/", 2)
        if bucket != BUCKET:
            return refuse(404, "NoSuchBucket")
        return self.act(request, rest[0] if rest else "", body)

    def act(self, request: web.Request, key: str, body: bytes) -> web.StreamResponse:
        query = request.query
        match request.method:
            case "GET" if "uploads" in query:
                found = "".join(
                    f"<Upload><Key>{name}</Key><UploadId>{each}</UploadId></Upload>"
                    for each, (name, _) in self.uploads.items()
                )
                return web.Response(text=f"<List>{found}</List>")
            case "GET":
                return self.list_page(query)
            case "HEAD":
                return web.Response(headers={"Content-Length": str(len(self.files[key]))})
            case "DELETE" if "uploadId" in query:
                del self.uploads[query["uploadId"]]
            case "DELETE":
                self.files.pop(key, None)
            case "POST" if "uploads" in query:
                self.uploads[f"u{len(self.asked)}"] = (key, {})
                return web.Response(text=f"<R><UploadId>u{len(self.asked)}</UploadId></R>")
            case "POST":
                name, parts = self.uploads.pop(query["uploadId"])
                self.files[name] = b"".join(parts[number] for number in sorted(parts))
            case "PUT" if "uploadId" in query:
                if self.refuse_parts:
                    return refuse(403, "AccessDenied")
                self.uploads[query["uploadId"]][1][int(query["partNumber"])] = body
                return web.Response(headers={"ETag": '"tag"'})
            case "PUT":
                self.files[key] = body
        return web.Response()

    def list_page(self, query: Mapping[str, str]) -> web.StreamResponse:
        """One file in each answer."""
        names = sorted(name for name in self.files if name.startswith(query["prefix"]))
        place = int(query.get("continuation-token", "0"))
        shown = "".join(
            f"<Contents><Key>{name}</Key><Size>{self.odd_size or len(self.files[name])}</Size></Contents>"
            for name in names[place : place + 1]
        )
        following = 0 if self.endless else place + 1
        token = (
            f"<NextContinuationToken>{following}</NextContinuationToken>" if following < len(names) else ""
        )
        return web.Response(text=f"<List>{shown}{token}</List>")


def refuse(status: int, code: str) -> web.Response:
    return web.Response(status=status, text=f"<Error><Code>{code}</Code><Message>no</Message></Error>")


def check_signature(request: web.Request, body: bytes) -> str:
    """The code of what is wrong, as the definition of Signature Version 4 has it; "" for a right one."""
    fields = dict(
        part.strip().split("=", 1)
        for part in request.headers["Authorization"].removeprefix("AWS4-HMAC-SHA256 ").split(",")
    )
    access, date, region, service, end = fields["Credential"].split("/")
    if access != ACCESS:
        return "InvalidAccessKeyId"
    if region != REGION:
        return "AuthorizationHeaderMalformed"
    if hashlib.sha256(body).hexdigest() != request.headers["x-amz-content-sha256"]:
        return "XAmzContentSHA256Mismatch"
    raw = urlsplit(request.raw_path)
    pairs = sorted(parse_qsl(raw.query, keep_blank_values=True, strict_parsing=bool(raw.query)))
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    names = fields["SignedHeaders"].split(";")
    assert {"host", "x-amz-content-sha256", "x-amz-date"} <= {*names}
    canonical = [request.method, quote(unquote(raw.path), safe="/"), query]
    canonical += [f"{name}:{request.headers[name]}" for name in names]
    canonical += ["", ";".join(names), request.headers["x-amz-content-sha256"]]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{date}/{region}/{service}/{end}\n{digest}"
    key = ("AWS4" + SECRET).encode()
    for part in (date, region, service, end):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    right = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return "" if right == fields["Signature"] else "SignatureDoesNotMatch"


@contextmanager
def serve_bucket() -> Iterator[Storage]:
    """A storage that answers in a thread of its own until the block ends."""
    storage, begun, loop = Storage(), threading.Event(), asyncio.new_event_loop()

    async def begin() -> web.AppRunner:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{rest:.*}", storage.answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", storage.port).start()
        return runner

    def serve() -> None:
        runner = loop.run_until_complete(begin())
        begun.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert begun.wait(30)
    try:
        yield storage
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
