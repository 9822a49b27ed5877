"""One request for a page of the office, as its handler sees it; also the CSRF tokens of forms."""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from esign.actions.base.caller import Caller, UserCaller
from esign.actions.mail.mail_breaker import Outage
from esign.actions.people import known_browsers
from esign.actions.people.known_browsers import Browser
from esign.actions.people.sessions import SignedInUser
from esign.core.actor import Actor, Author, Mode, Origin, Owner
from esign.core.instant import MINUTE, Millis
from esign.core.language import DEFAULT, LANGUAGES
from esign.core.people.permission import Permission, has_permission
from esign.core.people.user import Session
from esign.runtime import Runtime
from esign.store.document.status_counts import NOTHING, StatusCounts
from esign.system.entropy import make_token
from esign.system.vault import DamagedCiphertext
from esign.web.http.body import IncomingBody
from esign.web.http.multipart import SentFile
from esign.web.http.ratelimit import Uploads
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.office.frame.flash_messages import COUNTED, DONE, find_message
from esign.web.office.frame.formats import Times
from esign.web.office.frame.settings_menu import find_menu
from esign.web.office.frame.words import OfficeWords, load_words
from esign.web.office.session import cookies
from esign.web.office.session.login_throttle import LoginThrottle
from esign.web.pages import Pages
from esign.web.signing.page import make_initials

CSRF, PLACE = "csrf", "place"
SECRETS = ("password", "passphrase", "current", "code", "accessCode", "secret-", "sealed-")
SECRET, SEALED = (
    "secret-",
    "sealed-",
)  # how the names of typed secrets begin, and of those that a page carries on
TYPED = "typed-secret"
CARRIED: Millis = 30 * MINUTE
PURPOSE = "session-csrf"
MASK, MAC_BYTES = 16, 32
REFERRER = "same-origin"  # with `no-referrer`, browsers send `Origin: null` with a form


