"""Check each request against its line of the table of pages, then call its handler.

Checked are the origin, the session, the permission, the form's CSRF token and the password.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
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
from esign.core.language import find_accepted
from esign.core.people.permission import Permission, has_permission
from esign.core.people.user import Stage
from esign.core.rate_network import find_network
from esign.core.sentence import say
from esign.pdf.worker.queue_turn import name_caller
from esign.runtime import Runtime
from esign.web.http import errors
from esign.web.http.answer import CLOSE
from esign.web.http.body import IncomingBody
from esign.web.http.errors import respond_as_json
from esign.web.http.origin import require_same_origin
from esign.web.http.ratelimit import RateWindows, UploadPlace, Uploads
from esign.web.office.frame import forms, held_form
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.missing_pages import METHOD_NOT_ALLOWED, NOT_FOUND, find_missing_page
from esign.web.office.frame.office_call import CSRF, PLACE, OfficeCall, is_csrf_token_of
from esign.web.office.frame.words import OfficeWords, choose_words
from esign.web.office.session import cookies
from esign.web.office.session.login_throttle import LoginThrottle
from esign.web.pages import Pages

Handler = Callable[[OfficeCall], Awaitable[Response]]

PROOF, CODE = "password-again", "code-again"  # the fields of the page that asks for proof
ASK = "ask"  # `ask=password-again` in an address: the page behind it needs the password only
STALE = "This page was open for a long time. Please send it again."
ELSEWHERE = (
    "You switched organisation or mode in another tab. Nothing was changed. Switch back, then try again."
)
TOO_MANY_FILES = "Too many files were sent from your network. Try again in {n} seconds."
TOO_MANY_FILES_NOW = "Too many files were sent from your network. Try again in {n} second."
WRONG_PASSWORD = "That isn’t your password."  # noqa: S105  (a sentence)
WRONG_CODE = "That code isn’t right. Codes change every 30 seconds and work once, so use the next one."
UNPROCESSABLE = 422
REDIRECTS = range(300, 400)
OF_THE_FILE = ("request_too_large", "rate_limited", "unavailable")
FRAME = 64 * 2**10  # bytes that a multipart form may have besides its file
DOWNLOADS = frozenset({"/selection/download"})  # the browser saves a file and stays on the page


@dataclass(frozen=True, slots=True)
class OfficeRoute:
    """One line of the table of pages.

    `needs`: the permission that the member's role must have, `Stage.HALF` for the step that asks for a code, or
    None.

    `fresh`: the password must have been confirmed recently; otherwise it is asked for again.

    `code`: when a user with a second factor must give a code too. `recent`: unless they confirmed a sensitive
    act a moment ago (the default if `fresh`). `each`: with this very form. `never`: not at all. The code of the
    sign-in does not count, because it says nothing about who is at the browser now.

    `again`: the page that shows the form again, with its errors. `policy`: the rate limit for one network.

    `takes`: a plain form, a large one (`rows`, with a row for each recipient), or one with files, which is not
    read before the sender is known. `mib`: the size limit of its file, if it is smaller than that of a
    document.
    """

    method: str
    path: str
    handler: Handler
    needs: Permission | Literal[Stage.HALF] | None = None
    fresh: bool = False
    code: Literal["recent", "each", "never"] | None = None
    again: Handler | None = None
    takes: Literal["form", "rows", "files"] = "form"
    policy: str | None = None
    mib: int | None = None

    @property
    def code_policy(self) -> Literal["recent", "each", "never"]:
        """Return when a user with a second factor must give a code."""
        return self.code or ("recent" if self.fresh else "never")

    @property
    def is_bound_to_organisation(self) -> bool:
        """Return whether the form is valid only in the organisation and mode where it was shown.

        Another tab may have switched the session since.
        """
        return self.needs in (Permission.WORK, Permission.SETTLE, Permission.OWN)


@dataclass(frozen=True, slots=True)
class OfficeDispatcher:
    """Makes a route of each line of the table. The fields are what all of them share.

    `places`: the paths of all pages that can be shown. `uploads` and `strangers` limit concurrent uploads of
    signed-in users and of everybody else; `packing` limits archives.
    """

    runtime: Runtime
    pages: Pages
    tries: LoginThrottle
    uploads: Uploads
    windows: RateWindows
    places: frozenset[str]
    packing: Uploads
    strangers: Uploads

    def open(self, line: OfficeRoute) -> Route:
        """Return the route of one line: it calls the handler behind all checks, and sets the cookies of the answer."""

        async def answer(request: Request) -> Response:
            call = OfficeCall(
                request, self.runtime, self.pages, self.tries, places=self.places, packing=self.packing
            )
            try:
                answered = await self._answer(line, call)
            except Problem as problem:
                # It may have come before the language was chosen.
                call.words = choose_words(*list_wanted_languages(call))
                answered = await self._answer_problem(line, call, problem)
            if call.incoming is not None and call.incoming.unread:
                answered = LingeringResponse(answered, call.incoming)
            if call.cookie is not None:
                cookies.give_session(answered, self.runtime.config, call.cookie)
            if call.browser is not None:
                cookies.give_browser(answered, self.runtime.config, call.browser)
            return answered

        return Route(line.path, answer, methods=[line.method])

    def refuse(self, path: str, method: str, problem: Callable[[Request], Problem]) -> Route:
        """Return a route that only says, within the frame of the office, what is wrong with the address or method."""

        async def answer(request: Request) -> Response:
            call = OfficeCall(request, self.runtime, self.pages, self.tries, places=self.places)
            await self._recognise(call)
            call.words = choose_words(*list_wanted_languages(call))
            found = problem(request)
            return respond_as_json(request.scope, found) if call.wants_json else show_problem(call, found)

        return Route(path, answer, methods=[method])

    async def _answer(self, line: OfficeRoute, call: OfficeCall) -> Response:
        """Read the form, recognise the session, check the permission, and call the handler.

        A large form is read only after the session is known. A form whose session has ended is carried on to
        the sign-in page, so that nothing the user typed is lost.
        """
        if line.method == "POST":
            require_same_origin(call.request)
        if line.method == "POST" and line.takes == "form":
            call.form = await forms.read_form(call.request)
        await self._recognise(call)
        call.words = choose_words(*list_wanted_languages(call))
        aside = self._turn_away(line, call)
        if line.takes == "rows":
            call.form = await forms.read_form(call.request, forms.LONG, forms.MANY)
        if aside is not None:
            lost = (
                isinstance(line.needs, Permission)
                and not call.wants_json
                and held_form.is_worth_keeping(call)
            )
            return held_form.show_sign_in(call) if lost else aside
        if line.takes != "files":
            return await self._call_handler(line, call)
        if line.policy is not None:
            self._count_request(line.policy, call)
        limit = self.runtime.config.limits.body_mib * 2**20 if line.mib is None else line.mib * 2**20 + FRAME
        async with self._reserve_upload(call) as place:
            call.incoming = IncomingBody(call.request.scope, call.request.receive)
            sent = await forms.read_form_with_files(call.incoming, limit, place)
            call.form, call.files = sent.fields, sent.files
            return await self._call_handler(line, call)

    def _reserve_upload(self, call: OfficeCall) -> AbstractAsyncContextManager[UploadPlace]:
        """Return a place among the uploads. Users who are not signed in share a small number, one per network."""
        if call.person is None:
            return self.strangers.place(find_network(call.origin.ip or "local"))
        return self.uploads.place(call.person.user.id, call.person.organisation.id)

    def _count_request(self, policy: str, call: OfficeCall) -> None:
        """Count one request of this network against the policy; raise `rate_limited` beyond its limit."""
        standing = self.windows.count_address(policy, call.origin.ip or "local")
        if standing is not None and standing.is_exceeded:
            sentence = say(TOO_MANY_FILES, one=TOO_MANY_FILES_NOW, n=standing.reset)
            raise Problem("rate_limited", sentence, retry_after=standing.reset)

    async def _answer_problem(self, line: OfficeRoute, call: OfficeCall, problem: Problem) -> Response:
        """Return the answer to a request that failed: as JSON for a script, otherwise as a page.

        A problem that concerns only the uploaded file is shown on the page that sent it.
        """
        if call.wants_json:
            return respond_as_json(call.request.scope, translate_problem(problem, call.words))
        if line.takes != "files" or line.again is None or problem.code not in OF_THE_FILE:
            return show_problem(call, problem)
        limits = self.runtime.config.limits
        too_large = say("The file is too large. The limit is {mib} MB.", mib=line.mib or limits.file_mib)
        call.wrong = {"file": too_large if problem.code == "request_too_large" else problem.message}
        answer = await line.again(call)
        answer.status_code = problem.status
        answer.headers.update(dict(errors.list_headers(problem)))
        return answer

    async def _call_handler(self, line: OfficeRoute, call: OfficeCall) -> Response:
        """Check the token of the form and ask for the password if needed, then call the handler."""
        if line.method == "POST" and line.needs is not None:
            assert call.session is not None
            if (refused := self._refuse_foreign_form(line, call)) is not None:
                return refused
        if (asked := await self._ask_for_proof(line, call)) is not None:
            return asked
        # Reading a large body, or checking a password, took long enough for the session or the role to change.
        if line.takes != "form" or call.cookie is not None:
            await self._recognise_again(line, call)
            if (aside := self._turn_away(line, call)) is not None:
                return aside
        try:
            return await line.handler(call)
        except FormError as wrong:
            return await show_form_again(line, call, wrong)

    def _refuse_foreign_form(self, line: OfficeRoute, call: OfficeCall) -> Response | None:
        """Return the page that offers a form again which belongs to another session, organisation or mode.

        Return None if the form is in its place. Raise `invalid_request` if the form has no content worth
        keeping, has files, or was sent by a script.
        """
        assert call.session is not None
        own = is_csrf_token_of(self.runtime, call.session, call.form.get(CSRF, ""))
        elsewhere = line.is_bound_to_organisation and call.form.get(PLACE, call.place) != call.place
        if not own or elsewhere:
            sentence = ELSEWHERE if own else STALE
            if line.takes == "files" or call.wants_json or not held_form.has_content(call):
                raise Problem("invalid_request", sentence)
            again = held_form.show_held_form(call, held_form.pack_form(call), sentence)
            again.status_code = 400
            return again
        call.form.pop(CSRF, None)
        call.form.pop(PLACE, None)
        return None

    async def _recognise(self, call: OfficeCall) -> None:
        """Find the session and the person of the cookie, and what the frame of the page says about them."""
        token = cookies.read_session_token(call.request, self.runtime.config)
        if token is not None:
            call.session = await sessions.find_session(self.runtime, token)
        if call.session is not None:
            call.person = await sessions.find_signed_in(self.runtime, call.session)
        if call.person is not None:
            call.outage = await mail_breaker.find_outage(
                self.runtime, call.owner.mode, call.owner.organisation_id
            )
            name_caller(call.person.user.id)
            call.counts = await document_list.count_by_status(self.runtime, call.owner)

    async def _recognise_again(self, line: OfficeRoute, call: OfficeCall) -> None:
        """Load the session and the role once more, since reading a body and checking a password can take minutes.

        Raise `invalid_request` if the session was switched to another organisation or mode in the meantime.
        """
        if call.session is None:
            return
        place = call.place if call.person else None
        call.session = await sessions.refresh_session(self.runtime, call.session)
        call.person = await sessions.find_signed_in(self.runtime, call.session) if call.session else None
        if line.is_bound_to_organisation and call.person is not None and call.place != place:
            raise Problem("invalid_request", ELSEWHERE)

    def _turn_away(self, line: OfficeRoute, call: OfficeCall) -> Response | None:
        """Return the redirect for a user who is not signed in, or None if the request may go on.

        Raise `insufficient_scope` if the member's role lacks the permission, and for a script that uploads
        without a session.
        """
        if line.needs is None:
            return None
        if line.needs is Stage.HALF:
            half = call.session is not None and call.session.stage is Stage.HALF
            return None if half else call.redirect_to("/sign-in")
        # The script that uploads would follow a redirect without noticing it.
        if call.person is None and call.wants_json and line.takes == "files":
            raise Problem("insufficient_scope", "You are signed out.")
        if call.person is None and line.method == "POST" and line.path != "/sign-out":
            return call.redirect_to("/sign-in", "ended-file" if line.takes == "files" else "ended")
        if call.person is None:
            return call.redirect_to(build_sign_in_path(call.request))
        if not has_permission(call.person.member.role, line.needs):
            raise Problem("insufficient_scope", "Your role doesn’t allow this.")
        return None

    async def _ask_for_proof(self, line: OfficeRoute, call: OfficeCall) -> Response | None:
        """Return the page that asks for the password, a code or both, with the form inside; None once all are given."""
        if not line.fresh and line.code_policy == "never":
            return None
        given = {name: call.form.pop(name) for name in (PROOF, CODE) if name in call.form}
        asks = find_missing_proofs(call, password=line.fresh, code=line.code_policy)
        if not asks:
            return None
        if line.method == "GET" or line.takes == "files":  # a file cannot be carried inside a page
            only = {} if CODE in asks or line.code_policy != "never" else {ASK: PROOF}
            return call.redirect_to(f"/confirm?{urlencode({'next': get_full_path(call.request), **only})}")
        if given:
            try:
                await prove(call, asks, given)
            except FormError as wrong:
                call.wrong = wrong.sentences
            else:
                return None
        stays = line.path in DOWNLOADS
        kept = call.seal_secrets()
        asked = call.page("confirm", action=call.request.url.path, kept=kept, asks=asks, stays=stays)
        asked.status_code = UNPROCESSABLE if call.wrong else 200
        return asked


def list_wanted_languages(call: OfficeCall) -> tuple[str | None, ...]:
    """Return the languages to show a page in, best first.

    They are what the user has chosen in their account, what was chosen in this browser, and what the browser asks
    for.
    """
    chosen = call.person.user.locale if call.person else None
    accepted = find_accepted(call.request.headers.get("accept-language"))
    return chosen, cookies.read_language(call.request, call.runtime.config), accepted


def translate_problem(problem: Problem, words: OfficeWords) -> Problem:
    """Return the same problem with its sentences in the reader's language, for a script that shows them."""
    told = Problem(
        problem.code,
        words.tell(problem.message),
        details=[replace(one, message=words.tell(one.message)) for one in problem.details],
        current_status=problem.current_status,
        retry_after=problem.retry_after,
        headers=problem.headers,
    )
    told.status = problem.status
    return told


