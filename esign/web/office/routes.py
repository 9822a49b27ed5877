"""The table of all pages of the office: the permission that each needs, and how its form is handled."""

from functools import partial
from typing import Any, Literal

from starlette.requests import Request
from starlette.routing import Route

from esign.core.errors import Problem
from esign.core.people.permission import Permission
from esign.core.people.user import Stage
from esign.runtime import Runtime
from esign.web.http.errors import METHOD_NOT_ALLOWED, make_method_problem
from esign.web.http.ratelimit import UPLOADS_OF_STRANGERS, RateWindows, Uploads
from esign.web.office.document import (
    document_actions,
    edit_recipient,
    own_turn,
    page,
    papers,
    terms,
    test_mode,
)
from esign.web.office.documents import event_log, export, selection, views
from esign.web.office.documents import listing as documents
from esign.web.office.draft import contacts, edit, field_editor, own_fields, preview, review, sample, upload
from esign.web.office.frame import current_organisation, language_choice
from esign.web.office.frame.dispatch import Handler, OfficeDispatcher, OfficeRoute
from esign.web.office.frame.missing_pages import NO_PAGE
from esign.web.office.manual import page as manual
from esign.web.office.palette import search
from esign.web.office.server import address, mail_list, mail_server, seal, setup_steps, status
from esign.web.office.session.login_throttle import LoginThrottle
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


def make_form_routes(
    path: str,
    show: Handler,
    take: Handler,
    needs: Permission | Literal[Stage.HALF] | None = None,
    *,
    fresh: Literal["shown", "sent"] | None = None,
    **more: Any,
) -> tuple[OfficeRoute, OfficeRoute]:
    """Return the two lines of a page with a form, which is shown again with its errors.

    `fresh`: the password (and a code, for users with a second factor) must be confirmed before the page is
    `shown`, or before its form is accepted (`sent`).
    """
    return (
        OfficeRoute("GET", path, show, needs, fresh=fresh == "shown", code=more.get("code")),
        OfficeRoute("POST", path, take, needs, fresh=fresh is not None, again=show, **more),
    )


