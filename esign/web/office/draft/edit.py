"""The page for the recipients and the message of a draft.

A script saves the form while the user types; without the script a button sends the same form.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from esign.actions.document import cancel_delete
from esign.core.document.document import Document, Recipient
from esign.core.errors import Problem
from esign.core.language import LANGUAGES
from esign.core.sentence import say
from esign.system.entropy import make_id
from esign.web.office.draft import draft_form as sheets
from esign.web.office.draft.draft_form import FormSheet
from esign.web.office.draft.draft_summary import summarize_options, write_outline
from esign.web.office.draft.explain_upload import describe_changes
from esign.web.office.draft.own_fields import place_at_once
from esign.web.office.draft.saving import CHOOSE, DRAFTS, FormKind, SaveResult, T, find_draft, save_form
from esign.web.office.editor.editor import FieldHolder
from esign.web.office.frame.forms import FormError, parse_revision
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.frame.words import OfficeWords
from esign.web.values.document_values import MOST_RECIPIENTS

ROLES = ("signer", "approver", "viewer", "cc")
PROOFS = ("link", "email_code", "access_code")
ON = {"next": "/documents/{id}/fields", "review": "/documents/{id}/review", "leave": "/documents"}
FOLDED = ("locale", "days", "redirect", "remind", "first", "every", "most")  # under "More options"
CONFLICT, UNPROCESSABLE = 409, 422
TOO_MANY = "A document can have at most {n} recipients."
TOO_MANY_FOR_ONE = "A document can have at most {n} recipient."
MOST = 2 * MOST_RECIPIENTS  # nobody types more: a larger form is refused before its rows are validated
UNSENT = ("csrf", "do", "sure")
CHANGED = "Someone changed this draft. Check it again before you discard it."


async def show_form(call: OfficeCall) -> Response:
    document = await find_unsent_draft(call)
    if document is None:
        return call.redirect_to(f"/documents/{call.path['id']}")
    return render_form(
        call, document, sheets.fill_from_document(document), more=call.request.query_params.get("more") == "1"
    )


async def find_unsent_draft(call: OfficeCall) -> Document | None:
    """Return the draft of the address, or None if it was sent already.

    The caller then leads to the document's page, which shows its status.
    """
    try:
        return await find_draft(call)
    except Problem as problem:
        if problem.code != "document_not_draft":
            raise
        return None


def render_form(call: OfficeCall, document: Document, sheet: FormSheet, *, more: bool = False) -> Response:
    return call.page(
        "draft_edit",
        document=document,
        rows=list_rows(document, sheet, more=more),
        given=sheet.flatten(),
        seen=sheets.fill_from_document(document).dump(),
        outline=write_outline(document, call.words),
        options=summarize_options(document, call.words),
        open="options" in call.request.query_params or any(name in call.wrong for name in FOLDED),
        names={tag: one.name for tag, one in LANGUAGES.items()},
        placed=any(one.fields for one in document.recipients),
        changes=describe_changes(
            document.file, call.words, untouched=not any(one.fields for one in document.recipients)
        ),
        roles=name_roles(call.words),
        proofs=name_proofs(call.words),
        languages=LANGUAGES.values(),
        chosen="chosen" in call.request.query_params,
        limits=call.runtime.config.limits,
    )


def name_roles(t: OfficeWords) -> dict[str, Markup]:
    """Return what each role does, in the order of the form: `Signs`."""
    return {role: t(f"draft.role.{role}") for role in ROLES}


def name_proofs(t: OfficeWords) -> dict[str, Markup]:
    """Return the ways in which recipients show who they are, in the order of the form."""
    return {proof: t(f"draft.proof.{proof}") for proof in PROOFS}


def list_rows(document: Document, sheet: FormSheet, *, more: bool) -> list[dict[str, Any]]:
    """Return the recipients as the form shows them.

    An empty row is added if there is no recipient, or if one more was asked for.
    """
    known = {recipient.id: recipient for recipient in document.recipients}
    shown = [make_row(key, texts, known.get(key)) for key, texts in sheet.rows.items()]
    if more or not shown:
        texts = dict.fromkeys(sheets.DRAFT.entry, "") | dict(sheets.DRAFT.new)
        shown.append(make_row(make_id("new", document.updated_at), texts, None))
    return shown


def make_row(key: str, texts: dict[str, str], known: Recipient | None) -> dict[str, Any]:
    return {
        "key": key,
        "texts": texts,
        "fields": len(known.fields) if known else 0,
        "coded": known is not None and known.access_code is not None,
    }


async def store_form(call: OfficeCall) -> Response:
    """Save the form.

    The script gets the result as JSON; without the script the button decides which page follows.
    """
    document = await find_draft(call)
    mine, act = sheets.read_form(call.form), call.form.get("do", "")
    if len(mine.rows) > MOST:
        raise Problem("invalid_request", say(TOO_MANY, one=TOO_MANY_FOR_ONE, n=MOST))
    name, _, key = act.partition("-")
    at = f"/documents/{document.id}/edit"
    if name == "remove" and (question := ask_removal(call, document.recipients, key, at)) is not None:
        return question
    mine = apply_button(mine, name, key)
    seen = sheets.load_sheet(call.form.get("seen", "")) or sheets.fill_from_document(document)
    saved = await save_form(call, DRAFTS, mine, seen)
    if call.wants_json:
        return answer_script(saved, mine, call.words)
    if saved.merge.conflicts:
        return show_conflict(call, DRAFTS, saved, at, partial(name_field, t=call.words))
    if saved.wrong:
        call.wrong = saved.wrong
        answer = render_form(call, saved.stored, saved.sheet, more=act == "add")
        answer.status_code = UNPROCESSABLE
        return answer
    if act in ON:
        placed = await place_at_once(call, saved.stored) if act != "leave" else 0
        return call.redirect_to(ON[act].format(id=document.id) + (f"?found={placed}" if placed else ""))
    chosen = any(name.startswith(CHOOSE) for name in call.form)
    back = "?chosen=1" if chosen else "?more=1" if act == "add" else ""
    return call.redirect_to(f"{at}{back}", "draft-saved")


def apply_button(mine: FormSheet, name: str, key: str) -> FormSheet:
    """Do what the button asks for besides saving: move or remove a row, or number the steps."""
    match name:
        case "up" | "down":
            return sheets.move_row(mine, key, -1 if name == "up" else 1)
        case "remove":
            return sheets.remove_row(mine, key)
        case "together":
            return sheets.set_one_step(mine)
        case "sequence":
            return sheets.number_steps(mine)
    return mine


def ask_removal(call: OfficeCall, holders: Sequence[FieldHolder], key: str, at: str) -> Response | None:
    """Return the question before a recipient or role with fields is removed, or None if there is nothing to ask.

    The question carries the values of the form, and sends them back to the page `at`.
    """
    who = next((one for one in holders if one.id == key), None)
    if who is None or not who.fields or call.form.get("sure") == key:
        return None
    return call.page("draft_remove", at=at, who=who, kept=keep_values(call.form))


def keep_values(form: dict[str, str]) -> dict[str, str]:
    """Return the values of a form that are sent again with the answer to a question."""
    return {name: text for name, text in form.items() if name not in UNSENT and not name.startswith(CHOOSE)}


def show_conflict(
    call: OfficeCall,
    kind: FormKind[T],
    saved: SaveResult[T],
    at: str,
    name_label: Callable[[str], Markup],
) -> Response:
    """Show both texts of everything that two users changed. The other values of the form come along.

    `name_label` returns what the form calls a field.
    """
    answer = call.page(
        "draft_conflict",
        at=at,
        conflicts=saved.merge.conflicts,
        label=name_label,
        names={key: one["name"] or one.get("email", "") for key, one in saved.sheet.rows.items()},
        kept=saved.sheet.flatten() | {"seen": kind.sheet(saved.stored).dump()},
        written=partial(write_value, t=call.words),
    )
    answer.status_code = CONFLICT
    return answer


def name_field(name: str, t: OfficeWords) -> Markup:
    """Return what the form calls a field, or the row of a recipient."""
    return t(f"draft.field.{name}")


def write_value(field: str, text: str, t: OfficeWords) -> str:
    """Return a value as the form's page writes it."""
    name = field.partition("-")[0]
    if name == "locale":
        return LANGUAGES[text].name if text in LANGUAGES else t("draft.default")
    if name == "remind":
        return t("draft.on") if text else t("draft.off")
    named = {"role": name_roles, "authentication": name_proofs}.get(name)
    return named(t).get(text, text) if named else text


