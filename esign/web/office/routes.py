"""The table of all pages of the office: who may open each, and what each form needs."""

from starlette.routing import Route

from esign.core.user import Act, Stage
from esign.runtime import Runtime
from esign.web.office import (
    account,
    arrivals,
    deliveries,
    documents,
    entrance,
    factor,
    fields,
    logo,
    members,
    outbox,
    place,
    seal,
    selection,
    server,
    settings,
    tokens,
    usage,
    webhooks,
)
from esign.web.office.document import acts, page, papers, parties, terms, trying
from esign.web.office.door import Door, Line
from esign.web.office.draft import edit, review, upload
from esign.web.office.template import edit as roles
from esign.web.office.template import fields as role_fields
from esign.web.office.template import listing, making, using
from esign.web.office.template import page as template
from esign.web.office.tries import Tries
from esign.web.office.verify import page as verify
from esign.web.pages import Pages
from esign.web.ratelimit import Uploads, Windows

TABLE = (
    # the entrance
    Line("GET", "/", entrance.start),
    Line("GET", "/sign-in", entrance.show),
    Line("POST", "/sign-in", entrance.sign_in, again=entrance.show),
    Line("GET", "/sign-in/code", entrance.show_code, Stage.HALF),
    Line("POST", "/sign-in/code", entrance.give_code, Stage.HALF, again=entrance.show_code),
    Line("GET", "/sign-in/again", entrance.show),
    Line("POST", "/sign-in/again", entrance.sign_in, again=entrance.show, takes="rows"),
    Line("GET", "/sign-in/again/code", entrance.show_code, Stage.HALF),
    Line(
        "POST", "/sign-in/again/code", entrance.give_code, Stage.HALF, again=entrance.show_code, takes="rows"
    ),
    Line("POST", "/sign-out", entrance.sign_out, Act.READ),
    Line("GET", "/confirm", entrance.show_confirm, Act.READ),
    Line("POST", "/confirm", entrance.confirm, Act.READ, again=entrance.show_confirm),
    # links that were mailed or printed
    Line("GET", "/forgot", arrivals.show_forgot),
    Line("POST", "/forgot", arrivals.forgot, again=arrivals.show_forgot),
    Line("GET", "/password/{token}", arrivals.show_reset),
    Line("POST", "/password/{token}", arrivals.reset, again=arrivals.show_reset),
    Line("GET", "/invitation/{token}", arrivals.show_invitation),
    Line("POST", "/invitation/{token}", arrivals.join, again=arrivals.show_invitation),
    Line("GET", "/set-up/{token}", arrivals.show_setup),
    Line("POST", "/set-up/{token}", arrivals.set_up, again=arrivals.show_setup),
    # what an owner looks at before the first document is sent
    Line("GET", "/server/address", server.show_address, Act.OWN),
    Line("POST", "/server/address", server.check_address, Act.OWN),
    Line("GET", "/server/mail", server.show_mail, Act.OWN),
    Line("POST", "/server/mail", server.send_mail, Act.OWN),
    Line("GET", "/server/seal", server.show_seal, Act.OWN),
    Line("POST", "/server/seal", server.try_seal, Act.OWN),
    # a new document: file, people, (fields), review
    Line("GET", "/documents/new", upload.show, Act.WORK),
    Line("POST", "/documents/new", upload.take, Act.WORK, takes="files"),
    Line("GET", "/documents/{id}/edit", edit.show, Act.WORK),
    Line("POST", "/documents/{id}/edit", edit.store, Act.WORK, takes="rows"),
    Line("POST", "/documents/{id}/file", upload.replace_file, Act.WORK, takes="files", again=edit.show),
    Line("GET", "/documents/{id}/review", review.show, Act.WORK),
    Line("POST", "/documents/{id}/send", review.send, Act.WORK, again=review.show),
    Line("GET", "/documents/{id}/discard", edit.ask_discard, Act.WORK),
    Line("POST", "/documents/{id}/discard", edit.discard, Act.WORK, again=edit.ask_discard),
    # the list of documents, and what can be done to several of them
    Line("GET", "/documents", documents.show, Act.READ),
    Line("GET", "/selection/remind", selection.ask_remind, Act.WORK),
    Line("POST", "/selection/remind", selection.remind, Act.WORK, again=selection.ask_remind),
    Line("GET", "/selection/cancel", selection.ask_cancel, Act.WORK),
    Line("POST", "/selection/cancel", selection.cancel, Act.WORK, again=selection.ask_cancel),
    Line("GET", "/selection/delete", selection.ask_delete, Act.WORK),
    Line("POST", "/selection/delete", selection.delete, Act.WORK),
    Line("POST", "/selection/retry-seal", selection.seal, Act.WORK),
    Line("GET", "/selection/download", selection.ask_download, Act.READ),
    Line("POST", "/selection/download", selection.download, Act.READ),
    # for anybody who holds a sealed PDF
    Line("GET", "/verify", verify.show),
    Line("GET", "/verify/{id}", verify.show),
    Line("POST", "/verify", verify.check, takes="files", again=verify.show, policy="verify"),
    # where the session is
    Line("POST", "/mode", place.mode, Act.READ),
    Line("POST", "/organisation", place.organisation, Act.READ),
    # one document: what there is to see; other pages below /documents stand before it
    Line("GET", "/documents/{id}", page.show, Act.READ),
    Line("GET", "/documents/{id}/mark", page.mark, Act.READ),
    Line("GET", "/documents/{id}/pages", papers.pages, Act.READ),
    Line("GET", "/documents/{id}/pages/{number}.webp", papers.picture, Act.READ),
    Line("GET", "/documents/{id}/pages/{number}/filled-{done}.webp", papers.filled, Act.READ),
    Line("GET", "/documents/{id}/files/{variant}", papers.file, Act.READ),
    Line("GET", "/documents/{id}/audit", papers.trail, Act.READ),
    Line("GET", "/documents/{id}/audit.json", papers.trail_as_json, Act.READ),
    # what can be done with it
    Line("GET", "/documents/{id}/remind", acts.ask_remind, Act.WORK),
    Line("POST", "/documents/{id}/remind", acts.remind, Act.WORK, again=acts.ask_remind),
    Line("GET", "/documents/{id}/cancel", acts.ask_cancel, Act.WORK),
    Line("POST", "/documents/{id}/cancel", acts.cancel, Act.WORK, again=acts.ask_cancel),
    Line("GET", "/documents/{id}/expiry", terms.ask_expiry, Act.WORK),
    Line("POST", "/documents/{id}/expiry", terms.expiry, Act.WORK, again=terms.ask_expiry),
    Line("GET", "/documents/{id}/reminders", terms.ask_reminders, Act.WORK),
    Line("POST", "/documents/{id}/reminders", terms.reminders, Act.WORK, again=terms.ask_reminders),
    Line("GET", "/documents/{id}/reference", terms.ask_reference, Act.WORK),
    Line("POST", "/documents/{id}/reference", terms.reference, Act.WORK, again=terms.ask_reference),
    Line("POST", "/documents/{id}/duplicate", acts.duplicate, Act.WORK, again=page.show),
    Line("GET", "/documents/{id}/template", acts.ask_template, Act.WORK),
    Line("POST", "/documents/{id}/template", acts.make_template, Act.WORK, again=acts.ask_template),
    Line("POST", "/documents/{id}/retry-seal", acts.retry_seal, Act.WORK, again=page.show),
    Line("GET", "/documents/{id}/delete", acts.ask_delete, Act.WORK),
    Line("POST", "/documents/{id}/delete", acts.delete, Act.WORK, again=acts.ask_delete),
    # its recipients
    Line("GET", "/documents/{id}/recipients/add", parties.ask_add, Act.WORK),
    Line("POST", "/documents/{id}/recipients/add", parties.add, Act.WORK, again=parties.ask_add),
    Line("GET", "/documents/{id}/recipients/{rid}", parties.ask_change, Act.WORK),
    Line("POST", "/documents/{id}/recipients/{rid}", parties.change, Act.WORK, again=parties.ask_change),
    Line("GET", "/documents/{id}/recipients/{rid}/remove", parties.ask_remove, Act.WORK),
    Line(
        "POST", "/documents/{id}/recipients/{rid}/remove", parties.remove, Act.WORK, again=parties.ask_remove
    ),
    Line("GET", "/documents/{id}/recipients/{rid}/link", parties.ask_link, Act.WORK),
    Line("POST", "/documents/{id}/recipients/{rid}/link", parties.link, Act.WORK, again=parties.ask_link),
    # test mode
    Line("POST", "/documents/{id}/simulate", trying.simulate, Act.WORK, again=page.show),
    Line("GET", "/test/messages", trying.messages, Act.WORK),
    # the person themself
    Line("GET", "/account", account.show, Act.READ),
    Line("POST", "/account/name", account.rename, Act.READ, again=account.show),
    Line("POST", "/account/password", account.change_password, Act.READ, again=account.show),
    Line("POST", "/account/sessions/end-others", account.end_others, Act.READ),
    Line("POST", "/account/sessions/{id}/end", account.end, Act.READ),
    Line("GET", "/account/second-factor", factor.show, Act.READ, fresh=True),
    Line("POST", "/account/second-factor", factor.enable, Act.READ, fresh=True, again=factor.show),
    Line("POST", "/account/second-factor/codes", factor.renew, Act.READ, fresh=True),
    Line("POST", "/account/second-factor/off", factor.disable, Act.READ, fresh=True),
    # where fields are placed on a draft
    Line("GET", "/documents/{id}/fields", fields.show, Act.WORK),
    Line("POST", "/documents/{id}/fields", fields.save, Act.WORK, takes="rows"),
    Line("GET", "/documents/{id}/fields/state", fields.state, Act.WORK),
    Line("GET", "/documents/{id}/fields/found", fields.found, Act.WORK),
    Line("GET", "/documents/{id}/sheets/{number}.webp", fields.sheet, Act.WORK),
    # templates: the list, a new one, its roles and fields, its use
    Line("GET", "/templates", listing.show, Act.READ),
    Line("GET", "/templates/new", making.show, Act.WORK),
    Line("POST", "/templates/new", making.take, Act.WORK, takes="files"),
    Line("GET", "/templates/{id}", template.show, Act.READ),
    Line("GET", "/templates/{id}/sheets/{number}.webp", template.sheet, Act.READ),
    Line("GET", "/templates/{id}/edit", roles.show, Act.WORK),
    Line("POST", "/templates/{id}/edit", roles.store, Act.WORK, takes="rows"),
    Line("GET", "/templates/{id}/fields", role_fields.show, Act.WORK),
    Line("POST", "/templates/{id}/fields", role_fields.save, Act.WORK, takes="rows"),
    Line("GET", "/templates/{id}/fields/state", role_fields.state, Act.WORK),
    Line("GET", "/templates/{id}/fields/found", role_fields.found, Act.WORK),
    Line("GET", "/templates/{id}/use", using.show, Act.WORK),
    Line("POST", "/templates/{id}/use", using.use, Act.WORK, takes="rows", again=using.show),
    Line("GET", "/templates/{id}/delete", template.ask_delete, Act.WORK),
    Line("POST", "/templates/{id}/delete", template.delete, Act.WORK),
    # the others
    Line("GET", "/members", members.show, Act.SETTLE),
    Line("POST", "/members", members.invite, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/role", members.change, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/again", members.invite_again, Act.SETTLE, fresh=True, again=members.show),
    Line("GET", "/members/{id}/remove", members.ask, Act.SETTLE),
    Line("POST", "/members/{id}/remove", members.remove, Act.SETTLE, fresh=True, again=members.show),
    # what programs call with
    Line("GET", "/settings/tokens", tokens.show, Act.SETTLE),
    Line("GET", "/settings/tokens/new", tokens.show_new, Act.SETTLE, fresh=True),
    Line("POST", "/settings/tokens/new", tokens.create, Act.SETTLE, fresh=True, again=tokens.show_new),
    Line("GET", "/settings/tokens/{id}/name", tokens.show_name, Act.SETTLE),
    Line("POST", "/settings/tokens/{id}/name", tokens.rename, Act.SETTLE, fresh=True, again=tokens.show_name),
    Line("GET", "/settings/tokens/{id}/revoke", tokens.ask, Act.SETTLE),
    Line("POST", "/settings/tokens/{id}/revoke", tokens.revoke, Act.SETTLE, fresh=True),
    # where other programs are told
    Line("GET", "/settings/webhooks", webhooks.show, Act.SETTLE),
    Line("GET", "/settings/webhooks/new", webhooks.show_new, Act.SETTLE, fresh=True),
    Line("POST", "/settings/webhooks/new", webhooks.create, Act.SETTLE, fresh=True, again=webhooks.show_new),
    Line("GET", "/settings/webhooks/{id}", deliveries.show, Act.SETTLE),
    Line("GET", "/settings/webhooks/{id}/edit", webhooks.show_edit, Act.SETTLE),
    Line(
        "POST",
        "/settings/webhooks/{id}/edit",
        webhooks.change,
        Act.SETTLE,
        fresh=True,
        again=webhooks.show_edit,
    ),
    Line("POST", "/settings/webhooks/{id}/on", webhooks.switch_on, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/off", webhooks.switch_off, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/test", deliveries.test, Act.SETTLE),
    Line("GET", "/settings/webhooks/{id}/secret", webhooks.ask_secret, Act.SETTLE, fresh=True),
    Line(
        "POST",
        "/settings/webhooks/{id}/secret",
        webhooks.rotate,
        Act.SETTLE,
        fresh=True,
        again=webhooks.ask_secret,
    ),
    Line("GET", "/settings/webhooks/{id}/recover", deliveries.show_recover, Act.SETTLE),
    Line(
        "POST",
        "/settings/webhooks/{id}/recover",
        deliveries.recover,
        Act.SETTLE,
        again=deliveries.show_recover,
    ),
    Line("GET", "/settings/webhooks/{id}/delete", webhooks.ask, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/delete", webhooks.delete, Act.SETTLE, fresh=True),
    Line("GET", "/settings/webhooks/{id}/deliveries/{did}", deliveries.show_one, Act.SETTLE),
    Line("POST", "/settings/webhooks/{id}/deliveries/{did}/again", deliveries.redeliver, Act.SETTLE),
    # what the organisation sets for itself, and what it used
    Line("GET", "/settings/organisation", settings.show_organisation, Act.SETTLE),
    Line(
        "POST",
        "/settings/organisation",
        settings.change_organisation,
        Act.SETTLE,
        fresh=True,
        again=settings.show_organisation,
    ),
    Line("GET", "/settings/organisation/logo", logo.show, Act.SETTLE, fresh=True),
    Line(
        "POST",
        "/settings/organisation/logo",
        logo.put,
        Act.SETTLE,
        fresh=True,
        again=logo.show,
        takes="files",
        mib=1,
    ),
    Line("GET", "/settings/organisation/logo/remove", logo.ask, Act.SETTLE),
    Line("POST", "/settings/organisation/logo/remove", logo.remove, Act.SETTLE, fresh=True),
    Line("GET", "/settings/defaults", settings.show_defaults, Act.SETTLE),
    Line(
        "POST",
        "/settings/defaults",
        settings.change_defaults,
        Act.SETTLE,
        fresh=True,
        again=settings.show_defaults,
    ),
    Line("GET", "/settings/outbox", outbox.show, Act.SETTLE),
    Line("GET", "/settings/outbox/{id}", outbox.show_one, Act.SETTLE),
    Line("GET", "/settings/usage", usage.show, Act.SETTLE),
    Line("GET", "/settings/seal", seal.show, Act.SETTLE),
    Line("POST", "/settings/seal", seal.try_it, Act.SETTLE),
    Line("GET", "/settings/seal/upload", seal.show_upload, Act.SETTLE, fresh=True),
    Line(
        "POST",
        "/settings/seal/upload",
        seal.upload,
        Act.SETTLE,
        fresh=True,
        again=seal.show_upload,
        takes="files",
        mib=1,
    ),
    Line("GET", "/settings/seal/back", seal.ask_back, Act.SETTLE),
    Line("POST", "/settings/seal/back", seal.back, Act.SETTLE, fresh=True, again=seal.ask_back),
    Line("GET", "/settings/seal/new", seal.ask_new, Act.SETTLE),
    Line("POST", "/settings/seal/new", seal.new, Act.SETTLE, fresh=True, again=seal.ask_new),
)


def routes(runtime: Runtime, pages: Pages, uploads: Uploads) -> list[Route]:
    windows = Windows(runtime.clock, {"verify": runtime.config.limits.verifies_per_minute})
    places = frozenset(line.path for line in TABLE if line.method == "GET")
    door = Door(runtime, pages, Tries(runtime.clock), uploads, windows, places)
    return [door.open(line) for line in TABLE]
