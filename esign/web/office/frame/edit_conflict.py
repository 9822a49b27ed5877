"""Detect that two users edited the same text, by what a form showed when it was opened (its `seen-NAME` fields).

A text that only one of them changed is taken from that one. If both changed the same text, the second user is
asked, and keeps what they typed.
"""

from collections.abc import Mapping

from esign.core.sentence import say
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall

BOTH = "Someone changed this in the meantime. It is now: {text}. Save again to replace it with your version."
BOTH_EMPTY = (
    "Someone changed this in the meantime. It is empty now. Save again to replace it with your version."
)


def find_typed_texts(
    call: OfficeCall, stored: Mapping[str, str], written: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the texts that this user changed; raise `FormError` for each that another user changed in the meantime.

    `stored` holds the texts as the page would show them now. `written` holds the same texts as an error message
    names them, where they differ.
    """
    mine, wrong = dict[str, str](), dict[str, str]()
    for name, now in stored.items():
        text, seen = (call.form.get(each, "").replace("\r\n", "\n") for each in (name, f"seen-{name}"))
        shown = f"seen-{name}" in call.form
        if shown and text == seen:
            continue
        mine[name] = text
        if shown and now not in (seen, text):
            wrong[name] = say(BOTH, text=there) if (there := (written or stored)[name]) else BOTH_EMPTY
    if wrong:
        refresh_form(call, stored, mine)
        raise FormError(wrong)
    return mine


def refresh_form(call: OfficeCall, stored: Mapping[str, str], mine: Mapping[str, str]) -> None:
    """Make the page show what is stored now, except in the fields of `mine`."""
    for name in stored:
        call.form.pop(f"seen-{name}", None)
        if name not in mine:
            call.form.pop(name, None)