TABLE = (
    # the documentation
    OfficeRoute("GET", "/docs", manual.show_contents),
    OfficeRoute("GET", "/docs/search", manual.show_results),
    OfficeRoute("GET", "/docs/esign.toml.example", manual.send_example),
    OfficeRoute("GET", "/docs/images/{name}", manual.send_picture),
    OfficeRoute("GET", "/docs/{name}", manual.show_page),
    # signing in and out
    OfficeRoute("GET", "/", sign_in.show_start),
    *make_form_routes("/sign-in", sign_in.show, sign_in.sign_in),
    *make_form_routes("/sign-in/code", sign_in.show_code, sign_in.give_code, Stage.HALF),
    *make_form_routes("/sign-in/again", sign_in.show, sign_in.sign_in, takes="rows"),
    *make_form_routes("/sign-in/again/code", sign_in.show_code, sign_in.give_code, Stage.HALF, takes="rows"),
    OfficeRoute("POST", "/sign-out", sign_in.sign_out, Permission.READ),
    *make_form_routes("/confirm", sign_in.show_confirm, sign_in.confirm, Permission.READ),
    # emailed and printed links
    *make_form_routes("/forgot", emailed_links.show_forgot, emailed_links.send_reset_link),
    *make_form_routes("/password/{token}", emailed_links.show_reset, emailed_links.reset),
    *make_form_routes("/invitation/{token}", emailed_links.show_invitation, emailed_links.join),
    *make_form_routes("/set-up/{token}", emailed_links.show_setup, emailed_links.set_up),
    # the server; steps for an owner before the first document is sent
    *make_form_routes("/server/address", address.show, address.save, Permission.OWN, fresh="sent"),
    OfficeRoute("POST", "/server/address/https", address.hasten_certificate, Permission.OWN),
    *make_form_routes("/server/mail", mail_server.show, mail_server.save, Permission.OWN, fresh="sent"),
    OfficeRoute(
        "POST", "/server/mail/test", mail_server.try_out, Permission.OWN, fresh=True, again=mail_server.show
    ),
    *make_form_routes(
        "/server/mail/remove", mail_server.ask_remove, mail_server.remove, Permission.OWN, fresh="sent"
    ),
    OfficeRoute("GET", "/server/seal", setup_steps.show_seal, Permission.OWN),
    OfficeRoute("POST", "/server/seal", setup_steps.try_seal, Permission.OWN),
    OfficeRoute("GET", "/server/clock", setup_steps.show_clock, Permission.OWN),
    OfficeRoute("GET", "/server/backup", setup_steps.show_backup, Permission.OWN),
    OfficeRoute("POST", "/server/clock", setup_steps.confirm_clock, Permission.OWN, fresh=True),
    OfficeRoute("GET", "/server/status", status.show, Permission.OWN),
    OfficeRoute("POST", "/server/status", status.retry, Permission.OWN),
    # a new document: file, people, (fields), review
    OfficeRoute("GET", "/documents/new", upload.show_upload, Permission.WORK),
    OfficeRoute("POST", "/documents/new", upload.take_drafts, Permission.WORK, takes="files"),
    OfficeRoute("POST", "/documents/sample", sample.create, Permission.WORK),
    OfficeRoute("GET", "/documents/{id}/edit", edit.show_form, Permission.WORK),
    OfficeRoute("POST", "/documents/{id}/edit", edit.store_form, Permission.WORK, takes="rows"),
    OfficeRoute(
        "POST",
        "/documents/{id}/file",
        upload.replace_file,
        Permission.WORK,
        takes="files",
        again=edit.show_form,
    ),
    OfficeRoute("GET", "/documents/{id}/review", review.show_review, Permission.WORK),
    OfficeRoute("POST", "/documents/{id}/send", review.send, Permission.WORK, again=review.show_review),
    *make_form_routes("/documents/{id}/discard", edit.ask_discard, edit.discard, Permission.WORK),
    # what a recipient of a draft will get and see; nothing below these addresses takes a form
    OfficeRoute("GET", "/documents/{id}/letters/{rid}", preview.send_letter, Permission.WORK),
    OfficeRoute("GET", "/documents/{id}/preview/{rid}", preview.show_draft, Permission.WORK),
    OfficeRoute(
        "GET",
        "/documents/{id}/preview/{rid}/pages/{number}.webp",
        preview.send_draft_picture,
        Permission.WORK,
    ),
    OfficeRoute(
        "GET", "/documents/{id}/preview/{rid}/pages/{number}.json", preview.send_draft_text, Permission.WORK
    ),
    OfficeRoute(
        "GET", "/documents/{id}/preview/{rid}/original.pdf", preview.send_draft_file, Permission.WORK
    ),
    # the list of documents, and actions on several of them
    OfficeRoute("GET", "/documents", documents.show_list, Permission.READ),
    OfficeRoute("GET", "/documents/views", views.show_all, Permission.READ),
    *make_form_routes("/documents/views/new", views.show_new, views.create, Permission.READ),
    *make_form_routes("/documents/views/{id}/edit", views.show_edit, views.change, Permission.READ),
    OfficeRoute("POST", "/documents/views/{id}/delete", views.delete, Permission.READ),
    OfficeRoute("POST", "/documents/export", export.send_csv, Permission.READ, code="recent"),
    *make_form_routes("/selection/remind", selection.ask_remind, selection.remind, Permission.WORK),
    *make_form_routes("/selection/cancel", selection.ask_cancel, selection.cancel, Permission.WORK),
    OfficeRoute("GET", "/selection/delete", selection.ask_delete, Permission.WORK),
    OfficeRoute("POST", "/selection/delete", selection.delete, Permission.WORK),
    OfficeRoute("POST", "/selection/retry-seal", selection.seal, Permission.WORK),
    OfficeRoute("GET", "/selection/done", selection.show_done, Permission.WORK),
    OfficeRoute("GET", "/selection/download", selection.ask_download, Permission.READ),
    OfficeRoute("POST", "/selection/download", selection.download, Permission.READ, code="recent"),
    # the address book
    OfficeRoute("GET", "/contacts", contacts.show_list, Permission.WORK),
    OfficeRoute("GET", "/contacts/suggest", contacts.suggest, Permission.WORK),
    *make_form_routes("/contacts/new", contacts.show_new, contacts.create, Permission.WORK),
    *make_form_routes("/contacts/{id}", contacts.show_edit, contacts.change, Permission.WORK),
    OfficeRoute("POST", "/contacts/{id}/remove", contacts.remove, Permission.WORK),
    # what the command palette finds, as JSON
    OfficeRoute("GET", "/palette", search.search, Permission.READ),
    # the public verification page
    OfficeRoute("GET", "/verify", verify.show),
    OfficeRoute("GET", "/verify/{id}", verify.show),
    OfficeRoute("POST", "/verify", verify.check_file, takes="files", again=verify.show, policy="verify"),
    # the language of pages; then the mode and organisation of the session
    OfficeRoute("POST", "/language", language_choice.choose_language),
    OfficeRoute("POST", "/mode", current_organisation.switch_mode, Permission.READ),
    OfficeRoute("POST", "/organisation", current_organisation.switch_organisation, Permission.READ),
    # pages of one document; `/documents/new` must stand before `/documents/{id}`
    OfficeRoute("GET", "/documents/{id}", page.show_document, Permission.READ),
    OfficeRoute("GET", "/documents/{id}/mark", page.send_change_mark, Permission.READ),
    OfficeRoute("GET", "/documents/{id}/pages", papers.show_pages, Permission.READ),
    OfficeRoute(
        "GET",
        "/documents/{id}/pages/{number}/filled-{done}.webp",
        papers.send_filled_picture,
        Permission.READ,
    ),
    OfficeRoute("GET", "/documents/{id}/files/{variant}", papers.send_file, Permission.READ),
    OfficeRoute("GET", "/documents/{id}/audit", papers.show_trail, Permission.READ),
    OfficeRoute("GET", "/documents/{id}/audit.json", papers.send_trail, Permission.READ),
    # actions on one document
    *make_form_routes(
        "/documents/{id}/remind", document_actions.ask_remind, document_actions.remind, Permission.WORK
    ),
    *make_form_routes(
        "/documents/{id}/cancel", document_actions.ask_cancel, document_actions.cancel, Permission.WORK
    ),
    *make_form_routes("/documents/{id}/expiry", terms.ask_expiry, terms.change_expiry, Permission.WORK),
    *make_form_routes(
        "/documents/{id}/reminders", terms.ask_reminders, terms.change_reminders, Permission.WORK
    ),
    *make_form_routes(
        "/documents/{id}/reference", terms.ask_reference, terms.change_reference, Permission.WORK
    ),
    OfficeRoute(
        "POST",
        "/documents/{id}/duplicate",
        document_actions.duplicate,
        Permission.WORK,
        again=page.show_document,
    ),
    *make_form_routes(
        "/documents/{id}/template",
        document_actions.ask_template,
        document_actions.make_template,
        Permission.WORK,
    ),
    OfficeRoute(
        "POST",
        "/documents/{id}/retry-seal",
        document_actions.retry_seal,
        Permission.WORK,
        again=page.show_document,
    ),
    *make_form_routes(
        "/documents/{id}/delete", document_actions.ask_delete, document_actions.delete, Permission.WORK
    ),
    OfficeRoute("POST", "/documents/{id}/sign", own_turn.sign_now, Permission.WORK, again=page.show_document),
    # its recipients
    *make_form_routes(
        "/documents/{id}/recipients/add", edit_recipient.ask_add, edit_recipient.add, Permission.WORK
    ),
    *make_form_routes(
        "/documents/{id}/recipients/{rid}", edit_recipient.ask_change, edit_recipient.change, Permission.WORK
    ),
    *make_form_routes(
        "/documents/{id}/recipients/{rid}/remove",
        edit_recipient.ask_remove,
        edit_recipient.remove,
        Permission.WORK,
    ),
    OfficeRoute(
        "POST",
        "/documents/{id}/recipients/{rid}/unblock",
        edit_recipient.unblock,
        Permission.WORK,
        again=page.show_document,
    ),
    *make_form_routes(
        "/documents/{id}/recipients/{rid}/link",
        edit_recipient.ask_link,
        edit_recipient.issue_link,
        Permission.WORK,
    ),
    # test mode
    OfficeRoute(
        "POST", "/documents/{id}/simulate", test_mode.simulate, Permission.WORK, again=page.show_document
    ),
    OfficeRoute("GET", "/test/messages", test_mode.show_messages, Permission.WORK),
    OfficeRoute("GET", "/test/messages/{id}/letter", test_mode.send_letter, Permission.WORK),
    # the account of the user
    OfficeRoute("GET", "/account", account.show, Permission.READ),
    OfficeRoute("POST", "/account/name", account.rename, Permission.READ, again=account.show),
    OfficeRoute("POST", "/account/password", account.change_password, Permission.READ, again=account.show),
    OfficeRoute("POST", "/account/sessions/end-others", account.end_others, Permission.READ),
    OfficeRoute("POST", "/account/sessions/{id}/end", account.end_session, Permission.READ),
    # a code each time: an attacker with a stolen session must not remove the second factor
    *make_form_routes(
        "/account/second-factor",
        second_factor.show,
        second_factor.enable,
        Permission.READ,
        fresh="shown",
        code="never",
    ),
    OfficeRoute(
        "POST", "/account/second-factor/codes", second_factor.renew, Permission.READ, fresh=True, code="each"
    ),
    OfficeRoute(
        "POST", "/account/second-factor/off", second_factor.disable, Permission.READ, fresh=True, code="each"
    ),
    # the field editor of a draft
    OfficeRoute("GET", "/documents/{id}/fields", field_editor.show_editor, Permission.WORK),
    OfficeRoute("POST", "/documents/{id}/fields", field_editor.save_fields, Permission.WORK, takes="rows"),
    OfficeRoute("GET", "/documents/{id}/fields/state", field_editor.send_state, Permission.WORK),
    OfficeRoute("GET", "/documents/{id}/fields/found", field_editor.suggest_fields, Permission.WORK),
    OfficeRoute("POST", "/documents/{id}/fields/found", own_fields.place_draft_fields, Permission.WORK),
    OfficeRoute("POST", "/documents/{id}/fields/found/undo", own_fields.undo_draft_fields, Permission.WORK),
    OfficeRoute(
        "GET", "/documents/{id}/sheets/{number}.webp", field_editor.send_page_picture, Permission.READ
    ),
    # templates: the list, a new one, its roles and fields, its use
    OfficeRoute("GET", "/templates", listing.show_list, Permission.READ),
    OfficeRoute("GET", "/templates/new", create_template.show_upload, Permission.WORK),
    OfficeRoute("POST", "/templates/new", create_template.take_templates, Permission.WORK, takes="files"),
    OfficeRoute("GET", "/templates/{id}", template.show_template, Permission.READ),
    OfficeRoute("GET", "/templates/{id}/sheets/{number}.webp", template.send_page_picture, Permission.READ),
    OfficeRoute("GET", "/templates/{id}/files/original", template.send_original, Permission.READ),
    OfficeRoute("GET", "/templates/{id}/preview/{rid}", preview.show_template, Permission.WORK),
    OfficeRoute(
        "GET",
        "/templates/{id}/preview/{rid}/pages/{number}.webp",
        preview.send_template_picture,
        Permission.WORK,
    ),
    OfficeRoute(
        "GET",
        "/templates/{id}/preview/{rid}/pages/{number}.json",
        preview.send_template_text,
        Permission.WORK,
    ),
    OfficeRoute(
        "GET", "/templates/{id}/preview/{rid}/original.pdf", preview.send_template_file, Permission.WORK
    ),
    OfficeRoute("GET", "/templates/{id}/edit", roles.show_form, Permission.WORK),
    OfficeRoute("POST", "/templates/{id}/edit", roles.store_form, Permission.WORK, takes="rows"),
    OfficeRoute("GET", "/templates/{id}/fields", role_fields.show_editor, Permission.WORK),
    OfficeRoute("POST", "/templates/{id}/fields", role_fields.save_fields, Permission.WORK, takes="rows"),
    OfficeRoute("GET", "/templates/{id}/fields/state", role_fields.send_state, Permission.WORK),
    OfficeRoute("GET", "/templates/{id}/fields/found", role_fields.suggest_fields, Permission.WORK),
    OfficeRoute("POST", "/templates/{id}/fields/found", own_fields.place_template_fields, Permission.WORK),
    OfficeRoute(
        "POST", "/templates/{id}/fields/found/undo", own_fields.undo_template_fields, Permission.WORK
    ),
    *make_form_routes(
        "/templates/{id}/use",
        use_template.show_form,
        use_template.use_template,
        Permission.WORK,
        takes="rows",
    ),
    OfficeRoute("GET", "/templates/{id}/delete", template.ask_delete, Permission.WORK),
    OfficeRoute("POST", "/templates/{id}/delete", template.delete, Permission.WORK),
    # the members of the organisation
    *make_form_routes("/members", members.show, members.invite, Permission.SETTLE, fresh="sent"),
    OfficeRoute(
        "POST", "/members/{id}/role", members.change, Permission.SETTLE, fresh=True, again=members.show
    ),
    OfficeRoute(
        "POST", "/members/{id}/again", members.invite_again, Permission.SETTLE, fresh=True, again=members.show
    ),
    OfficeRoute(
        "POST", "/members/{id}/link", members.show_link, Permission.SETTLE, fresh=True, again=members.show
    ),
    OfficeRoute("GET", "/members/{id}/remove", members.ask_remove, Permission.SETTLE),
    OfficeRoute(
        "POST", "/members/{id}/remove", members.remove, Permission.SETTLE, fresh=True, again=members.show
    ),
    # API tokens
    OfficeRoute("GET", "/settings/tokens", tokens.show, Permission.SETTLE),
    *make_form_routes(
        "/settings/tokens/new", tokens.show_new, tokens.create, Permission.SETTLE, fresh="shown"
    ),
    *make_form_routes(
        "/settings/tokens/{id}/name", tokens.show_name, tokens.rename, Permission.SETTLE, fresh="sent"
    ),
    OfficeRoute("GET", "/settings/tokens/{id}/revoke", tokens.ask_revoke, Permission.SETTLE),
    OfficeRoute("POST", "/settings/tokens/{id}/revoke", tokens.revoke, Permission.SETTLE, fresh=True),
    # webhooks
    OfficeRoute("GET", "/settings/webhooks", webhooks.show, Permission.SETTLE),
    *make_form_routes(
        "/settings/webhooks/new", webhooks.show_new, webhooks.create, Permission.SETTLE, fresh="shown"
    ),
    OfficeRoute("GET", "/settings/webhooks/{id}", deliveries.show, Permission.SETTLE),
    *make_form_routes(
        "/settings/webhooks/{id}/edit", webhooks.show_edit, webhooks.change, Permission.SETTLE, fresh="sent"
    ),
    OfficeRoute("POST", "/settings/webhooks/{id}/on", webhooks.switch_on, Permission.SETTLE),
    OfficeRoute("POST", "/settings/webhooks/{id}/off", webhooks.switch_off, Permission.SETTLE),
    OfficeRoute("POST", "/settings/webhooks/{id}/test", deliveries.test, Permission.SETTLE),
    *make_form_routes(
        "/settings/webhooks/{id}/secret",
        webhooks.ask_secret,
        webhooks.rotate,
        Permission.SETTLE,
        fresh="shown",
    ),
    *make_form_routes(
        "/settings/webhooks/{id}/recover", deliveries.show_recover, deliveries.recover, Permission.SETTLE
    ),
    OfficeRoute("GET", "/settings/webhooks/{id}/delete", webhooks.ask_delete, Permission.SETTLE),
    OfficeRoute("POST", "/settings/webhooks/{id}/delete", webhooks.delete, Permission.SETTLE, fresh=True),
    OfficeRoute("GET", "/settings/webhooks/{id}/deliveries/{did}", deliveries.show_one, Permission.SETTLE),
    OfficeRoute(
        "POST", "/settings/webhooks/{id}/deliveries/{did}/again", deliveries.redeliver, Permission.SETTLE
    ),
    # the settings lead to the first page that the member may see
    OfficeRoute("GET", "/settings", settings.show_first, Permission.READ),
    # settings of the organisation
    *make_form_routes(
        "/settings/organisation",
        settings.show_organisation,
        settings.change_organisation,
        Permission.SETTLE,
        fresh="sent",
    ),
    *make_form_routes(
        "/settings/organisation/logo",
        logo.show,
        logo.upload,
        Permission.SETTLE,
        fresh="shown",
        takes="files",
        mib=1,
    ),
    OfficeRoute("GET", "/settings/organisation/logo/remove", logo.ask_remove, Permission.SETTLE),
    OfficeRoute("POST", "/settings/organisation/logo/remove", logo.remove, Permission.SETTLE, fresh=True),
    *make_form_routes(
        "/settings/defaults",
        settings.show_defaults,
        settings.change_defaults,
        Permission.SETTLE,
        fresh="sent",
    ),
    # erasing the data of one person, for owners; then outbox, logs, usage, plan and seal
    *make_form_routes("/settings/erasure", erase_person.show, erase_person.preview, Permission.OWN),
    OfficeRoute(
        "POST",
        "/settings/erasure/begin",
        erase_person.begin,
        Permission.OWN,
        fresh=True,
        again=erase_person.show,
    ),
    OfficeRoute("GET", "/settings/outbox", mail_list.show, Permission.SETTLE),
    OfficeRoute("POST", "/settings/outbox/retry", mail_list.retry, Permission.SETTLE),
    OfficeRoute("POST", "/settings/outbox/mail-kept", mail_list.mail_kept, Permission.SETTLE),
    # members without SETTLE find mails about documents that they may open, and nothing else
    OfficeRoute("GET", "/settings/outbox/{id}", mail_list.show_one, Permission.WORK),
    OfficeRoute("GET", "/settings/outbox/{id}/letter", mail_list.send_letter, Permission.WORK),
    OfficeRoute("GET", "/settings/events", event_log.show_events, Permission.SETTLE),
    OfficeRoute("GET", "/settings/events/{id}", event_log.show_event, Permission.SETTLE),
    OfficeRoute("GET", "/settings/audit", audit_log.show, Permission.OWN),
    OfficeRoute("GET", "/settings/usage", usage.show, Permission.SETTLE),
    OfficeRoute("GET", "/settings/plan", plan.show, Permission.SETTLE),
    OfficeRoute("GET", "/settings/seal", seal.show, Permission.SETTLE),
    OfficeRoute("POST", "/settings/seal", seal.try_seal, Permission.SETTLE),
    *make_form_routes(
        "/settings/seal/upload",
        seal.show_upload,
        seal.upload,
        Permission.OWN,
        fresh="shown",
        takes="files",
        mib=1,
    ),
    *make_form_routes("/settings/seal/back", seal.ask_back, seal.go_back, Permission.OWN, fresh="sent"),
    *make_form_routes("/settings/seal/new", seal.ask_new, seal.make_new, Permission.OWN, fresh="sent"),
)


