"""A summary of a draft in a few words: who does what, and who is invited when."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from esign.core.document.document import INVITED, Document, Recipient, Role
from esign.core.language import LANGUAGES
from esign.core.people.account import Reminders
from esign.web.office.frame.name_lists import list_names
from esign.web.office.frame.words import OfficeWords

ROUNDS = 4  # of more, only these are named
DOT = Markup(" · ")


def write_outline(document: Document, t: OfficeWords) -> Markup:
    """Return the summary, in two lines: `2 sign · 1 gets a copy` and `Invited in this order: Ada and Bo, then Cy.`"""
    people = document.recipients
    if not any(one.role is Role.SIGNER for one in people):
        return t("draft.outline.nobody")
    counts = [(role, sum(one.role is role for one in people)) for role in Role]
    does = DOT.join(t.count(f"draft.outline.{role.value}", n) for role, n in counts if n)
    return Markup("\n").join([does, describe_turns(people, t)])


def summarize_options(document: Document, t: OfficeWords) -> Markup:
    """Return the present values of what is folded away: `30 days to sign · Reminders on · Default language`."""
    locale = document.locale
    parts = [t.count("draft.days_to_sign", document.expires_in_days)]
    parts.append(t("draft.reminders_on" if document.reminders.enabled else "draft.reminders_off"))
    parts.append(escape(LANGUAGES[locale].name) if locale else t("draft.default_language"))
    if document.redirect_url:
        parts.append(t("draft.redirect_set"))
    return DOT.join(parts)


def describe_reminders(reminders: Reminders, t: OfficeWords) -> Markup:
    """Return when reminders leave: `First after 3 days · then every 4 days · at most 5 reminders`."""
    if not reminders.enabled:
        return t("none")
    if not reminders.max:
        return t("draft.reminders.last")
    return DOT.join(
        (
            t.count("draft.reminders.first", reminders.first_after_days),
            t.count("draft.reminders.every", reminders.every_days),
            t.count("draft.reminders.most", reminders.max),
        )
    )


def describe_turns(people: Sequence[Recipient], t: OfficeWords) -> Markup:
    """Return who is invited when, in a sentence (`core.document.state.invite`)."""
    rounds = [[one.name for one in group] for group in split_rounds(people)]
    if len(rounds) == 1:
        [names] = rounds
        return t("draft.turns.one", name=list_names(names, t)) if len(names) == 1 else t("draft.turns.all")
    order = list_names(rounds[0], t)
    for names in rounds[1:ROUNDS]:
        order = t("draft.turns.then", before=order, names=list_names(names, t))
    return t("draft.turns.more" if len(rounds) > ROUNDS else "draft.turns.order", order=order)


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
