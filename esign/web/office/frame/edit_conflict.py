"""What a form showed when it was opened (`seen-NAME`), so that nobody's change is written over unseen.

What only one of two people changed is taken from both; what both changed is asked of the second, whose text stays.
"""

from collections.abc import Mapping

from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import Wrong

BOTH = "Somebody changed this meanwhile. Now it is: {}. Save once more to put yours in its place."


def typed(call: Call, stored: Mapping[str, str], written: Mapping[str, str] | None = None) -> dict[str, str]:
    """The texts that somebody typed into; raises `Wrong` for those that another changed since the page was shown.

    `stored`: as its page would show them now; `written`: the same as a sentence names them, where that is otherwise.
    """
    mine, wrong = dict[str, str](), dict[str, str]()
    for name, now in stored.items():
        text, seen = (call.form.get(each, "").replace("\r\n", "\n") for each in (name, f"seen-{name}"))
        shown = f"seen-{name}" in call.form
        if shown and text == seen:
            continue
        mine[name] = text
        if shown and now not in (seen, text):
            wrong[name] = BOTH.format((written or stored)[name] or "nothing")
    if wrong:
        afresh(call, stored, mine)
        raise Wrong(wrong)
    return mine


def afresh(call: Call, stored: Mapping[str, str], mine: Mapping[str, str]) -> None:
    """The page shows what is stored now, but for what was typed."""
    for name in stored:
        call.form.pop(f"seen-{name}", None)
        if name not in mine:
            call.form.pop(name, None)
