"""A new document in a real browser: upload, people, review; lost connections, two people, keys, pointer, no script."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from esign.core.people.member import MemberRole
from esign.demo import contract
from tests.browser.conftest import Visits, late
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK, ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean

ADA, BO, CY = (
    ("Ada Lovelace", "ada@example.test"),
    ("Bo Weber", "bo@example.test"),
    ("Cy Li", "cy@example.test"),
)
REFUSED = "Failed to load resource"  # the browser's own line about an answer that is not 2xx, or is none
LOST = "Not saved yet. You’re offline"
DESK: dict[str, Any] = {"width": 1280, "height": 900}
HOSTILE = '"><img src=x onerror=alert(1)>\u202e' + "W" * 70
Shot = Callable[[Page, str], None]


def pdf(name: str = "lease.pdf", content: bytes | None = None) -> Any:
    return {
        "name": name,
        "mimeType": "application/pdf",
        "buffer": contract.read_pdf() if content is None else content,
    }


class House:
    """An office with two people who are signed in: what their browsers hold."""

    def __init__(self, stage: BrowserStage) -> None:
        self.stage = stage
        self.maren = signed_in(stage)
        self.idris = signed_in(stage, "Idris Okafor", MemberRole.MEMBER)


class DraftDesk:
    """Every browser that opens is that of the owner, Maren, unless told otherwise."""

    def __init__(self, house: House, visit: Visits) -> None:
        self.stage, self.house, self.visit = house.stage, house, visit
        self._before = {one["id"] for one in self._list_documents()}

    def open(self, path: str, **how: Any) -> Page:
        address = f"{self.stage.site.base}{path}"
        return self.visit.at(
            address, **{"storage_state": self.house.maren, "excused": REFUSED, **DESK, **how}
        )

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.stage.do(self.stage.site.api.ok(method, path, body))

    def draft(self, *people: tuple[str, str], **more: Any) -> str:
        """The path of a new draft."""
        recipients = [{"name": name, "email": email} for name, email in people]
        body = (
            contract.build_create_body()
            | {"title": "Lease", "recipients": recipients, "externalId": None}
            | more
        )
        return f"/documents/{self.ask('POST', '/documents', body)['id']}"

    def read_stored(self, path: str) -> Any:
        return self.ask("GET", path)

    def names(self, path: str) -> list[tuple[str, int]]:
        return [(one["name"], one["order"]) for one in self.read_stored(path)["recipients"]]

    def all(self) -> list[Any]:
        """The documents of this test, newest first."""
        return [one for one in self._list_documents() if one["id"] not in self._before]

    def _list_documents(self) -> list[Any]:
        found: list[Any] = self.ask("GET", "/documents?limit=100")["data"]
        return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with a_stage(tmp_path_factory.mktemp("office"), {"name": "Alder & Finch"}) as stage:
        yield House(stage)


@pytest.fixture
def desk(house: House, visit: Visits) -> DraftDesk:
    return DraftDesk(house, visit)


def row(page: Page, n: int) -> Locator:
    return page.locator("#rows > li").nth(n)


def cell(page: Page, n: int, name: str) -> Locator:
    return row(page, n).locator(f"[name^={name}-]")


def wait_until_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("Saved")


def in_order(page: Page, *names: str) -> None:
    shown = page.locator("#rows [name^=name-]")
    expect(shown).to_have_count(len(names))
    for n, name in enumerate(names):
        expect(shown.nth(n)).to_have_value(name)


def list_shown(page: Page) -> list[str]:
    return [one.input_value() for one in page.locator("#rows [name^=name-]").all()]


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_from_a_file_to_a_document_that_is_sent(desk: DraftDesk, shot: Shot, how: dict[str, Any]) -> None:
    page = desk.open("/documents/new", **how)
    shot(page, "new")
    clean(page)
    page.locator("#files").set_input_files(pdf("Lease 2027.pdf"))
    page.wait_for_url("**/edit")
    expect(page.get_by_role("heading", level=1)).to_have_text("Lease 2027")
    shot(page, "edit-empty")
    clean(page)
    page.get_by_role("button", name="Add me").click()
    page.get_by_role("button", name="Add recipient").click()
    page.keyboard.type(ADA[0])
    cell(page, 1, "email").fill("ada@")
    page.locator("#message").fill("Dear all, here it is.")
    expect(page.get_by_text("An email address such as")).to_be_visible()
    expect(page.locator("#saved")).to_have_text("Saved, except what is marked")
    row(page, 1).get_by_text("More options").click()
    cell(page, 1, "authentication").select_option("access_code")
    shot(page, "edit-wrong")
    page.evaluate("scrollTo(0, 0)")  # a control half under the bar of the phone counts as too small
    clean(page)
    cell(page, 1, "email").fill(ADA[1])
    page.get_by_role("button", name="Review without fields").click()
    expect(cell(page, 1, "code")).to_be_focused()
    expect(page.get_by_text("Enter a code that you share")).to_be_visible()
    cell(page, 1, "code").fill("Blue heron")
    page.get_by_role("button", name="One after another").click()
    page.get_by_role("button", name="Review without fields").click()
    page.wait_for_url("**/review")
    expect(page.get_by_text("Invited in this order:")).to_be_visible()
    page.locator("#letter").scroll_into_view_if_needed()
    expect(page.frame_locator("#letter").get_by_text("Dear all, here it is.")).to_be_visible()
    shot(page, "review")
    clean(page)
    page.get_by_role("button", name="Send without email").click()
    page.wait_for_url("**/documents/doc_*")
    [document] = desk.all()
    assert document["status"] == "sent"
    assert [(one["name"], one["order"], one["authentication"]) for one in document["recipients"]] == [
        ("Maren Holt", 1, "link"),
        (ADA[0], 2, "access_code"),
    ]


# ---------- the upload ----------


def test_several_files_become_drafts_and_one_that_is_refused_says_why(
    desk: DraftDesk, shot: Shot, tmp_path: Path
) -> None:
    page = desk.open("/documents/new")
    page.locator("#files").set_input_files([pdf("one.pdf"), pdf("notes.pdf", b"hello"), pdf("two.pdf")])
    huge = tmp_path / "huge.pdf"
    huge.write_bytes(bytes(26 * 2**20))
    page.locator("#files").set_input_files(huge)
    expect(page.locator("#all")).to_have_text(
        "2 drafts created. Continue with one now. The others are in your documents."
    )
    expect(page.get_by_text("The file is not a PDF; save it as one and send that.")).to_be_visible()
    expect(page.get_by_text("It has 26 MB. Files can have up to 25 MB.")).to_be_visible()
    shot(page, "new-several")
    clean(page)
    assert {one["title"] for one in desk.all()} == {"one", "two"}
    page.get_by_role("button", name="Remove notes.pdf").click()
    expect(page.get_by_text("notes.pdf")).to_have_count(0)
    page.get_by_role("link", name="Continue with two.pdf").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("two")


def test_a_file_that_is_chosen_before_the_script_came_is_taken(desk: DraftDesk) -> None:
    page = desk.open("/documents/new")
    with late(page, "new.js"):
        page.locator("#files").set_input_files(pdf())
    page.wait_for_url("**/edit")
    assert len(desk.all()) == 1


def test_an_upload_goes_on_after_a_lost_connection(desk: DraftDesk, shot: Shot) -> None:
    page = desk.open("/documents/new")
    page.context.set_offline(True)
    page.locator("#files").set_input_files(pdf())
    expect(page.get_by_text("The connection was lost.")).to_be_visible()
    shot(page, "new-lost")
    clean(page)
    page.context.set_offline(False)
    page.wait_for_url("**/edit")
    assert len(desk.all()) == 1


def test_an_answer_that_is_lost_makes_no_second_draft(desk: DraftDesk) -> None:
    page = desk.open("/documents/new")
    lost: list[str] = []

    def lose(route: Route) -> None:
        if route.request.method != "POST" or lost:
            return route.continue_()
        lost.append(route.fetch().text())
        return route.abort("connectionreset")

    page.route("**/documents/new", lose)
    page.locator("#files").set_input_files(pdf())
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/edit")
    assert page.url.endswith(json.loads(lost[0])["to"]) and len(desk.all()) == 1


def test_a_file_waits_until_somebody_has_signed_in_again(desk: DraftDesk) -> None:
    page = desk.open("/documents/new")
    kept = page.context.cookies()
    page.context.clear_cookies()
    page.locator("#files").set_input_files(pdf())
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    again = signed_in(desk.stage, "Bea Finch")["cookies"]
    assert kept and again[0]["value"] != kept[0]["value"]
    page.context.add_cookies(again)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/edit")
    assert desk.all()[0]["createdBy"]["name"] == "Bea Finch"


# ---------- saving ----------


def test_what_is_typed_without_a_connection_is_saved_later(desk: DraftDesk, shot: Shot) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    page.context.set_offline(True)
    page.locator("#title").fill("Typed in a tunnel")
    expect(page.locator("#saved")).to_have_text(LOST)
    shot(page, "edit-lost")
    clean(page)
    page.get_by_role("button", name="Review without fields").click()
    expect(page.locator("#saved")).to_have_text(LOST)
    page.context.set_offline(False)
    wait_until_saved(page)
    assert desk.read_stored(path)["title"] == "Typed in a tunnel"


def test_an_answer_that_breaks_off_is_asked_for_again(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    broken: list[str] = []

    def break_off(route: Route) -> None:
        if route.request.method != "POST" or broken:
            return route.continue_()
        broken.append(route.fetch().text())
        return route.fulfill(content_type="application/json", body=broken[0][:20])

    page.route("**/edit", break_off)
    page.locator("#title").fill("Typed on a train")
    expect(page.locator("#saved")).to_have_text(LOST)
    page.locator("#title").press_sequentially(", further on")
    wait_until_saved(page)
    assert broken and desk.read_stored(path)["title"] == "Typed on a train, further on"


def test_nothing_is_called_saved_while_more_was_typed(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    held: list[Route] = []
    page.route(
        "**/edit", lambda route: held.append(route) if route.request.method == "POST" else route.continue_()
    )
    with page.expect_request("**/edit"):
        page.locator("#title").fill("Typed before")
    page.locator("#title").press_sequentially(" and after")
    with page.expect_request("**/edit"):
        held[0].continue_()
    expect(page.locator("#saved")).to_have_text("Saving…")
    held[1].continue_()
    wait_until_saved(page)
    assert desk.read_stored(path)["title"] == "Typed before and after"


def test_what_was_typed_is_still_there_after_the_page_was_left(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    page.route(
        "**/edit", lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    page.locator("#message").fill("Not yet sent")
    page.get_by_role("button", name="Add recipient").click()
    page.keyboard.type("Half a pers")
    row(page, 1).get_by_text("More options").click()
    cell(page, 1, "authentication").select_option("access_code")
    cell(page, 1, "code").fill("Blue heron")
    expect(page.locator("#saved")).to_have_text(LOST)
    kept = page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])")
    assert "Half a pers" in kept and "heron" not in kept and "code-" not in kept
    page.unroute("**/edit")
    page.goto(f"{desk.stage.site.base}/account")
    desk.ask("PATCH", path, {"title": "Meanwhile", "recipients": [
        {"id": desk.read_stored(path)["recipients"][0]["id"]}, {"name": BO[0], "email": BO[1]}]})  # fmt: skip
    page.goto(f"{desk.stage.site.base}{path}/edit")
    expect(page.locator("#message")).to_have_value("Not yet sent")
    expect(page.locator("#title")).to_have_value("Meanwhile")
    expect(page.locator("#rows > li")).to_have_count(3)
    assert set(list_shown(page)) == {ADA[0], BO[0], "Half a pers"}
    expect(page.locator("#saved")).to_have_text(re.compile("^(Saved.*)?$"))
    draft = desk.read_stored(path)
    assert (draft["title"], draft["message"], len(draft["recipients"])) == ("Meanwhile", "Not yet sent", 2)


def test_somebody_new_whose_answer_was_lost_is_there_once(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    page.get_by_role("button", name="Add recipient").click()

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/edit", lose)
    page.keyboard.type(BO[0])
    page.keyboard.press("Tab")
    page.keyboard.type(BO[1])
    expect(page.locator("#saved")).to_have_text(LOST)
    page.goto(f"{desk.stage.site.base}/account")
    page.unroute("**/edit")
    page.goto(f"{desk.stage.site.base}{path}/edit")
    wait_until_saved(page)
    expect(page.locator("#rows > li")).to_have_count(2)
    assert [one["name"] for one in desk.read_stored(path)["recipients"]] == [ADA[0], BO[0]]


def test_who_is_signed_out_while_typing_loses_nothing(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    page.context.clear_cookies()
    page.locator("#title").fill("Typed too late")
    expect(page.get_by_text("You’re signed out")).to_be_visible()
    clean(page)
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Email").fill("maren@example.test")
    page.get_by_label("Password", exact=True).fill("copper kettle under nine maples")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/edit")
    expect(page.locator("#title")).to_have_value("Typed too late")
    wait_until_saved(page)
    assert desk.read_stored(path)["title"] == "Typed too late"


def test_two_people_at_one_draft_lose_nothing(desk: DraftDesk, shot: Shot) -> None:
    path = desk.draft(ADA)
    page, other = desk.open(f"{path}/edit"), desk.open(f"{path}/edit", storage_state=desk.house.idris)
    other.locator("#title").fill("By Idris")
    other.locator("#subject").fill("His subject")
    wait_until_saved(other)
    page.locator("#message").fill("Her message")
    wait_until_saved(page)
    expect(page.locator("#title")).to_have_value("By Idris")  # what only he changed is shown to her
    other.locator("#options > summary").click()
    other.locator("#days").fill("14")
    wait_until_saved(other)
    page.locator("#options > summary").click()
    page.locator("#days").fill("60")
    expect(page.get_by_text("Someone else edited this at the same time")).to_be_visible()
    page.locator("#locale").select_option("de")
    shot(page, "edit-conflict")
    clean(page)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose which version to keep")
    shot(page, "conflict")
    clean(page)
    page.go_back()
    expect(page.get_by_text("Your changes aren’t saved yet.")).to_be_visible()
    expect(page.locator("#days")).to_have_value("60")
    page.get_by_role("button", name="Compare").click()
    page.locator("[name=choose-days][value=mine]").check()
    page.get_by_role("button", name="Save choices").click()
    expect(page.get_by_role("status").filter(has_text="Draft saved.")).to_be_visible()
    page.wait_for_load_state()  # from then on what is typed is heard
    draft = desk.read_stored(path)
    assert (draft["title"], draft["subject"], draft["message"]) == ("By Idris", "His subject", "Her message")
    assert (draft["expiresInDays"], draft["locale"]) == (60, "de")
    page.locator("#title").fill("Once more")
    wait_until_saved(page)


def test_a_recipient_whom_a_colleague_adds_appears(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page, other = desk.open(f"{path}/edit"), desk.open(f"{path}/edit", storage_state=desk.house.idris)
    other.get_by_role("button", name="Add me").click()
    wait_until_saved(other)
    page.locator("#subject").fill("Please sign")
    expect(page.locator("#rows > li")).to_have_count(2)
    in_order(page, ADA[0], "Idris Okafor")
    expect(page.locator("#subject")).to_have_value("Please sign")


def test_a_draft_that_was_sent_by_a_colleague_says_so(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    desk.ask("POST", f"{path}/send")
    page.locator("#title").fill("Too late")
    expect(page.get_by_text("This draft can no longer be changed")).to_be_visible()
    expect(page.get_by_text("The document has already been sent.")).to_be_visible()
    expect(page.locator("#title")).to_have_value("Too late")


def test_a_draft_that_a_colleague_discarded_says_so(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    desk.ask("DELETE", path)
    page.locator("#title").fill("Too late")
    expect(page.get_by_text("This draft is no longer here")).to_be_visible()
    expect(page.get_by_text("It was discarded, or you switched")).to_be_visible()
    expect(page.locator("#title")).to_have_value("Too late")


# ---------- people ----------


def test_names_and_addresses_have_room_and_options_are_folded_with_their_values(desk: DraftDesk) -> None:
    path = desk.draft(ADA, BO)
    page = desk.open(f"{path}/edit")
    for name, least in (("name", 190), ("email", 240)):
        box = cell(page, 1, name).bounding_box()
        assert box and box["width"] > least
    for label in ("Step", "Name", "Email"):
        expect(row(page, 1).get_by_text(label, exact=True)).to_be_visible()
    folded = row(page, 1).locator(".extra")
    expect(folded.locator("summary")).to_contain_text("Link only · Document language")
    expect(cell(page, 1, "locale")).to_be_hidden()
    folded.locator("summary").click()
    cell(page, 1, "authentication").select_option("email_code")
    cell(page, 1, "locale").select_option("fr")
    expect(folded.locator("summary")).to_contain_text("Code by email · Français")
    options = page.locator("#options")
    expect(options.locator("summary")).to_contain_text("30 days to sign · Reminders on · Default language")
    expect(page.locator("#days")).to_be_hidden()
    options.locator("summary").click()
    page.locator("#days").fill("14")
    page.locator("#locale").select_option("de")
    expect(options.locator("summary")).to_contain_text("14 days to sign · Reminders on · Deutsch")
    page.locator("#days").fill("999")
    page.locator("#locale").focus()
    options.locator("summary").click()
    page.get_by_role("button", name="Review without fields").click()
    expect(page.locator("#days")).to_be_focused()  # what is wrong is unfolded
    page.locator("#days").fill("10")
    wait_until_saved(page)
    page.goto(f"{desk.stage.site.base}{path}/review")
    page.get_by_role("link", name="Edit deadline").click()
    expect(page.locator("#days")).to_be_visible()
    clean(page)


def test_earlier_recipients_are_suggested_while_one_types(desk: DraftDesk, shot: Shot) -> None:
    page = desk.open("/contacts/new")
    for name, email, company in (("Helena Brandt", "helena@brandt.test", "Brandt & Söhne"), (*CY, "")):
        page.goto(f"{desk.stage.site.base}/contacts/new")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Email").fill(email)
        page.get_by_label("Company").fill(company)
        page.get_by_role("button", name="Add person").click()
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    shot(page, "contacts")
    clean(page)
    page.get_by_role("link", name="Helena Brandt", exact=True).click()
    expect(page.get_by_role("button", name="Remove person")).to_be_visible()
    clean(page)

    path = desk.draft(ADA)
    page.goto(f"{desk.stage.site.base}{path}/edit")
    page.get_by_role("button", name="Add recipient").click()
    field = cell(page, 1, "name")
    page.keyboard.type("söhne")
    options = page.get_by_role("listbox", name="People from the address book").get_by_role("option")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("helena@brandt.test")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("status").filter(has_text="1 suggestion")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(options).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.get_attribute("id")
    shot(page, "suggested")
    clean(page)
    page.keyboard.press("Enter")
    expect(field).to_have_value("Helena Brandt")
    expect(cell(page, 1, "email")).to_have_value("helena@brandt.test")
    expect(options).to_have_count(0)
    wait_until_saved(page)
    assert desk.names(path) == [(ADA[0], 1), ("Helena Brandt", 1)]

    page.get_by_role("button", name="Add recipient").click()
    cell(page, 2, "email").press_sequentially("cy@")
    expect(options).to_have_count(1)
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(cell(page, 2, "email")).to_have_value("cy@")
    cell(page, 2, "email").press_sequentially("ex")
    options.click()
    expect(cell(page, 2, "name")).to_have_value(CY[0])
    cell(page, 2, "email").fill("")
    cell(page, 2, "email").press_sequentially("helena")
    expect(options).to_have_count(0)  # she is in the document already


def test_people_are_moved_by_keys_and_say_where_they_are(desk: DraftDesk) -> None:
    path = desk.draft(ADA, BO, CY)
    page = desk.open(f"{path}/edit")
    page.get_by_role("button", name="One after another").click()
    cell(page, 2, "name").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#undo")).to_have_text("Cy Li is now 2 of 3, in step 2.")
    expect(cell(page, 1, "name")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    wait_until_saved(page)
    assert desk.names(path) == [(CY[0], 1), (ADA[0], 2), (BO[0], 3)]
    page.get_by_label("More actions for Ada Lovelace").press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#undo")).to_have_text("Ada Lovelace is now 1 of 3, in step 1.")
    expect(page.get_by_label("More actions for Ada Lovelace")).to_be_focused()
    cell(page, 0, "order").fill("9")
    cell(page, 0, "order").press("Tab")
    in_order(page, CY[0], BO[0], ADA[0])
    wait_until_saved(page)
    page.reload()
    in_order(page, CY[0], BO[0], ADA[0])


def test_people_are_moved_by_dragging_and_keep_their_fields(desk: DraftDesk) -> None:
    path = desk.draft(ADA, BO, CY)
    first = desk.read_stored(path)["recipients"][0]["id"]
    field = {"type": "signature", "page": 1, "x": 10, "y": 10}
    desk.ask("PATCH", f"{path}/recipients/{first}", {"fields": [field]})
    page = desk.open(f"{path}/edit")
    grip, last = row(page, 0).locator("[data-grip]").bounding_box(), row(page, 2).bounding_box()
    assert grip and last
    page.mouse.move(grip["x"] + 8, grip["y"] + 8)
    page.mouse.down()
    page.mouse.move(grip["x"] + 8, last["y"] + last["height"] - 4, steps=12)
    page.mouse.up()
    in_order(page, BO[0], CY[0], ADA[0])
    wait_until_saved(page)
    assert [name for name, _ in desk.names(path)] == [BO[0], CY[0], ADA[0]]
    assert len(desk.read_stored(path)["recipients"][2]["fields"]) == 1
    page.get_by_label("More actions for Ada Lovelace").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    question = page.get_by_role("dialog", name="Remove Ada Lovelace and 1 field?")
    expect(question).to_be_visible()
    clean(page)
    question.get_by_role("button", name="Keep").click()
    expect(page.locator("#rows > li")).to_have_count(3)
    page.get_by_label("More actions for Bo Weber").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    wait_until_saved(page)
    assert len(desk.names(path)) == 2
    page.get_by_role("button", name="Undo").click()
    wait_until_saved(page)
    assert [name for name, _ in desk.names(path)] == [BO[0], CY[0], ADA[0]]
    page.get_by_label("More actions for Ada Lovelace").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    question.get_by_role("button", name="Remove", exact=True).click()
    wait_until_saved(page)
    assert [name for name, _ in desk.names(path)] == [BO[0], CY[0]]


@pytest.mark.parametrize("how", ON_A_DESK)
def test_hostile_and_long_texts_stay_inside(desk: DraftDesk, shot: Shot, how: dict[str, Any]) -> None:
    path = desk.draft((HOSTILE, "a" * 60 + "@example.test"), title=HOSTILE, message=HOSTILE, subject=HOSTILE)
    page = desk.open(f"{path}/edit", **how)
    for step in ("edit", "review", "discard"):
        page.goto(f"{desk.stage.site.base}{path}/{step}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        shot(page, f"hostile-{step}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), step
        clean(page)


# ---------- without a script, and thrown away ----------


def test_everything_works_without_a_script(desk: DraftDesk) -> None:
    page = desk.open("/documents/new", java_script_enabled=False)
    page.locator("#files").set_input_files(pdf("Plain.pdf"))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/edit")
    for n, (name, email) in enumerate((ADA, BO)):
        cell(page, n, "name").fill(name)
        cell(page, n, "email").fill(email)
        page.get_by_role("button", name="Add recipient").click()
    page.get_by_label("More actions for Bo Weber").click()
    page.get_by_role("button", name="Move up").locator("visible=true").click()
    in_order(page, BO[0], ADA[0])
    page.locator("#title").fill("")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Please fill this in.")).to_be_visible()
    page.locator("#title").fill("Plainly")
    page.get_by_role("button", name="Review without fields").click()
    page.get_by_role("button", name="Send without email").click()
    page.wait_for_url("**/documents/doc_*")
    [document] = desk.all()
    assert (document["title"], document["status"]) == ("Plainly", "sent")


def test_a_draft_is_discarded_after_a_question(desk: DraftDesk, shot: Shot) -> None:
    path = desk.draft(ADA)
    page = desk.open(f"{path}/edit")
    page.get_by_label("More actions", exact=True).click()
    page.get_by_role("link", name="Discard draft").click()
    expect(page.get_by_text("You can’t undo this.")).to_be_visible()
    shot(page, "discard")
    clean(page)
    page.get_by_role("link", name="Keep draft").click()
    page.wait_for_url("**/edit")
    page.get_by_label("More actions", exact=True).click()
    page.get_by_role("link", name="Discard draft").click()
    page.get_by_role("button", name="Discard draft").click()
    page.wait_for_url("**/documents*")
    assert desk.all() == []


def test_a_page_weighs_little(desk: DraftDesk) -> None:
    path = desk.draft(ADA)
    for step in ("/documents/new", f"{path}/edit", f"{path}/review"):
        sizes: list[int] = []

        def weigh(answer: Response, sizes: list[int] = sizes) -> None:
            if re.search(r"/static/.*\.(js|css)$", answer.url):
                sizes.append(int(answer.headers["content-length"]))

        page = desk.open("/account")
        page.context.on("response", weigh)
        page.goto(f"{desk.stage.site.base}{step}", wait_until="networkidle")
        assert 5_000 < sum(sizes) < 60_000, step