@dataclass(slots=True)
class OfficeCall:
    """The request that a handler answers, with everything that dispatch has found out about it.

    `person` is None while nobody is signed in, and during the step that asks for a code. `incoming` is the body
    of a form with files. `counts` are the numbers of documents by status. `outage` says why no mail leaves now.
    `places` holds the paths of all pages that can be shown. `packing` limits the archives that are built at
    once. `words` are the sentences of the reader's language.

    A handler sets `cookie` to give the session a new cookie, and `browser` to the token by which the browser is
    known after a complete sign-in.
    """

    request: Request
    runtime: Runtime
    pages: Pages
    tries: LoginThrottle
    session: Session | None = None
    person: SignedInUser | None = None
    form: dict[str, str] = field(default_factory=dict)
    files: tuple[SentFile, ...] = ()
    incoming: IncomingBody | None = None
    wrong: Mapping[str, str] = field(default_factory=dict)
    cookie: str | None = None
    browser: str | None = None
    counts: StatusCounts = NOTHING
    outage: Outage | None = None
    places: frozenset[str] = frozenset()
    packing: Uploads = field(default_factory=Uploads)
    words: OfficeWords = field(default_factory=lambda: load_words(DEFAULT))

    @property
    def signed_in(self) -> SignedInUser:
        """Return the person who is signed in; dispatch guarantees one for every route that needs a permission."""
        assert self.person is not None, "dispatch calls the handler for signed-in users only"
        return self.person

    @property
    def owner(self) -> Owner:
        """Return the organisation and mode that the session is in: their documents are shown."""
        return Owner(self.signed_in.organisation.id, self.signed_in.session.mode)

    @property
    def place(self) -> str:
        """Return organisation and mode as text, as each form carries them in its field `place`."""
        return f"{self.owner.organisation_id}.{self.owner.mode}"

    @property
    def wants_json(self) -> bool:
        """Return whether a script sent the request and expects JSON, which it handles itself."""
        return self.request.headers.get("accept") == "application/json"

    @property
    def times(self) -> Times:
        """Return what formats times in the reader's language and the organisation's time zone."""
        zone = self.person.organisation.time_zone if self.person else "UTC"
        return Times(zone, self.runtime.clock.now(), self.words)

    @property
    def path(self) -> Mapping[str, str]:
        """Return the parameters in the path of the address."""
        return self.request.path_params

    def seal_secrets(self) -> dict[str, str]:
        """Return the form with each field `secret-…` as a field `sealed-…`, which a page may carry on.

        Only this user opens it again, for half an hour.
        """
        form = {}
        for name, text in self.form.items():
            if name.startswith(SECRET) and text:
                content = orjson.dumps([self.runtime.clock.now() + CARRIED, text])
                user_id = self.signed_in.user.id.encode()
                sealed = self.runtime.vault.encrypt(TYPED, content, user_id)
                form[f"{SEALED}{name.removeprefix(SECRET)}"] = base64.urlsafe_b64encode(sealed).decode()
            elif not name.startswith(SECRET):
                form.setdefault(name, text)
        return form

    def find_secret(self, name: str) -> str | None:
        """Return the secret that was typed into the form, or that its page carried on; None for neither."""
        if typed := self.form.get(f"{SECRET}{name}"):
            return typed
        try:
            sealed = base64.urlsafe_b64decode(self.form.get(f"{SEALED}{name}", "").encode("ascii"))
            content = self.runtime.vault.decrypt(TYPED, sealed, self.signed_in.user.id.encode())
        except (ValueError, DamagedCiphertext):
            return None
        ends_at, text = orjson.loads(content)
        return text if self.runtime.clock.now() < ends_at else None

    async def recognise(self, email: str) -> Browser:
        """Return the browser of this request and whether the account with the address `email` knows it."""
        cookie = cookies.find_browser(self.request, self.runtime.config)
        return await known_browsers.recognise(self.runtime, cookie, email)

    @property
    def author(self) -> Author:
        """Return the member and the origin of the request, as audit entries name them."""
        signed = self.signed_in
        actor = Actor("member", signed.member.id, signed.user.name, signed.user.email)
        return Author(actor, self.origin)

    @property
    def caller(self) -> Caller:
        """Return who asks, and for which organisation and mode."""
        return Caller(self.owner, self.author)

    @property
    def user_caller(self) -> UserCaller:
        """Return the user who changes their own account in this session."""
        return UserCaller(self.signed_in.user, self.origin, self.signed_in.session.id)

    @property
    def origin(self) -> Origin:
        """Return the IP address and user agent of the request, which `web.http` has determined."""
        found: Origin = self.request.scope["esign.origin"]
        return found

    def page(self, template: str, /, **shown: object) -> HTMLResponse:
        """Render a template inside the frame of the office.

        The frame adds the signed-in person, the CSRF token, the typed values except secrets, the errors at the
        fields, and the message about what was just done.
        """
        person, path = self.person, self.request.url.path
        base, https = self.runtime.config.server.base_url, self.runtime.https
        leads = person is not None and has_permission(person.member.role, Permission.OWN)
        frame = {
            "person": person,
            "may": {act.value for act in Permission if person and has_permission(person.member.role, act)},
            "test": person is not None and person.session.mode is Mode.TEST,
            "clock_in_doubt": leads and self.runtime.clock.doubt is not None,
            "https_in_trouble": leads
            and https is not None
            and https.read_state().needs_attention(self.runtime.clock.now()),
            "test_only": self.runtime.config.server.environment == "test",
            "csrf": make_csrf_token(self.runtime, self.session) if self.session else None,
            "stands": self.place if person else None,
            "given": {name: text for name, text in self.form.items() if not name.startswith(SECRETS)},
            "wrong": {name: self.words.say(sentence) for name, sentence in self.wrong.items()},
            "first_wrong": next(iter(self.wrong), None),
            "done": find_message(self.request.query_params, self.words, mails=self.outage is None),
            "outage": self.tell_outage(self.outage),
            "here": path,
            "steps": (),
            "menu": find_menu(person.member.role, path) if person else None,
            "places": self.places,
            "attention": self.counts.attention,
            "form_name": make_token(),
            "base_url": base,
            "initials": make_initials,
            "full": person is not None and self.runtime.room.is_short(),
            "damaged": len(self.runtime.db.damage.entries()) if person else 0,
            "elsewhere": person.elsewhere if person else (),
            "times": self.times,
            "t": self.words,
            "languages": LANGUAGES,
        }
        made = self.pages.page(f"office/{template}.html", frame | shown)
        made.headers["Referrer-Policy"] = REFERRER
        return made

    def tell_outage(self, outage: Outage | None) -> Outage | None:
        """Return why no e-mail leaves in the reader's language."""
        return outage and replace(outage, sentence=self.words.say(outage.sentence))

    def redirect_to(self, path: str, done: str | None = None, number: int | None = None) -> Response:
        """Redirect (303) to `path`.

        `done` names a sentence of `DONE` to show there or, if `number` is given, one of `COUNTED` about that
        many.
        """
        assert done is None or done in (DONE if number is None else COUNTED)
        told = {"done": done, "number": number} if number is not None else {"done": done}
        there = f"{path}{'&' if '?' in path else '?'}{urlencode(told)}" if done else path
        headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY}
        return RedirectResponse(there, 303, headers)


def answer_json(what: object, status: int = 200) -> Response:
    """Return a JSON answer for the script of a page, with the headers of pages."""
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, "Referrer-Policy": REFERRER}
    return Response(orjson.dumps(what), status, headers, "application/json")


def make_csrf_token(runtime: Runtime, session: Session) -> str:
    """Return a CSRF token for this session, masked differently on each call (BREACH)."""
    mask = os.urandom(MASK)
    mac = runtime.vault.compute_mac(PURPOSE, session.id.encode() + mask)
    return base64.urlsafe_b64encode(mask + mac).decode()


def is_csrf_token_of(runtime: Runtime, session: Session, given: str) -> bool:
    """Return whether a CSRF token was made for this session."""
    try:
        raw = base64.urlsafe_b64decode(given.encode("ascii"))
    except ValueError:
        return False
    return runtime.vault.is_mac(PURPOSE, session.id.encode() + raw[:MASK], raw[MASK:])


def may_be_csrf_token(given: str) -> bool:
    """Return whether the text has the form of a CSRF token, of this or of any earlier session."""
    try:
        return len(base64.urlsafe_b64decode(given.encode("ascii"))) == MASK + MAC_BYTES
    except ValueError:
        return False


def accept_local_path(text: str) -> str | None:
    """Return `text` if it is a path on this site, otherwise None.

    None also for anything that a browser could read as an address of another site, such as `//host` or
    `/\\host`.
    """
    plain = text.isascii() and text.isprintable() and " " not in text and "\\" not in text
    return (
        text if plain and text.startswith("/") and not text.startswith("//") and len(text) <= 2000 else None
    )
