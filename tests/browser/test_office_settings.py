"""The settings in a real browser: what is made there works for programs, and what is ended there ends."""

import base64
import hashlib
import hmac
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from playwright.sync_api import Page, expect

from esign.core.people.account import COLOUR
from esign.core.people.api_key import make_hint
from esign.core.people.brand_colours import choose_ink, choose_rule, choose_tones
from esign.jobs import deliver_webhooks
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.office_walks import send_seal
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean
from tests.journeys.api import until
from tests.pki import a_seal, an_authority

Shot = Callable[[Page, str], None]
REFUSED = "responded with a status of 4"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        yield stage


def whole(page: Page, shot: Shot, name: str) -> None:
    """Pictured, nothing cut off to the side, and axe-core finds nothing."""
    shot(page, name)
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], f"{name} is wider than the screen"
    clean(page)


def call(stage: BrowserStage, token: str, path: str = "/account") -> tuple[int, Any]:
    """What a program gets with this token."""
    asked = urllib.request.Request(
        f"{stage.site.base}/api/v1{path}", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_token_made_in_the_browser_works_for_a_program_until_it_is_revoked(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    base = stage.site.base
    page = visit.at(f"{base}/settings/tokens", storage_state=signed_in(stage), excused=REFUSED, **how)
    whole(page, shot, "settings-tokens")
    page.get_by_role("link", name="New API key").click()
    page.get_by_label("Name", exact=True).fill("Practice portal")
    expect(page.get_by_label("View webhooks and deliveries")).to_be_hidden()
    expect(page.get_by_label("Last day")).to_be_hidden()
    page.get_by_label("Custom").check()
    page.get_by_label("Expires").select_option("date")
    expect(page.get_by_label("Last day")).to_be_visible()
    page.get_by_role("button", name="Create API key").click()
    expect(page.get_by_text("Choose at least one permission.")).to_be_visible()
    whole(page, shot, "settings-token-wrong")
    page.get_by_label("View settings and usage").check()
    page.get_by_label("Expires").select_option("90")
    whole(page, shot, "settings-token-new")
    page.get_by_role("button", name="Create API key").click()
    token = page.locator("#token").text_content() or ""
    whole(page, shot, "settings-token-made")
    assert page.url == f"{base}/settings/tokens", "reading the page again must not make a second one"
    status, account = call(stage, token)
    assert (status, account["key"]["name"], account["key"]["scopes"]) == (
        200,
        "Practice portal",
        ["account:read"],
    )
    assert call(stage, token, "/documents")[0] == 401
    stage.do(until(partial(find_last_use, stage, token), "the use of the token"))
    page.reload()
    expect(page.get_by_role("heading", name="API keys")).to_be_visible()
    expect(page.get_by_text(token)).to_have_count(0)
    expect(page.get_by_role("row", name="Practice portal")).to_contain_text("from 127.0.0.1")
    page.get_by_label("Actions for Practice portal").click()
    whole(page, shot, "settings-tokens-menu")
    page.get_by_role("link", name="Revoke").click()
    whole(page, shot, "settings-token-revoke")
    page.get_by_role("button", name="Revoke API key").click()
    expect(page.get_by_role("status")).to_contain_text("API key revoked.")
    status, refused = call(stage, token)
    assert (status, refused["error"]["code"]) == (401, "api_key_revoked")
    whole(page, shot, "settings-tokens-revoked")


async def find_last_use(stage: BrowserStage, token: str) -> str | None:
    """When the token was used, once the list can say so: it is written after the answer."""
    found = (await stage.site.api.ok("GET", "/api-keys"))["data"]
    return next((one["lastUsedAt"] for one in found if one["hint"] == make_hint(token)), None)


class ListeningProgram(ThreadingHTTPServer):
    """Another program that is told: `status` is what it answers, `came` what it was sent."""

    def __init__(self) -> None:
        self.status = 204
        self.came: list[tuple[dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hooks/esign"

    def genuine(self, secret: str) -> list[bool]:
        """Which of what came is signed with the secret, as Standard Webhooks says."""
        return [is_signed(headers, body, secret) for headers, body in self.came]

    def events(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.came]


class Answering(BaseHTTPRequestHandler):
    server: ListeningProgram

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.came.append(({name.lower(): text for name, text in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """What came is kept, not printed."""


def is_signed(headers: dict[str, str], body: bytes, secret: str) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return mac in headers["webhook-signature"].split()


@contextmanager
def listening() -> Iterator[ListeningProgram]:
    program = ListeningProgram()
    thread = threading.Thread(target=program.serve_forever)
    thread.start()
    try:
        yield program
    finally:
        program.shutdown()
        thread.join()
        program.server_close()


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_a_webhook_made_in_the_browser_is_told_fails_and_is_delivered_again(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    with listening() as program:
        base = stage.site.base
        page = visit.at(f"{base}/settings/webhooks", storage_state=signed_in(stage), excused=REFUSED, **how)
        whole(page, shot, "settings-webhooks-empty")
        page.get_by_role("link", name="New webhook").click()
        page.get_by_label("Endpoint URL", exact=True).fill("https://192.168.0.1/hook")
        page.get_by_label("Selected events").check()
        page.get_by_role("button", name="Create webhook").click()
        expect(page.get_by_text("Choose at least one event.")).to_be_visible()
        whole(page, shot, "settings-webhook-new")
        page.get_by_role("group", name="Documents").get_by_label("Document created").check()
        page.get_by_role("button", name="Create webhook").click()
        expect(page.get_by_text("cannot receive webhooks")).to_be_visible()
        page.get_by_label("Endpoint URL", exact=True).fill(program.url)
        page.get_by_label("Description").fill("Practice portal")
        page.get_by_role("button", name="Create webhook").click()
        secret = page.locator("#secret").text_content() or ""
        whole(page, shot, "settings-webhook-made")
        page.get_by_role("button", name="Send test event").click()
        expect(page.get_by_text("204 · Accepted")).to_be_visible()
        assert program.events() == ["webhook.test"] and program.genuine(secret) == [True]
        whole(page, shot, "settings-delivery")
        program.status = 503
        stage.do(stage.site.api.create())
        stage.do(deliver_webhooks.drain(stage.site.runtime))
        page.get_by_role("link", name=program.url).click()
        expect(page.get_by_text("The endpoint has accepted nothing since")).to_be_visible()
        whole(page, shot, "settings-webhook-failing")
        page.get_by_role("link", name="503 document.created").click()
        expect(page.get_by_text("503 · Not accepted")).to_be_visible()
        program.status = 200
        page.get_by_role("button", name="Deliver again").click()
        expect(page.get_by_text("200 · Accepted")).to_be_visible()
        assert program.events() == ["webhook.test", "document.created", "document.created"]
        assert program.genuine(secret) == [True, True, True]
        whole(page, shot, "settings-delivery-again")
        page.get_by_role("link", name=program.url).click()
        expect(page.get_by_text("Working")).to_be_visible()
        page.get_by_label("More actions").click()
        whole(page, shot, "settings-webhook-menu")
        page.get_by_role("link", name="New secret").click()
        whole(page, shot, "settings-webhook-secret")
        page.get_by_role("button", name="Create new secret").click()
        second = page.locator("#secret").text_content() or ""
        page.get_by_role("button", name="Send test event").click()
        expect(page.get_by_text("200 · Accepted")).to_be_visible()
        assert (program.genuine(secret)[-1], program.genuine(second)[-1]) == (True, True)
        page.goto(f"{base}/settings/webhooks")
        whole(page, shot, "settings-webhooks")


@pytest.mark.parametrize("how", ON_A_DESK)
def test_a_mail_is_read_as_its_recipient_sees_it(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    base = stage.site.base
    page = visit.at(f"{base}/settings/outbox", storage_state=signed_in(stage), **how)
    whole(page, shot, "settings-outbox-empty")
    stage.do(stage.site.api.send_document(title="Lease of the workshop"))
    page.reload()
    expect(page.get_by_text("It will be kept here.")).to_be_visible()
    stage.work("mail")
    page.get_by_role("link", name="Waiting or refused").click()
    expect(page.get_by_role("heading", name="Nothing is waiting")).to_be_visible()
    page.get_by_role("link", name="All", exact=True).click()
    whole(page, shot, "settings-outbox")
    page.get_by_role("link", name="Lease of the workshop").click()
    letter = page.frame_locator("iframe.letter")
    expect(letter.get_by_role("link", name="Review and sign")).to_have_attribute(
        "href", stage.link("ada@example.test")
    )
    whole(page, shot, "settings-mail")


def test_a_colour_is_tried_as_it_will_be_used(visit: Visits, stage: BrowserStage) -> None:
    page = visit.at(f"{stage.site.base}/settings/organisation", storage_state=signed_in(stage))
    tried = page.locator(".brand-tries")
    for colour in ("#ffee00", "#0f6b78", "#777777", "#000000", "#ffffff", COLOUR, "#d4145a"):
        page.get_by_label("Colour", exact=True).fill(colour)
        expect(page.locator("#colour-name")).to_have_text(colour)
        tones = choose_tones(colour)
        wanted = {
            "--try-light": tones.light.ground,
            "--try-dark": tones.dark.ground,
            "--try-ink": choose_ink(colour),
            "--try-rule": choose_rule(colour),
        }
        found = tried.evaluate(
            "(one, names) => names.map((name) => one.style.getPropertyValue(name))", list(wanted)
        )
        assert found == list(wanted.values()), colour
        adapted = colour not in (tones.light.ground, COLOUR)
        expect(page.locator("#colour-adapted")).to_be_visible(visible=adapted)


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_settings_are_saved_and_documents_deleted_only_after_a_question(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    base = stage.site.base
    page = visit.at(f"{base}/settings/organisation", storage_state=signed_in(stage), excused=REFUSED, **how)
    page.get_by_label("Colour", exact=True).fill("#ffee00")
    expect(page.locator("#colour-name")).to_have_text("#ffee00")
    expect(page.locator(".try-mark").first).to_have_css("color", "rgb(27, 35, 48)")
    expect(page.get_by_text("This colour is too light to read on white.")).to_be_visible()
    page.get_by_role("button", name="Save colour").click()
    expect(page.get_by_role("status")).to_have_text("Settings saved.")
    whole(page, shot, "settings-organisation")
    page.goto(f"{base}/settings/defaults")
    page.get_by_label("Don’t send reminders").check()
    expect(page.get_by_label("First after")).to_be_hidden()
    page.get_by_label("Time to sign").fill("14")
    page.get_by_role("button", name="Save defaults").click()
    expect(page.get_by_role("status")).to_have_text("Settings saved.")
    page.get_by_label("Delete documents automatically after").fill("60")
    page.get_by_role("button", name="Save retention").click()
    expect(page.get_by_role("heading", name="Delete older documents?")).to_be_visible()
    whole(page, shot, "settings-defaults-sure")
    page.get_by_role("button", name="Delete documents after 60 days").click()
    expect(page.get_by_label("Delete documents automatically after")).to_have_value("60")
    whole(page, shot, "settings-defaults")
    found = stage.do(stage.site.api.ok("GET", "/settings"))
    assert (found["brandColour"], found["defaultExpiresInDays"]) == ("#ffee00", 14)
    assert (found["deleteClosedAfterDays"], found["defaultReminders"]["enabled"]) == (60, False)


def test_a_certificate_is_refused_with_every_reason_and_another_is_used(
    visit: Visits, stage: BrowserStage, shot: Shot
) -> None:
    base = stage.site.base
    page = visit.at(f"{base}/settings/seal", storage_state=signed_in(stage), excused=REFUSED)
    page.get_by_role("link", name="Upload your own certificate").click()
    servers = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    send_seal(page, a_seal(an_authority(), "rsa1024", extensions=(servers,)))
    expect(page.get_by_role("alert")).to_contain_text("There are 2 problems, so nothing was changed.")
    expect(page.get_by_role("alert").get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_label("Passphrase", exact=True)).to_have_value("")
    whole(page, shot, "settings-seal-wrong")
    send_seal(page, a_seal(an_authority()))
    expect(page.get_by_role("status")).to_contain_text("now sealed with the uploaded certificate")
    page.get_by_role("button", name="Seal a test page").click()
    expect(page.get_by_text("The test page was sealed and verified.")).to_be_visible()
    whole(page, shot, "settings-seal-uploaded")
