"""T23: every page of a running server has its headers, every cookie its flags, and no forged form is taken.

What scripts in names and fields do is tried in Chromium by tests/browser, who may open what in tests/rights.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import aiohttp

from esign.web.http.security import EVERYWHERE, PAGE_HEADERS
from esign.web.office.routes import TABLE
from tests.journeys.api import Api, a_session
from tests.reliability import arguments
from tests.reliability.figures import Figure
from tests.reliability.guesses import PASSWORD, come_from, fill_in, invite
from tests.reliability.served import Served, install

TARGET = (
    "every page of the office, of a link and of the API: headers as in esign/web/http/security.py, no inline script"
    " without its nonce, no framing; cookies HttpOnly and SameSite; every form refused in 8 forged ways"
)
FORGED: Mapping[str, Mapping[str, str]] = {
    "another site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    "another origin alone": {"Origin": "https://evil.example"},
    "a sandboxed page": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "no origin to name": {"Origin": "null"},
    "a sister domain": {"Sec-Fetch-Site": "same-site"},
    "as text": {"Content-Type": "text/plain"},
    "as JSON": {"Content-Type": "application/json"},
    "without the form's secret": {"Sec-Fetch-Site": "same-origin"},
}
PLACES = {
    "token": "t" * 43, "id": "ses_nobody", "rid": "rcp_nobody", "did": "dlv_nobody", "variant": "original",
    "number": 1, "done": 1, "name": "mail",
}  # fmt: skip
KEPT = ("/docs/esign.toml.example", "/docs/images/{name}")  # the same for everybody, kept for an hour
INLINE = re.compile(r"<script(?![^>]*\b(?:nonce|src|type=\"application/json\"))[^>]*>")


async def run(given: Sequence[str]) -> Figure:
    """Ask for every page and send every form in forged ways."""
    asked = arguments.read(given)
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="esign-reliability-") as folder:
        async with install(Path(folder)) as served:
            invitation = await invite(served)
            await served.start()
            async with come_from("127.0.0.1") as stranger, come_from("127.0.0.1") as owner:
                status = await fill_in(owner, invitation, name="Owner", password=PASSWORD)
                bad += [] if status == 303 else [f"joining was answered {status}"]
                pages = await look_at_pages(served, owner, bad) + await look_at_pages(served, stranger, bad)
                links = await look_at_links(served, stranger, bad)
                bad += list(find_weak_cookies(owner))
                forged = await forge(served, owner, bad)
            code = await served.stop()
            bad += [f"the server ended with {code}"] if code else []
            bad += ["the log holds a traceback"] if "Traceback" in served.log else []
    for line in bad[:20]:
        print(line)
    posts = sum(line.method == "POST" for line in TABLE)
    measured = (
        f"{len(TABLE)} routes of the office: {pages.total()} answers to GET as an owner and as a stranger, {links} of"
        f" links and of the API; {posts} forms × {len(FORGED)} forgeries, answered"
        f" {', '.join(f'{count} × {status}' for status, count in sorted(forged.items()))}; {len(bad)} findings"
    )
    return Figure("T23", TARGET, measured, not bad, len(bad), arguments.write("browser_security", asked))


async def look_at_pages(served: Served, session: aiohttp.ClientSession, bad: list[str]) -> Counter[int]:
    """Ask for every page of the office; note an answer without its headers."""
    statuses: Counter[int] = Counter()
    for line in TABLE:
        if line.method != "GET" or line.path in KEPT:
            continue
        async with session.get(served.base + line.path.format(**PLACES), allow_redirects=False) as answer:
            text = await answer.text(errors="replace")
            statuses[answer.status] += 1
        own = {name: value for name, value in PAGE_HEADERS.items() if name != "Referrer-Policy"}
        bad += find_missing(line.path, answer.headers, own, text)
        bad += [f"{line.path}: {answer.status}"] if answer.status >= 500 else []
    return statuses


async def look_at_links(served: Served, stranger: aiohttp.ClientSession, bad: list[str]) -> int:
    """Ask for what lies behind a signing link, and of the API; return how many answers there were."""
    async with a_session() as session:
        await Api(session, served.base, served.key).send_document()
        link = await served.office.wait_for_link("ada@example.test")
    paths = {link: PAGE_HEADERS, f"{link}/original.pdf": EVERYWHERE, f"{link}/pages/1.webp": {}}
    paths |= {f"{served.base}/s/{'x' * 43}": PAGE_HEADERS, f"{served.base}/no/such/page": {}}
    paths |= dict.fromkeys((f"{served.base}/api/v1/documents", f"{served.base}/api/v1/nothing"), EVERYWHERE)
    for url, own in paths.items():
        async with stranger.get(url) as answer:
            text = await answer.text(errors="replace")
        bad += find_missing(url.removeprefix(served.base), answer.headers, own, text)
    return len(paths)


def find_missing(path: str, headers: Mapping[str, str], own: Mapping[str, str], text: str) -> Iterator[str]:
    """Yield what is missing in an answer."""
    for name, value in own.items():
        if headers.get(name) != value:
            yield f"{path}: {name} is {headers.get(name)}"
    policy = headers.get("Content-Security-Policy", "")
    if own and ("unsafe" in policy or "default-src 'none'" not in policy):
        yield f"{path}: the policy is {policy!r}"
    if own is PAGE_HEADERS and "frame-ancestors 'none'" not in policy:
        yield f"{path}: may be framed"
    if "html" in headers.get("Content-Type", "") and (found := INLINE.search(text)):
        yield f"{path}: {found[0]}"


def find_weak_cookies(session: aiohttp.ClientSession) -> Iterator[str]:
    """Yield each cookie that scripts can read or other sites make a browser send."""
    for cookie in session.cookie_jar:
        if not cookie["httponly"] or str(cookie["samesite"]).lower() not in ("lax", "strict"):
            yield f"the cookie {cookie.key} is {json.dumps(dict(cookie))}"


async def forge(served: Served, owner: aiohttp.ClientSession, bad: list[str]) -> Counter[int]:
    """Send every form as the owner's browser would on behalf of another site; note what is not refused."""
    statuses: Counter[int] = Counter()
    for line in TABLE:
        if line.method != "POST":
            continue
        for name, headers in FORGED.items():
            if name == "without the form's secret" and line.needs is None:
                continue  # a form for everybody has none; its origin is what counts
            url = served.base + line.path.format(**PLACES)
            async with owner.post(url, data=b"role=viewer", headers=headers, allow_redirects=False) as answer:
                statuses[answer.status] += 1
            if answer.status not in (400, 403, 404, 413) and not leads_to_sign_in(answer):
                bad.append(f"{line.path}, {name}: {answer.status} {answer.headers.get('Location')}")
    async with owner.get(f"{served.base}/account", allow_redirects=False) as answer:
        bad += [] if answer.status == 200 else [f"the owner's page is answered {answer.status} afterwards"]
    return statuses


def leads_to_sign_in(answer: aiohttp.ClientResponse) -> bool:
    """Return whether the answer sends to the page at which one signs in."""
    return answer.status == 303 and answer.headers.get("Location", "").startswith("/sign-in")