def answer_script(saved: SaveResult[Document], mine: FormSheet, words: OfficeWords) -> Response:
    """Answer the script, which sent `mine`, with what to show and what it has now seen.

    `seen` is None if recipients were added or removed that its page does not show. The script then loads the
    page again.
    """
    if saved.merge.conflicts:
        return answer_json({"conflict": True}, CONFLICT)
    now = sheets.fill_from_document(saved.stored)
    shown = {saved.ids.get(key, key) for key in mine.rows}
    return answer_json(
        {
            "seen": now.dump() if shown >= now.rows.keys() else None,
            "values": saved.sheet.flatten(),
            "rows": list(saved.sheet.rows),
            "wrong": {place: words.tell(sentence) for place, sentence in saved.wrong.items()},
            "ids": saved.ids,
            "outline": write_outline(saved.stored, words).unescape(),
            "options": summarize_options(saved.stored, words).unescape(),
            "coded": [one.id for one in saved.stored.recipients if one.access_code is not None],
        }
    )


# ---------- thrown away ----------


async def ask_discard(call: OfficeCall) -> Response:
    document = await find_unsent_draft(call)
    if document is None:
        return call.redirect_to(f"/documents/{call.path['id']}")
    return call.page("draft_discard", document=document)


async def discard(call: OfficeCall) -> Response:
    """Delete a draft if it is still as the question showed it.

    A document that was sent meanwhile is refused.
    """
    found = await find_draft(call)
    seen = parse_revision(call.form) or found.revision
    try:
        await cancel_delete.delete(call.runtime, replace(call.caller, revision=seen), found.id)
    except Problem as problem:
        if problem.code != "revision_mismatch":
            raise
        raise FormError({"": CHANGED}) from None
    return call.redirect_to("/documents", "discarded")
