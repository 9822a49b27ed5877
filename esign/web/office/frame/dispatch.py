"""Opens each line of the table: who asks, from where, with which form, and whether they may."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from esign.actions.document import document_list
from esign.actions.mail import mail_breaker
from esign.actions.people import sessions
from esign.actions.people.sessions import WrongProof
from esign.core.errors import Problem
from esign.core.network import network_of
from esign.core.people.user import Act, Stage, may
from esign.pdf.worker.queue_turn import name_caller
from esign.runtime import Runtime
from esign.web.http import errors
from esign.web.http.answer import CLOSE
from esign.web.http.body import Incoming
from esign.web.http.errors import as_json
from esign.web.http.origin import same_origin
from esign.web.http.ratelimit import Place, Uploads, Windows
from esign.web.office.frame import expired_form, forms
from esign.web.office.frame.call import CSRF, PLACE, Call, is_own
from esign.web.office.frame.forms import EMPTY, Wrong
from esign.web.office.session import cookies
from esign.web.office.session.login_throttle import Tries
from esign.web.pages import Pages

Handler = Callable[[Call], Awaitable[Response]]

PROOF, CODE = "password-again", "code-again"  # the fields of the page that asks who it is
ASK = "ask"  # names the one field that is asked for, where the page behind needs no more
STALE = "This page was open for long. Please send it once more."
ELSEWHERE = (
    "You have gone to another organisation or mode in another tab, where this form does not belong."
    " Nothing was changed. First return to where it belongs."
)
WRONG_PASSWORD = "This is not your password."  # noqa: S105  (a sentence)
WRONG_CODE = (
    "This code is not right. Codes change every 30 seconds, and each one works once: take the next one."
)
UNPROCESSABLE = 422
REDIRECTS = range(300, 400)
OF_THE_FILE = ("request_too_large", "rate_limited", "unavailable")
FRAME = 64 * 2**10  # bytes of a form around its file
DOWNLOADS = frozenset({"/selection/download"})  # whose page stays, since a file is saved beside it


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. `needs`: what the person's role must allow, that a code is awaited, or nothing.

    `fresh`: their password was given a moment ago, or is asked for again. `code`: of somebody with a second factor a
    code is asked for too, unless one confirmed such an act a moment ago (`recent`, the usual where `fresh`), or with
    this very form (`each`); the code of the sign-in never counts, as it says nothing of who is at the browser now.
    `again`: the page that shows the form with what is wrong. `takes`: a plain form, or a large one, with a row for
    each recipient or with files, which is not read before it is clear who sends it. `policy`: how often it may be
    sent from one address. `mib`: how large its file may be, where that is less than a document.
    """

    method: str
    path: str
    handler: Handler
    needs: Act | Literal[Stage.HALF] | None = None
    fresh: bool = False
    code: Literal["recent", "each", "never"] | None = None
    again: Handler | None = None
    takes: Literal["form", "rows", "files"] = "form"
    policy: str | None = None
    mib: int | None = None

    @property
    def asks_code(self) -> Literal["recent", "each", "never"]:
        """When somebody with a second factor is asked for a code."""
        return self.code or ("recent" if self.fresh else "never")

    @property
    def of_a_place(self) -> bool:
        """Whether its form counts only where it was shown: another tab may have led the session elsewhere since."""
        return self.needs in (Act.WORK, Act.SETTLE, Act.OWN)


