"""The table of all pages of the office: the permission that each needs, and how its form is handled."""

from typing import Any, Literal

from starlette.routing import Route

from esign.core.people.user import Act, Stage
from esign.runtime import Runtime
from esign.web.http.ratelimit import UPLOADS_OF_STRANGERS, Uploads, Windows
from esign.web.office.document import document_actions, edit_recipient, page, papers, terms, test_mode
from esign.web.office.documents import event_log, selection
from esign.web.office.documents import listing as documents
from esign.web.office.draft import edit, field_editor, review, upload
from esign.web.office.frame import current_organisation
from esign.web.office.frame.dispatch import Door, Handler, Line
from esign.web.office.server import outbox, seal, server
from esign.web.office.session.login_throttle import Tries
from esign.web.office.settings import (
    account,
    audit_log,
    erase_person,
    logo,
    members,
    plan,
    second_factor,
    settings,
    tokens,
    usage,
)
from esign.web.office.sign_in import emailed_links, sign_in
from esign.web.office.template import create_template, listing, use_template
from esign.web.office.template import edit as roles
from esign.web.office.template import fields as role_fields
from esign.web.office.template import page as template
from esign.web.office.verify import page as verify
from esign.web.office.webhook import deliveries, webhooks
from esign.web.pages import Pages


def form(
    path: str,
    show: Handler,
    take: Handler,
    needs: Act | Literal[Stage.HALF] | None = None,
    *,
    fresh: Literal["shown", "sent"] | None = None,
    **more: Any,
) -> tuple[Line, Line]:
    """Return the two lines of a page with a form, which is shown again with its errors.

    `fresh`: the password (and a code, for users with a second factor) must be confirmed before the page is
    `shown`, or before its form is accepted (`sent`).
    """
    return (
        Line("GET", path, show, needs, fresh=fresh == "shown", code=more.get("code")),
        Line("POST", path, take, needs, fresh=fresh is not None, again=show, **more),
    )


