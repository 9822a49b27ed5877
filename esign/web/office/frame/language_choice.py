"""Choose the language of the web application: for one's account, or on a public page for this browser."""

from typing import Annotated

from pydantic import BeforeValidator
from starlette.responses import Response

from esign.actions.people import users
from esign.core.language import Tag
from esign.web.http.validation import check
from esign.web.office.frame.office_call import OfficeCall, accept_local_path
from esign.web.office.session import cookies
from esign.web.values.schema import Schema

ChosenTag = Annotated[Tag | None, BeforeValidator(lambda given: given or None)]


class LanguageForm(Schema):
    """The language that a reader chooses; empty for that of the browser."""

    null_is_absent = False

    locale: ChosenTag


async def choose_language(call: OfficeCall) -> Response:
    """Show pages in another language from now on, and return to the page that the reader was on.

    A user who is signed in has the choice in their account; anybody else has it in a cookie of the browser. Raise
    `invalid_request` for a language that there is not.
    """
    locale = check(LanguageForm, {"locale": call.form.get("locale")}).locale
    back = accept_local_path(call.form.get("next", "")) or "/"
    if call.person is not None:
        await users.choose_language(call.runtime, call.user_caller, locale)
        back = "/account"
    answer = call.redirect_to(back, "language" if call.person else None)
    if locale is not None:
        cookies.give_language(answer, call.runtime.config, locale)
    return answer