@dataclass(frozen=True, slots=True)
class Door:
    runtime: Runtime
    pages: Pages
    tries: Tries
    uploads: Uploads
    windows: Windows
    places: frozenset[str]
    packing: Uploads
    strangers: Uploads

    def open(self, line: Line) -> Route:
        async def answer(request: Request) -> Response:
            call = Call(
                request, self.runtime, self.pages, self.tries, places=self.places, packing=self.packing
            )
            try:
                answered = await self._answer(line, call)
            except Problem as problem:
                answered = await self._refusal(line, call, problem)
            if call.incoming is not None and call.incoming.unread:
                answered = Lingering(answered, call.incoming)
            if call.cookie is not None:
                cookies.give(answered, self.runtime.config, call.cookie)
            if call.browser is not None:
                cookies.give_browser(answered, self.runtime.config, call.browser)
            return answered

        return Route(line.path, answer, methods=[line.method])

    async def _answer(self, line: Line, call: Call) -> Response:
        if line.method == "POST":
            same_origin(call.request)
        if line.method == "POST" and line.takes == "form":
            call.form = await forms.read(call.request)
        await self._recognise(call)
        aside = self._aside(line, call)
        if line.takes == "rows":
            call.form = await forms.read(call.request, forms.LONG, forms.MANY)
        if aside is not None:
            lost = isinstance(line.needs, Act) and not call.wants_json and expired_form.worth(call)
            return expired_form.waiting(call) if lost else aside
        if line.takes != "files":
            return await self._admitted(line, call)
        if line.policy is not None:
            self._count(line.policy, call)
        limit = self.runtime.config.limits.body_mib * 2**20 if line.mib is None else line.mib * 2**20 + FRAME
        async with self._place(call) as place:
            call.incoming = Incoming(call.request.scope, call.request.receive)
            sent = await forms.read_files(call.incoming, limit, place)
            call.form, call.files = sent.fields, sent.files
            return await self._admitted(line, call)

    def _place(self, call: Call) -> AbstractAsyncContextManager[Place]:
        """A place for a large file: strangers have their own, of which one network takes one."""
        if call.person is None:
            return self.strangers.place(network_of(call.origin.ip or "local"))
        return self.uploads.place(call.person.user.id, call.person.organisation.id)

    def _count(self, policy: str, call: Call) -> None:
        standing = self.windows.count_address(policy, call.origin.ip or "local")
        if standing is not None and standing.exceeded:
            sentence = (
                f"Too many files were sent from your network just now. Try again in {standing.reset} seconds."
            )
            raise Problem("rate_limited", sentence, retry_after=standing.reset)

    async def _refusal(self, line: Line, call: Call, problem: Problem) -> Response:
        """What cannot be done; where it is about the file alone, on the page that it was sent from."""
        if call.wants_json:
            return as_json(call.request.scope, problem)
        if line.takes != "files" or line.again is None or problem.code not in OF_THE_FILE:
            return fault(call, problem)
        limits = self.runtime.config.limits
        too_large = f"The file is too large: up to {line.mib or limits.file_mib} MB can be sent."
        call.wrong = {"file": too_large if problem.code == "request_too_large" else problem.message}
        answer = await line.again(call)
        answer.status_code = problem.status
        answer.headers.update(dict(errors.headers(problem)))
        return answer

    async def _admitted(self, line: Line, call: Call) -> Response:
        if line.method == "POST" and line.needs is not None:
            assert call.session is not None
            if (refused := self._misplaced(line, call)) is not None:
                return refused
        if (asked := await self._asked_again(line, call)) is not None:
            return asked
        if line.takes != "form" or call.cookie is not None:
            await self._recognise_anew(line, call)
            if (aside := self._aside(line, call)) is not None:
                return aside
        try:
            return await line.handler(call)
        except Wrong as wrong:
            return await shown_again(line, call, wrong)

    def _misplaced(self, line: Line, call: Call) -> Response | None:
        """Raises for a form of another session or place; the page that offers it again, where something is in it."""
        assert call.session is not None
        own = is_own(self.runtime, call.session, call.form.get(CSRF, ""))
        elsewhere = line.of_a_place and call.form.get(PLACE, call.place) != call.place
        if not own or elsewhere:
            sentence = ELSEWHERE if own else STALE
            if line.takes == "files" or call.wants_json or not expired_form.says_something(call):
                raise Problem("invalid_request", sentence)
            again = expired_form.offered(call, expired_form.pack(call), sentence)
            again.status_code = 400
            return again
        call.form.pop(CSRF, None)
        call.form.pop(PLACE, None)
        return None

    async def _recognise(self, call: Call) -> None:
        token = cookies.find(call.request, self.runtime.config)
        if token is not None:
            call.session = await sessions.known(self.runtime, token)
        if call.session is not None:
            call.person = await sessions.signed(self.runtime, call.session)
        if call.person is not None:
            call.outage = await mail_breaker.find_outage(
                self.runtime, call.owner.mode, call.owner.organisation_id
            )
            name_caller(call.person.user.id)
            call.attention = (await document_list.count(self.runtime, call.owner)).attention

    async def _recognise_anew(self, line: Line, call: Call) -> None:
        """Look at the session and the role once more: a body takes minutes to come, and a proof may wait its turn.

        Raises `invalid_request` where the session has gone to another organisation or mode meanwhile.
        """
        if call.session is None:
            return
        place = call.place if call.person else None
        call.session = await sessions.look_again(self.runtime, call.session)
        call.person = await sessions.signed(self.runtime, call.session) if call.session else None
        if line.of_a_place and call.person is not None and call.place != place:
            raise Problem("invalid_request", ELSEWHERE)

    def _aside(self, line: Line, call: Call) -> Response | None:
        """Where somebody goes who is not signed in; raises `insufficient_scope` where their role is not enough."""
        if line.needs is None:
            return None
        if line.needs is Stage.HALF:
            half = call.session is not None and call.session.stage is Stage.HALF
            return None if half else call.go("/sign-in")
        if (
            call.person is None and call.wants_json and line.takes == "files"
        ):  # an upload follows redirects blindly
            raise Problem("insufficient_scope", "You are signed out.")
        if call.person is None and line.method == "POST" and line.path != "/sign-out":
            return call.go("/sign-in", "ended-file" if line.takes == "files" else "ended")
        if call.person is None:
            return call.go(sign_in_then(call.request))
        if not may(call.person.member.role, line.needs):
            raise Problem("insufficient_scope", "Your role in this organisation does not allow this.")
        return None

    async def _asked_again(self, line: Line, call: Call) -> Response | None:
        """Return the page that asks for the password, a code or both, with the form inside; None once all is given."""
        if not line.fresh and line.asks_code == "never":
            return None
        given = {name: call.form.pop(name) for name in (PROOF, CODE) if name in call.form}
        asks = find_missing_proofs(call, password=line.fresh, code=line.asks_code)
        if not asks:
            return None
        if line.method == "GET" or line.takes == "files":  # a file cannot wait in a page
            only = {} if CODE in asks or line.asks_code != "never" else {ASK: PROOF}
            return call.go(f"/confirm?{urlencode({'next': address(call.request), **only})}")
        if given:
            try:
                await prove(call, asks, given)
            except Wrong as wrong:
                call.wrong = wrong.sentences
            else:
                return None
        stays = line.path in DOWNLOADS
        asked = call.page("confirm", action=call.request.url.path, kept=call.form, asks=asks, stays=stays)
        asked.status_code = UNPROCESSABLE if call.wrong else 200
        return asked