def find_missing_proofs(
    call: OfficeCall, *, password: bool = True, code: Literal["recent", "each", "never"] = "recent"
) -> tuple[str, ...]:
    """Return the fields that the user must fill in to prove who they are; none while an earlier proof counts."""
    session, now = call.signed_in.session, call.runtime.clock.now()
    needed = {PROOF: password and not session.is_fresh(now), CODE: False}
    if call.signed_in.user.totp is not None and code != "never":
        needed[CODE] = code == "each" or not session.is_confirmed(now)
    return tuple(name for name, is_needed in needed.items() if is_needed)


async def prove(call: OfficeCall, asks: Sequence[str], given: Mapping[str, str]) -> None:
    """Confirm the password, the code or both, and give the session a new cookie.

    Raise `FormError` at a field that is empty or incorrect, and `rate_limited` after too many attempts.
    """
    if empty := {name: EMPTY for name in asks if not given.get(name, "").strip()}:
        raise FormError(empty)
    password, code = (given[name] if name in asks else None for name in (PROOF, CODE))
    call.cookie = await confirm(call, password, code)


async def confirm(
    call: OfficeCall, password: str | None, code: str | None, fields: tuple[str, str] = (PROOF, CODE)
) -> str:
    """Return the new cookie of the session; `fields` names the form's fields for password and code.

    Raise `FormError` at the field that is incorrect, and `rate_limited` after too many attempts.
    """
    user, ip = call.signed_in.user, call.origin.ip
    call.tries.count("confirm", user.id, ip)
    try:
        cookie = await sessions.confirm(
            call.runtime, call.signed_in, call.origin, password=password, code=code
        )
    except WrongProof as wrong:
        at_password, at_code = fields
        found = {at_password: WRONG_PASSWORD} if wrong.what == "password" else {at_code: WRONG_CODE}
        raise FormError(found) from None
    call.tries.forgive("confirm", user.id, ip)
    return cookie


