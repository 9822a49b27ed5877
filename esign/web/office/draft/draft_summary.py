"""A summary of a draft in a sentence or two: who does what, and who is invited when."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from esign.core.document.document import INVITED, Document, Recipient, Role
from esign.core.language import LANGUAGES

NUMBERS = ("nobody", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VERBS = {
    Role.SIGNER: ("signs", "sign"),
    Role.APPROVER: ("approves", "approve"),
    Role.VIEWER: ("views", "view"),
    Role.CC: ("gets a copy", "get a copy"),
}
NOBODY = "No one signs yet. Add a recipient with the role “Signs”."
NAMED = 3


def write_outline(document: Document) -> str:
    """Return the summary: `Two sign, one gets a copy. Ada and Bo are invited first, then Cy.`"""
    people = document.recipients
    if not any(one.role is Role.SIGNER for one in people):
        return NOBODY
    parts = [count_role([one for one in people if one.role is role], role) for role in VERBS]
    does = ", ".join(part for part in parts if part)
    return f"{does[0].upper()}{does[1:]}. {describe_turns(people)}"


def summarize_options(document: Document) -> str:
    """Return the present values of what is folded away: `30 days to sign · Reminders on · Default language`."""
    days, reminders, locale = document.expires_in_days, document.reminders, document.locale
    parts = ["1 day to sign" if days == 1 else f"{days} days to sign"]
    parts.append("Reminders on" if reminders.enabled else "No reminders")
    parts.append(LANGUAGES[locale].name if locale else "Default language")
    if document.redirect_url:
        parts.append("Redirect set")
    return " · ".join(parts)


def count_role(people: Sequence[Recipient], role: Role) -> str:
    """Return how many recipients have the role, with its verb; "" for none."""
    if not people:
        return ""
    number = NUMBERS[len(people)] if len(people) < len(NUMBERS) else str(len(people))
    return f"{number} {VERBS[role][len(people) > 1]}"


def describe_turns(people: Sequence[Recipient]) -> str:
    """Return who is invited when, in a sentence (`core.document.state.invite`)."""
    first, *later = list(split_rounds(people))
    if len(first) == 1 and not later:
        return f"{join_names(first)} is invited at once."
    if not later:
        return "All are invited at once."
    then = "".join(f", then {join_names(group)}" for group in later[:NAMED])
    rest = ", and so on" if len(later) > NAMED else ""
    return f"{join_names(first)} {'is' if len(first) == 1 else 'are'} invited first{then}{rest}."


def split_rounds(people: Sequence[Recipient]) -> Iterator[list[Recipient]]:
    """Yield the recipients who are invited together: one step that acts, with the viewers of the steps before it.

    Viewers after the last step that acts are not part of any round.
    """
    asked = sorted((one for one in people if one.role in INVITED), key=lambda one: one.order)
    waiting: list[Recipient] = []
    for _, group in groupby(asked, key=lambda one: one.order):
        waiting += group
        if any(one.acting for one in waiting):
            yield waiting
            waiting = []


def join_names(people: Sequence[Recipient]) -> str:
    """Return the names as `Ada, Bo and Cy`, or `Ada, Bo, Cy and 4 more`.

    Each name is isolated from the writing direction of the others.
    """
    known = [f"\u2068{one.name}\u2069" for one in people[:NAMED]]
    if (more := len(people) - NAMED) > 0:
        known.append(f"{more} more")
    return f"{', '.join(known[:-1])} and {known[-1]}" if len(known) > 1 else known[0]