TABLE = (
    # signing in and out
    Line("GET", "/", sign_in.start),
    *form("/sign-in", sign_in.show, sign_in.sign_in),
    *form("/sign-in/code", sign_in.show_code, sign_in.give_code, Stage.HALF),
    *form("/sign-in/again", sign_in.show, sign_in.sign_in, takes="rows"),
    *form("/sign-in/again/code", sign_in.show_code, sign_in.give_code, Stage.HALF, takes="rows"),
    Line("POST", "/sign-out", sign_in.sign_out, Act.READ),
    *form("/confirm", sign_in.show_confirm, sign_in.confirm, Act.READ),
    # emailed and printed links
    *form("/forgot", emailed_links.show_forgot, emailed_links.forgot),
    *form("/password/{token}", emailed_links.show_reset, emailed_links.reset),
    *form("/invitation/{token}", emailed_links.show_invitation, emailed_links.join),
    *form("/set-up/{token}", emailed_links.show_setup, emailed_links.set_up),
    # set-up steps for an owner before the first document is sent
    Line("GET", "/server/address", server.show_address, Act.OWN),
    Line("POST", "/server/address", server.check_address, Act.OWN),
    Line("GET", "/server/mail", server.show_mail, Act.OWN),
    Line("POST", "/server/mail", server.send_mail, Act.OWN),
    Line("GET", "/server/seal", server.show_seal, Act.OWN),
    Line("POST", "/server/seal", server.try_seal, Act.OWN),
    Line("GET", "/server/clock", server.show_clock, Act.OWN),
    Line("POST", "/server/clock", server.confirm_clock, Act.OWN, fresh=True),
    # a new document: file, people, (fields), review
    Line("GET", "/documents/new", upload.show, Act.WORK),
    Line("POST", "/documents/new", upload.take, Act.WORK, takes="files"),
    Line("GET", "/documents/{id}/edit", edit.show, Act.WORK),
    Line("POST", "/documents/{id}/edit", edit.store, Act.WORK, takes="rows"),
    Line("POST", "/documents/{id}/file", upload.replace_file, Act.WORK, takes="files", again=edit.show),
    Line("GET", "/documents/{id}/review", review.show, Act.WORK),
    Line("POST", "/documents/{id}/send", review.send, Act.WORK, again=review.show),
    *form("/documents/{id}/discard", edit.ask_discard, edit.discard, Act.WORK),
    # the list of documents, and actions on several of them
    Line("GET", "/documents", documents.show, Act.READ),
    *form("/selection/remind", selection.ask_remind, selection.remind, Act.WORK),
    *form("/selection/cancel", selection.ask_cancel, selection.cancel, Act.WORK),
    Line("GET", "/selection/delete", selection.ask_delete, Act.WORK),
    Line("POST", "/selection/delete", selection.delete, Act.WORK),
    Line("POST", "/selection/retry-seal", selection.seal, Act.WORK),
    Line("GET", "/selection/done", selection.show_done, Act.WORK),
    Line("GET", "/selection/download", selection.ask_download, Act.READ),
    Line("POST", "/selection/download", selection.download, Act.READ, code="recent"),
    # the public verification page
    Line("GET", "/verify", verify.show),
    Line("GET", "/verify/{id}", verify.show),
    Line("POST", "/verify", verify.check, takes="files", again=verify.show, policy="verify"),
    # the mode and organisation of the session
    Line("POST", "/mode", current_organisation.mode, Act.READ),
    Line("POST", "/organisation", current_organisation.organisation, Act.READ),
    # pages of one document; `/documents/new` must stand before `/documents/{id}`
    Line("GET", "/documents/{id}", page.show, Act.READ),
    Line("GET", "/documents/{id}/mark", page.mark, Act.READ),
    Line("GET", "/documents/{id}/pages", papers.pages, Act.READ),
    Line("GET", "/documents/{id}/pages/{number}/filled-{done}.webp", papers.filled, Act.READ),
    Line("GET", "/documents/{id}/files/{variant}", papers.file, Act.READ),
    Line("GET", "/documents/{id}/audit", papers.trail, Act.READ),
    Line("GET", "/documents/{id}/audit.json", papers.trail_as_json, Act.READ),
    # actions on one document
    *form("/documents/{id}/remind", document_actions.ask_remind, document_actions.remind, Act.WORK),
    *form("/documents/{id}/cancel", document_actions.ask_cancel, document_actions.cancel, Act.WORK),
    *form("/documents/{id}/expiry", terms.ask_expiry, terms.expiry, Act.WORK),
    *form("/documents/{id}/reminders", terms.ask_reminders, terms.reminders, Act.WORK),
    *form("/documents/{id}/reference", terms.ask_reference, terms.reference, Act.WORK),
    Line("POST", "/documents/{id}/duplicate", document_actions.duplicate, Act.WORK, again=page.show),
    *form(
        "/documents/{id}/template", document_actions.ask_template, document_actions.make_template, Act.WORK
    ),
    Line("POST", "/documents/{id}/retry-seal", document_actions.retry_seal, Act.WORK, again=page.show),
    *form("/documents/{id}/delete", document_actions.ask_delete, document_actions.delete, Act.WORK),
    # its recipients
    *form("/documents/{id}/recipients/add", edit_recipient.ask_add, edit_recipient.add, Act.WORK),
    *form("/documents/{id}/recipients/{rid}", edit_recipient.ask_change, edit_recipient.change, Act.WORK),
    *form(
        "/documents/{id}/recipients/{rid}/remove", edit_recipient.ask_remove, edit_recipient.remove, Act.WORK
    ),
    Line(
        "POST", "/documents/{id}/recipients/{rid}/unblock", edit_recipient.unblock, Act.WORK, again=page.show
    ),
    *form("/documents/{id}/recipients/{rid}/link", edit_recipient.ask_link, edit_recipient.link, Act.WORK),
    # test mode
    Line("POST", "/documents/{id}/simulate", test_mode.simulate, Act.WORK, again=page.show),
    Line("GET", "/test/messages", test_mode.messages, Act.WORK),
    # the account of the user
    Line("GET", "/account", account.show, Act.READ),
    Line("POST", "/account/name", account.rename, Act.READ, again=account.show),
    Line("POST", "/account/password", account.change_password, Act.READ, again=account.show),
    Line("POST", "/account/sessions/end-others", account.end_others, Act.READ),
    Line("POST", "/account/sessions/{id}/end", account.end, Act.READ),
    # a code each time: an attacker with a stolen session must not remove the second factor
    *form(
        "/account/second-factor",
        second_factor.show,
        second_factor.enable,
        Act.READ,
        fresh="shown",
        code="never",
    ),
    Line("POST", "/account/second-factor/codes", second_factor.renew, Act.READ, fresh=True, code="each"),
    Line("POST", "/account/second-factor/off", second_factor.disable, Act.READ, fresh=True, code="each"),
    # the field editor of a draft
    Line("GET", "/documents/{id}/fields", field_editor.show, Act.WORK),
    Line("POST", "/documents/{id}/fields", field_editor.save, Act.WORK, takes="rows"),
    Line("GET", "/documents/{id}/fields/state", field_editor.state, Act.WORK),
    Line("GET", "/documents/{id}/fields/found", field_editor.found, Act.WORK),
    Line("GET", "/documents/{id}/sheets/{number}.webp", field_editor.sheet, Act.READ),
    # templates: the list, a new one, its roles and fields, its use
    Line("GET", "/templates", listing.show, Act.READ),
    Line("GET", "/templates/new", create_template.show, Act.WORK),
    Line("POST", "/templates/new", create_template.take, Act.WORK, takes="files"),
    Line("GET", "/templates/{id}", template.show, Act.READ),
    Line("GET", "/templates/{id}/sheets/{number}.webp", template.sheet, Act.READ),
    Line("GET", "/templates/{id}/edit", roles.show, Act.WORK),
    Line("POST", "/templates/{id}/edit", roles.store, Act.WORK, takes="rows"),
    Line("GET", "/templates/{id}/fields", role_fields.show, Act.WORK),
    Line("POST", "/templates/{id}/fields", role_fields.save, Act.WORK, takes="rows"),
    Line("GET", "/templates/{id}/fields/state", role_fields.state, Act.WORK),
    Line("GET", "/templates/{id}/fields/found", role_fields.found, Act.WORK),
    *form("/templates/{id}/use", use_template.show, use_template.use, Act.WORK, takes="rows"),
    Line("GET", "/templates/{id}/delete", template.ask_delete, Act.WORK),
    Line("POST", "/templates/{id}/delete", template.delete, Act.WORK),
    # the members of the organisation
    *form("/members", members.show, members.invite, Act.SETTLE, fresh="sent"),
    Line("POST", "/members/{id}/role", members.change, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/again", members.invite_again, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/link", members.link, Act.SETTLE, fresh=True, again=members.show),
    Line("GET", "/members/{id}/remove", members.ask, Act.SETTLE),
    Line("POST", "/members/{id}/remove", members.remove, Act.SETTLE, fresh=True, again=members.show),
    # API tokens
    Line("GET", "/settings/tokens", tokens.show, Act.SETTLE),
    *form("/settings/tokens/new", tokens.show_new, tokens.create, Act.SETTLE, fresh="shown"),
    *form("/settings/tokens/{id}/name", tokens.show_name, tokens.rename, Act.SETTLE, fresh="sent"),
    Line("GET", "/settings/tokens/{id}/revoke", tokens.ask, Act.SETTLE),
    Line("POST", "/settings/tokens/{id}/revoke", tokens.revoke, Act.SETTLE, fresh=True),
    # webhooks
    Line("GET", "/settings/webhooks", webhooks.show, Act.SETTLE),
    *form("/settings/webhooks/new", webhooks.show_new, webhooks.create, Act.SETTLE, fresh="shown"),
    Line("GET", "/settings/webhooks/{id}", deliveries.show, Act.SETTLE),
    *form("/settings/webhooks/{id}/edit", webhooks.show_edit, webhooks.change, Act.SETTLE, fresh="sent"),
    Line("POST", "/settings/webhooks/{id}/on", webhooks.switch_on, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/off", webhooks.switch_off, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/test", deliveries.test, Act.SETTLE),
    *form("/settings/webhooks/{id}/secret", webhooks.ask_secret, webhooks.rotate, Act.SETTLE, fresh="shown"),
    *form("/settings/webhooks/{id}/recover", deliveries.show_recover, deliveries.recover, Act.SETTLE),
    Line("GET", "/settings/webhooks/{id}/delete", webhooks.ask, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/delete", webhooks.delete, Act.SETTLE, fresh=True),
    Line("GET", "/settings/webhooks/{id}/deliveries/{did}", deliveries.show_one, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/deliveries/{did}/again", deliveries.redeliver, Act.SETTLE),
    # settings of the organisation
    *form(
        "/settings/organisation",
        settings.show_organisation,
        settings.change_organisation,
        Act.SETTLE,
        fresh="sent",
    ),
    *form(
        "/settings/organisation/logo", logo.show, logo.put, Act.SETTLE, fresh="shown", takes="files", mib=1
    ),
    Line("GET", "/settings/organisation/logo/remove", logo.ask, Act.SETTLE),
    Line("POST", "/settings/organisation/logo/remove", logo.remove, Act.SETTLE, fresh=True),
    *form("/settings/defaults", settings.show_defaults, settings.change_defaults, Act.SETTLE, fresh="sent"),
    # erasing the data of one person, for owners; then outbox, logs, usage, plan and seal
    *form("/settings/erasure", erase_person.show, erase_person.look, Act.OWN),
    Line("POST", "/settings/erasure/begin", erase_person.begin, Act.OWN, fresh=True, again=erase_person.show),
    Line("GET", "/settings/outbox", outbox.show, Act.SETTLE),
    Line("POST", "/settings/outbox/retry", outbox.retry, Act.SETTLE),
    Line("GET", "/settings/outbox/{id}", outbox.show_one, Act.SETTLE),
    Line("GET", "/settings/events", event_log.show, Act.SETTLE),
    Line("GET", "/settings/events/{id}", event_log.show_one, Act.SETTLE),
    Line("GET", "/settings/audit", audit_log.show, Act.OWN),
    Line("GET", "/settings/usage", usage.show, Act.SETTLE),
    Line("GET", "/settings/plan", plan.show, Act.SETTLE),
    Line("GET", "/settings/seal", seal.show, Act.SETTLE),
    Line("POST", "/settings/seal", seal.try_it, Act.SETTLE),
    *form(
        "/settings/seal/upload",
        seal.show_upload,
        seal.upload,
        Act.OWN,
        fresh="shown",
        takes="files",
        mib=1,
    ),
    *form("/settings/seal/back", seal.ask_back, seal.back, Act.OWN, fresh="sent"),
    *form("/settings/seal/new", seal.ask_new, seal.new, Act.OWN, fresh="sent"),
)


def routes(runtime: Runtime, pages: Pages, uploads: Uploads) -> list[Route]:
    """Return the routes of the office, with the limits that they share."""
    windows = Windows(runtime.clock, {"verify": runtime.config.limits.verifies_per_minute})
    places = frozenset(line.path for line in TABLE if line.method == "GET")
    packing = Uploads(per_key=2, in_all=6, patience=1)
    strangers = Uploads(per_key=1, in_all=UPLOADS_OF_STRANGERS)
    door = Door(runtime, pages, Tries(runtime.clock), uploads, windows, places, packing, strangers)
    return [door.open(line) for line in TABLE]
