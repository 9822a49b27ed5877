"""Keep a form whose session has ended: it travels inside the sign-in pages and can be sent again afterwards."""

import orjson
from starlette.responses import HTMLResponse

from esign.core.errors import Problem
from esign.web.http.validation import check
from esign.web.office.frame.office_call import (
    CSRF,
    PLACE,
    SEALED,
    SECRET,
    OfficeCall,
    accept_local_path,
    is_csrf_token_of,
    may_be_csrf_token,
)
from esign.web.values.schema import Schema

HELD = "held"  # the field that carries the form from page to page
UNHELD = (CSRF, "password", "current", "code-again", SECRET, SEALED)  # the user types secrets again
DAMAGED = "Your entries couldn’t be kept. Go back and send the form again."
FORBIDDEN = 403


class HeldForm(Schema):
    """The path that a form was sent to, and its fields."""

    to: str
    form: dict[str, str]


def is_worth_keeping(call: OfficeCall) -> bool:
    """Return whether the form belongs to a session that has ended, and has content."""
    given = call.form.get(CSRF, "")
    own = call.session is not None and is_csrf_token_of(call.runtime, call.session, given)
    return has_content(call) and may_be_csrf_token(given) and not own


def has_content(call: OfficeCall) -> bool:
    """Return whether any field has a text, other than those that every form carries."""
    return any(text for name, text in call.form.items() if name not in (CSRF, PLACE))


def show_sign_in(call: OfficeCall) -> HTMLResponse:
    """Show the sign-in page with the form inside, as status 403."""
    packed = pack_form(call)
    call.form = {HELD: packed}
    page = call.page("sign_in", next=None)
    page.status_code = FORBIDDEN
    return page


def pack_form(call: OfficeCall) -> str:
    """Return the form as JSON, without its secrets."""
    form = {name: text for name, text in call.form.items() if not name.startswith(UNHELD)}
    return orjson.dumps({"to": call.request.url.path, "form": form}).decode()


def show_held_form(call: OfficeCall, packed: str, sentence: str | None = None) -> HTMLResponse:
    """Show the kept form on a page that sends it when the user agrees; `sentence` says why it was not accepted before.

    Raise `invalid_request` if `packed` is damaged, or leads to another site.
    """
    try:
        found = check(HeldForm, orjson.loads(packed))
    except orjson.JSONDecodeError:
        raise Problem("invalid_request", DAMAGED) from None
    if accept_local_path(found.to) is None:
        raise Problem("invalid_request", DAMAGED)
    call.form = {}
    return call.page(
        "held", action=found.to, kept=found.form, sentence=call.words.say(sentence) if sentence else None
    )