async def show_form_again(line: OfficeRoute, call: OfficeCall, wrong: FormError) -> Response:
    """Show the page of the form again with its errors, as status 422."""
    assert line.again is not None, f"{line.path} refuses a form that it cannot show again"
    call.wrong = wrong.sentences
    answer = await line.again(call)
    if answer.status_code not in REDIRECTS:  # the page itself redirects if its form no longer applies
        answer.status_code = UNPROCESSABLE
    return answer


def build_sign_in_path(request: Request) -> str:
    """Return the address of the sign-in page. It leads back to a requested page, but never repeats a form."""
    return (
        f"/sign-in?{urlencode({'next': get_full_path(request)})}" if request.method == "GET" else "/sign-in"
    )


def get_full_path(request: Request) -> str:
    """Return path and query of the request."""
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def show_problem(call: OfficeCall, problem: Problem) -> Response:
    """Show a problem on a page of the office. Without a session, raise it again for the common error page.

    Only 400, 409 and 429 are shown on a page of the office to a user who is not signed in.
    """
    if call.person is None and problem.status not in (400, 409, 429):
        raise problem
    kinds = {401: "refused", 409: "conflict", 429: "busy", 503: "away"}
    missing = None
    if problem.status in (NOT_FOUND, METHOD_NOT_ALLOWED):
        missing = find_missing_page(call.request.url.path, problem)
    kind = kinds.get(problem.status, "wrong")
    shown = call.page("fault", kind=kind, sentence=call.words.say(problem.message), missing=missing)
    shown.status_code = 403 if problem.status == 401 else problem.status
    shown.headers.update(dict(errors.list_headers(problem)))
    return shown


class LingeringResponse(Response):
    """A response to a body that is still being sent: the browser may read the answer before its upload ends."""

    def __init__(self, answer: Response, incoming: IncomingBody) -> None:
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
