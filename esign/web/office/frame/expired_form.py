"""A form whose session had ended: what was typed waits inside the pages of signing in, and can be sent after that."""

import orjson
from starlette.responses import HTMLResponse

from esign.core.errors import Problem
from esign.web.http.validation import check
from esign.web.office.frame.call import CSRF, PLACE, Call, is_own, local, may_be_mac
from esign.web.rest.schema import Schema

HELD = "held"  # the field that carries it from one page to the next
UNHELD = (CSRF, "password", "current", "code-again")  # secrets are typed once more where they are asked for
DAMAGED = "The form could not be kept. Go back, and send it once more."
FORBIDDEN = 403


class Held(Schema):
    """Where a form goes, and what stands in it."""

    to: str
    form: dict[str, str]


def worth(call: Call) -> bool:
    """Whether it is the form of a session that is no more, and says something."""
    given = call.form.get(CSRF, "")
    own = call.session is not None and is_own(call.runtime, call.session, given)
    return says_something(call) and may_be_mac(given) and not own


def says_something(call: Call) -> bool:
    return any(text for name, text in call.form.items() if name not in (CSRF, PLACE))


def waiting(call: Call) -> HTMLResponse:
    """The page of signing in with the form inside."""
    packed = pack(call)
    call.form = {HELD: packed}
    page = call.page("sign_in", next=None)
    page.status_code = FORBIDDEN
    return page


def pack(call: Call) -> str:
    form = {name: text for name, text in call.form.items() if not name.startswith(UNHELD)}
    return orjson.dumps({"to": call.request.url.path, "form": form}).decode()


def offered(call: Call, packed: str, sentence: str | None = None) -> HTMLResponse:
    """What was held, on a page that sends it when its reader says so; `sentence`: why it was not taken."""
    try:
        found = check(Held, orjson.loads(packed))
    except orjson.JSONDecodeError:
        raise Problem("invalid_request", DAMAGED) from None
    if local(found.to) is None:
        raise Problem("invalid_request", DAMAGED)
    call.form = {}
    return call.page("held", action=found.to, kept=found.form, sentence=sentence)
