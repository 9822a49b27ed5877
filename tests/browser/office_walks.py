"""Ways through the office, as an owner goes them: each stops where there is something to look at, and names it.

To have a page pictured (`python -m tests.screenshots FOLDER office-…`) and looked at by axe-core (test_office_axe), add
one line to OFFICE: `"office-members": at("/members")` for a page as it is, or a function of your own that takes the
page and the office and yields the name of each stop. What the office holds stands in `furnished`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from playwright.sync_api import FilePayload, Page, expect

from esign.core.document.document import Document
from esign.demo import contract
from esign.jobs import erase
from tests.browser.furnished import furnish, signed_in
from tests.browser.stage import BrowserStage
from tests.logos import a_logo
from tests.pki import Issued, a_seal, an_authority
from tests.ports import reserve_port

Stops = Iterator[str]


@dataclass(frozen=True)
class WalkedOffice:
    """`documents` by their titles; `state` is the browser of the owner, who is signed in."""

    stage: BrowserStage
    documents: dict[str, Document]
    state: dict[str, Any]

    def go(self, page: Page, path: str) -> None:
        page.goto(f"{self.stage.site.base}{path}")


Walk = Callable[[Page, WalkedOffice], Stops]


def an_office_of(stage: BrowserStage) -> WalkedOffice:
    return WalkedOffice(stage, {one.title: one for one in furnish(stage)}, signed_in(stage))


def at(path: str) -> Walk:
    """A page that is looked at as it is."""

    def stops(page: Page, office: WalkedOffice) -> Stops:
        office.go(page, path)
        yield "page"

    return stops


def of_draft(step: str) -> Walk:
    """A page of the draft that nobody has finished yet."""

    def stops(page: Page, office: WalkedOffice) -> Stops:
        office.go(page, f"/documents/{office.documents['Fee proposal, Millbrook School'].id}/{step}")
        yield "page"

    return stops


def editor(page: Page, office: WalkedOffice) -> Stops:
    """A draft of its own, with the people and fields of the sample."""
    api = office.stage.site.api
    draft = office.stage.do(api.ok("POST", "/documents", contract.build_create_body()))["id"]
    office.go(page, f"/documents/{draft}/fields")
    page.locator("body[data-ready]").wait_for(state="attached")
    yield "page"
    page.locator(".fld").filter(has_text="Signature").first.click()
    yield "one"
    office.stage.do(api.call("DELETE", f"/documents/{draft}"))


def review(page: Page, office: WalkedOffice) -> Stops:
    """A draft of its own that lacks nothing, and what one of its recipients will see."""
    api = office.stage.site.api
    draft = office.stage.do(api.ok("POST", "/documents", contract.build_create_body()))["id"]
    office.go(page, f"/documents/{draft}/review")
    yield "page"
    page.locator("#h-pages").scroll_into_view_if_needed()
    yield "pages"
    page.locator("#h-email").scroll_into_view_if_needed()
    page.get_by_label("Recipient", exact=True).select_option(index=1)
    yield "email"
    page.get_by_role("link", name=f"View as {contract.CAFE[0]}").click()
    page.locator("body[data-alive]").wait_for(state="attached")
    yield "preview"
    page.get_by_role("button", name="Start").click()
    yield "filling"
    office.stage.do(api.call("DELETE", f"/documents/{draft}"))


def commands(page: Page, office: WalkedOffice) -> Stops:
    """The command palette, and the keys of a page."""
    office.go(page, "/documents")
    page.keyboard.press("Control+k")
    page.locator(".cmd-option").first.wait_for()
    yield "usual"
    page.keyboard.type("agreement")
    page.locator(".cmd-option").filter(has_text="Lindqvist").wait_for()
    page.locator(".cmd-group").filter(has_text="Recent").wait_for(state="detached")
    yield "found"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    yield "keys"


def documents(page: Page, office: WalkedOffice) -> Stops:
    office.go(page, "/documents")
    yield "list"
    page.get_by_label("More actions for Office lease renewal").click()
    yield "menu"
    page.keyboard.press("Escape")
    page.get_by_text("Filter", exact=True).click()
    yield "filter"
    page.keyboard.press("Escape")
    for title in ("Appointment of architect", "Fee proposal", "Employment contract"):
        page.get_by_label(f"Select {title}").check()
    yield "ticked"
    page.get_by_role("button", name="Remind 1").click()
    yield "remind"
    office.go(page, "/documents?view=attention")
    yield "attention"
    office.go(page, "/documents?q=harbour+crane&createdFrom=2026-01-01&completedTo=2026-12-31")
    yield "none"
    office.go(page, "/documents?recipientEmail=nobody")
    yield "wrong"


def templates(page: Page, office: WalkedOffice) -> Stops:
    """One with every kind of role and something to fill in beforehand, and one that is only a file."""
    body = contract.build_create_body()
    signature = {"type": "signature", "page": 1, "x": 10, "y": 80}
    plot = {"type": "text", "page": 1, "x": 10, "y": 10, "key": "plot", "label": "Plot"}
    roles = [
        {"key": "client", "name": "Client", "fields": [signature, plot]},
        {"key": "manager", "name": "Project manager", "role": "approver", "order": 2},
        {"key": "archive", "name": "Archive", "role": "cc"},
    ]
    made = {}
    for title, own in (("Appointment of architect", roles), ("Site visit", [])):
        wanted = {"fileName": "a.pdf", "file": body["file"], "title": title, "roles": own}
        answer = office.stage.do(office.stage.site.api.ok("POST", "/templates", wanted))
        made[title] = f"/templates/{answer['id']}"
    office.go(page, "/templates")
    yield "list"
    page.get_by_label("More actions for Appointment of architect").first.click()
    yield "menu"
    office.go(page, "/templates?q=harbour+crane")
    yield "none"
    for title, pages in (
        ("Appointment of architect", ("", "/edit", "/use", "/delete")),
        ("Site visit", ("", "/edit", "/use")),
    ):
        for one in pages:
            office.go(page, made[title] + one)
            for details in page.locator("main details.extra > summary").all():
                details.click()
            yield f"{title.split()[0].lower()}{one.replace('/', '-')}"
    office.go(page, f"{made['Appointment of architect']}/fields")
    page.locator("body[data-ready]").wait_for(state="attached")
    yield "fields"


def several(page: Page, office: WalkedOffice) -> Stops:
    """The questions before something is done to everything there is."""
    ids = "&".join(f"id={one.id}" for one in office.documents.values())
    for deed in ("remind", "cancel", "delete", "download"):
        office.go(page, f"/selection/{deed}?{ids}")
        yield deed
    office.go(page, f"/selection/cancel?id={office.documents['Fee proposal, Millbrook School'].id}")
    yield "nothing"


def a_document(title: str, *questions: str) -> Walk:
    """The page of the furnished document of this title, and what it asks before an act."""

    def stops(page: Page, office: WalkedOffice) -> Stops:
        here = f"/documents/{office.documents[title].id}"
        office.go(page, here)
        yield "page"
        if questions:
            page.get_by_label("More actions").click()
            yield "menu"
        for question in questions:
            office.go(page, f"{here}/{question}")
            yield question

    return stops


def verify(page: Page, office: WalkedOffice) -> Stops:
    """What becomes of each kind of file is looked at in test_verify."""
    office.go(page, "/verify")
    yield "page"
    file = {"name": "minutes.pdf", "mimeType": "application/pdf", "buffer": contract.read_pdf()}
    page.locator("#file").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("heading", name="Not sealed").wait_for()
    yield "result"


def logo(page: Page, office: WalkedOffice) -> Stops:
    """Chosen, shown to whoever is asked to sign, and removed."""
    office.go(page, "/settings/organisation/logo")
    yield "none"
    file = {"name": "logo.png", "mimeType": "image/png", "buffer": a_logo()}
    page.get_by_label("Logo", exact=True).set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Preview logo").click()
    page.get_by_role("heading", name="Save this logo?").wait_for()
    yield "preview"
    page.get_by_role("button", name="Save logo").click()
    page.get_by_text("Logo saved.").wait_for()
    page.locator("#h-brand").scroll_into_view_if_needed()
    yield "organisation"
    api = office.stage.site.api
    asked = office.stage.do(api.send_document())
    office.stage.work("mail")
    page.goto(office.stage.do(office.stage.site.person("ada@example.test")).link)
    shown = page.locator("header img.logo")
    expect(shown).to_have_attribute("alt", "Alder & Finch")
    assert shown.evaluate("image => image.complete && image.naturalWidth > 100")
    yield "signing"
    for way, path in (("POST", f"/documents/{asked}/cancel"), ("DELETE", f"/documents/{asked}")):
        office.stage.do(api.ok(way, path))
    office.go(page, "/settings/organisation/logo")
    yield "another"
    office.go(page, "/settings/organisation/logo/remove")
    yield "remove"
    page.get_by_role("button", name="Remove logo").click()
    page.get_by_text("Logo removed.").wait_for()


def send_seal(page: Page, issued: Issued) -> None:
    file: FilePayload = {
        "name": "own.p12",
        "mimeType": "application/x-pkcs12",
        "buffer": issued.pkcs12("word"),
    }
    page.get_by_label("Key and certificate").set_input_files(file)
    page.get_by_label("Passphrase", exact=True).fill("word")
    page.get_by_role("button", name="Check and use certificate").click()


def seal(page: Page, office: WalkedOffice) -> Stops:
    """Another certificate is used, and given up again."""
    office.go(page, "/settings/seal")
    yield "page"
    office.go(page, "/settings/seal/new")
    yield "new"
    office.go(page, "/settings/seal/upload")
    yield "upload"
    issued = replace(a_seal(an_authority("Northern Trust Issuing CA 3")), issuers=())
    send_seal(page, issued)
    page.get_by_text("now sealed with the uploaded certificate").wait_for()
    yield "uploaded"
    office.go(page, "/settings/seal/back")
    yield "back"
    page.get_by_role("button", name="Return and delete key").click()
    page.get_by_text("sealed with this server’s certificate again").wait_for()


def erasure(page: Page, office: WalkedOffice) -> Stops:
    """Looked at, begun, and done while the page is open."""
    api, stage = office.stage.site.api, office.stage
    people = [{"name": one, "email": f"{one.lower()}@wharf.example"} for one in ("Orla", "Finn")]
    asked = [stage.do(api.send_document(recipients=people[:n])) for n in (1, 2, 1)]
    for one in asked[:2]:
        stage.do(api.ok("POST", f"/documents/{one}/cancel"))
    office.go(page, "/settings/erasure")
    yield "ask"
    page.get_by_label("Email address").fill(people[0]["email"])
    page.get_by_role("button", name="Preview erasure").click()
    page.get_by_role("heading", name="Erase this person’s data?").wait_for()
    yield "sure"
    page.get_by_label("Erase them too").check()
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("0 documents erased so far")).to_be_visible()
    page.get_by_label("Email address").fill("half typed")
    yield "going"
    assert stage.do(erase.tick(stage.site.runtime)) == 2
    expect(page.get_by_text("In progress")).to_have_count(0)
    expect(page.get_by_text("2 documents erased").first).to_be_visible()
    expect(page.get_by_text("1 document kept · 1 still open").first).to_be_visible()
    expect(page.get_by_label("Email address")).to_have_value("half typed")  # the page was not loaded again
    yield "done"
    stage.do(api.ok("POST", f"/documents/{asked[2]}/cancel"))
    stage.do(api.ok("DELETE", f"/documents/{asked[2]}"))
    page.get_by_label("Email address").fill("nobody@wharf.example")
    page.get_by_role("button", name="Preview erasure").click()
    yield "nobody"


def server_address(page: Page, office: WalkedOffice) -> Stops:
    """Typed wrong, changed to where nothing answers, and put right from where it was typed."""
    office.go(page, "/server/address")
    yield "page"
    page.get_by_label("Server address", exact=True).fill("http://sign.example.com")
    page.get_by_role("button", name="Save address").click()
    page.get_by_text("Use https://.").wait_for()
    yield "wrong"
    page.get_by_label("Server address", exact=True).fill("sign.example.com")
    page.get_by_role("button", name="Save address").click()
    page.get_by_role("heading", name="Address saved").wait_for()
    yield "moved"
    page.get_by_role("link", name=office.stage.site.base).click()
    page.get_by_text("You opened this page at").wait_for()
    yield "elsewhere"
    page.get_by_label("Server address", exact=True).fill(office.stage.site.base)
    page.get_by_role("button", name="Save address").click()
    page.get_by_role("heading", name="Address saved").wait_for()


def mail_server(page: Page, office: WalkedOffice) -> Stops:
    """Typed wrong, tried in vain, saved, and removed again."""
    office.go(page, "/server/mail")
    yield "none"
    page.get_by_label("Mail server", exact=True).fill("smtp.example.com:587")
    page.get_by_role("button", name="Save mail server").click()
    page.get_by_text("Enter the name of a server").wait_for()
    yield "wrong"
    page.get_by_label("Mail server", exact=True).fill("127.0.0.1")
    page.get_by_label("Port").fill(str(reserve_port()))
    page.get_by_label("Encryption").select_option("None")
    page.get_by_label("User name").fill("esign")
    page.get_by_label("Password", exact=True).fill("copper kettle")
    page.get_by_label("Sender").fill("sign@example.com")
    page.get_by_role("button", name="Send me a test email").click()
    page.get_by_text("takes no connections on port").wait_for()
    yield "tried"
    page.get_by_role("button", name="Save mail server").click()
    page.get_by_text("Mail server saved.").wait_for()
    yield "saved"
    page.get_by_role("link", name="Remove mail server").click()
    yield "remove"
    page.get_by_role("button", name="Remove mail server").click()
    page.get_by_text("Mail server removed.").wait_for()


def signed_out(page: Page, office: WalkedOffice) -> Stops:
    """The pages before one has signed in."""
    page.context.clear_cookies()
    for name, path in (("start", "/"), ("sign-in", "/sign-in"), ("forgot", "/forgot")):
        office.go(page, path)
        yield name


def manual(page: Page, office: WalkedOffice) -> Stops:
    """The documentation, as somebody reads it who looks for an answer."""
    office.go(page, "/docs")
    yield "contents"
    page.get_by_role("searchbox").fill("acrobat")
    page.keyboard.press("Enter")
    page.locator(".manual-results mark").first.wait_for()
    yield "results"
    page.get_by_role("main").get_by_role("link", name="Green in Acrobat").click()
    page.locator("#green-in-acrobat").wait_for()
    yield "page"
    office.go(page, "/docs/fields")
    page.locator("img").first.scroll_into_view_if_needed()
    yield "fields"


OFFICE: dict[str, Walk] = {
    "office-manual": manual,
    "office-signed-out": signed_out,
    "office-new": at("/documents/new"),
    **{f"office-draft-{step}": of_draft(step) for step in ("edit", "review", "discard")},
    "office-review": review,
    "office-commands": commands,
    "office-documents": documents,
    "office-several": several,
    "office-templates": templates,
    "office-contacts": at("/contacts"),
    "office-contact-new": at("/contacts/new"),
    "office-template-new": at("/templates/new"),
    "office-members": at("/members"),
    "office-account": at("/account"),
    "office-editor": editor,
    "office-document-draft": a_document("Fee proposal, Millbrook School", "recipients/add", "delete"),
    "office-document-sent": a_document(
        *("Appointment of architect, 14 Quay Street", "remind", "cancel", "expiry", "reminders", "reference"),
        *("template", "audit", "pages"),
    ),
    "office-document-refused": a_document("Consultancy agreement, Lindqvist Survey"),
    "office-document-sealing": a_document("Consultancy agreement, Becker Structural"),
    "office-document-seal-failed": a_document("Office lease renewal 2027"),
    "office-document-completed": a_document("Employment contract, Priya Raman"),
    "office-document-declined": a_document("Supplier framework, Osgood Stone"),
    "office-document-expired": a_document("Equipment hire, laser scanner"),
    "office-document-cancelled": a_document("Board resolution 2026-11"),
    "office-tokens": at("/settings/tokens"),
    "office-token-new": at("/settings/tokens/new"),
    "office-organisation": at("/settings/organisation"),
    "office-logo": logo,
    "office-erasure": erasure,
    "office-defaults": at("/settings/defaults"),
    "office-outbox": at("/settings/outbox"),
    "office-usage": at("/settings/usage"),
    "office-events": at("/settings/events"),
    "office-audit-log": at("/settings/audit"),
    "office-plan": at("/settings/plan"),
    "office-seal": seal,
    "office-server-address": server_address,
    "office-server-mail": mail_server,
    "office-server-seal": at("/server/seal"),
    "office-server-clock": at("/server/clock"),
    "office-server-status": at("/server/status"),
    "office-server-backup": at("/server/backup"),
    "office-verify": verify,
    "office-webhooks": at("/settings/webhooks"),
    "office-webhook-new": at("/settings/webhooks/new"),
}