def make_routes(runtime: Runtime, pages: Pages, uploads: Uploads) -> list[Route]:
    """Return the routes of the office, with the limits that they share."""
    windows = RateWindows(runtime.clock, {"verify": runtime.config.limits.verifies_per_minute})
    places = frozenset(line.path for line in TABLE if line.method == "GET")
    packing = Uploads(per_key=2, in_all=6, patience=1)
    strangers = Uploads(per_key=1, in_all=UPLOADS_OF_STRANGERS)
    door = OfficeDispatcher(
        runtime, pages, LoginThrottle(runtime.clock), uploads, windows, places, packing, strangers
    )
    return [*(door.open(line) for line in TABLE), *make_refusing_routes(door)]


def make_refusing_routes(door: OfficeDispatcher) -> list[Route]:
    """Return the routes of what is not in the table below the office's own addresses, behind all others.

    They are wrong methods of known addresses, which answer 405, and unknown addresses, which answer 404. Members
    see what is wrong and where to go; anybody else gets the common error page.
    """
    methods: dict[str, set[str]] = {}
    for line in TABLE:
        methods.setdefault(line.path, set()).add(line.method)
    refusing = [
        door.refuse(path, method, partial(refuse_method, allow=", ".join(sorted(takes))))
        for path, takes in methods.items()
        for method in ("GET", "POST")
        if method not in takes
    ]
    beginnings = sorted({path.split("/")[1] for path in methods} - {"", "s"})
    unknown = [
        door.refuse(f"/{begin}/{{rest:path}}", method, lambda _: Problem("not_found", NO_PAGE))
        for begin in beginnings
        for method in ("GET", "POST")
    ]
    return refusing + unknown


def refuse_method(request: Request, allow: str) -> Problem:
    """Return the problem of a method that a page does not take."""
    problem = make_method_problem(request.method, allow)
    problem.status = METHOD_NOT_ALLOWED
    return problem