def find_missing_proofs(
    call: Call, *, password: bool = True, code: Literal["recent", "each", "never"] = "recent"
) -> tuple[str, ...]:
    """Return the fields that the person has to fill in before they go on; none where what they gave still counts."""
    session, now = call.signed.session, call.runtime.clock.now()
    needed = {PROOF: password and not session.is_fresh(now), CODE: False}
    if call.signed.user.totp is not None and code != "never":
        needed[CODE] = code == "each" or not session.is_confirmed(now)
    return tuple(name for name, is_needed in needed.items() if is_needed)


async def prove(call: Call, asks: Sequence[str], given: Mapping[str, str]) -> None:
    """Confirm who is at the browser; the session goes on under a new cookie.

    Raises `Wrong` at the field that is empty or not right, and `rate_limited` after too many tries.
    """
    if empty := {name: EMPTY for name in asks if not given.get(name, "").strip()}:
        raise Wrong(empty)
    password, code = (given[name] if name in asks else None for name in (PROOF, CODE))
    call.cookie = await confirm(call, password, code)


async def confirm(
    call: Call, password: str | None, code: str | None, fields: tuple[str, str] = (PROOF, CODE)
) -> str:
    """Return the new cookie of the session; `fields` are those of the form that holds password and code.

    Raises `Wrong` at the field that is not right, and `rate_limited` after too many tries.
    """
    user, ip = call.signed.user, call.origin.ip
    call.tries.count("confirm", user.id, ip)
    try:
        cookie = await sessions.confirm(call.runtime, call.signed, call.origin, password=password, code=code)
    except WrongProof as wrong:
        at_password, at_code = fields
        found = {at_password: WRONG_PASSWORD} if wrong.what == "password" else {at_code: WRONG_CODE}
        raise Wrong(found) from None
    call.tries.forgive("confirm", user.id, ip)
    return cookie


async def shown_again(line: Line, call: Call, wrong: Wrong) -> Response:
    assert line.again is not None, f"{line.path} refuses a form that it cannot show again"
    call.wrong = wrong.sentences
    answer = await line.again(call)
    if answer.status_code not in REDIRECTS:  # the page of the form leads on where it is for nothing any more
        answer.status_code = UNPROCESSABLE
    return answer


def sign_in_then(request: Request) -> str:
    """The sign-in page, which leads back to a page that was asked for; a form is not sent again by itself."""
    return f"/sign-in?{urlencode({'next': address(request)})}" if request.method == "GET" else "/sign-in"


def address(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def fault(call: Call, problem: Problem) -> Response:
    """What cannot be done, on a page of the office; where nobody is signed in, as everywhere."""
    if call.person is None and problem.status not in (400, 409, 429):
        raise problem
    kinds = {401: "refused", 404: "missing", 409: "conflict", 429: "busy", 503: "away"}
    shown = call.page("fault", kind=kinds.get(problem.status, "wrong"), sentence=problem.message)
    shown.status_code = 403 if problem.status == 401 else problem.status
    shown.headers.update(dict(errors.headers(problem)))
    return shown


class Lingering(Response):
    """An answer to a form that is too large: its browser reads it while it is still sending."""

    def __init__(self, answer: Response, incoming: Incoming) -> None:
        super().__init__()
        self.body, self.status_code = answer.body, answer.status_code
        self.raw_headers = [*answer.raw_headers, CLOSE]
        self._incoming = incoming

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(head)
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await self._incoming.discard()
        await send({"type": "http.response.body", "body": b""})
