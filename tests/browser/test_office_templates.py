"""Templates in a real browser: from a PDF to roles, fields, a use, and a document that is sent with all of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from esign.core.people.member import MemberRole
from esign.demo import contract
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_PHONE
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_axe import ALL, COLOURS, complaints

CONFLICT = "responded with a status of 4"
DESK: dict[str, Any] = {"width": 1280, "height": 800}
Shot = Callable[[Page, str], None]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        yield stage


def clean(page: Page) -> None:
    """axe-core finds nothing, in light and in dark, and nothing is wider than the screen."""
    assert complaints(page, ALL) == []
    assert complaints(page, COLOURS, "dark") == []
    page.emulate_media(color_scheme="light")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def ask(stage: BrowserStage, path: str) -> Any:
    return stage.do(stage.site.api.ok("GET", path))


def press_button(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def upload(page: Page) -> str:
    """The path of the template that a PDF has become."""
    page.get_by_role("link", name="New template").click()
    page.get_by_label("Drop PDFs here").set_input_files(
        {"name": "Lease.pdf", "mimeType": "application/pdf", "buffer": contract.read_pdf()}
    )
    page.wait_for_url("**/edit")
    expect(page.get_by_role("heading", name="Edit template")).to_be_visible()
    return "/templates/" + page.url.split("/")[-2]


def name_roles(page: Page, *names: str) -> None:
    for n, name in enumerate(names):
        if n:
            press_button(page, "Add role")
        page.get_by_label("Role name").nth(n).fill(name)


@pytest.mark.parametrize("how", ON_A_PHONE)
def test_from_a_pdf_to_a_document_that_is_sent(
    visit: Visits, stage: BrowserStage, shot: Shot, how: dict[str, Any]
) -> None:
    page = visit.at(f"{stage.site.base}/templates", storage_state=signed_in(stage), **how)
    expect(page.get_by_role("heading", name="Create your first template")).to_be_visible()
    clean(page)
    path = upload(page)
    page.get_by_label("Template name").fill("Lease of a room")
    name_roles(page, "Tenant", "Landlord")
    page.get_by_label("Role", exact=True).nth(1).select_option("Approves")
    page.get_by_label("Step").nth(1).fill("2")
    clean(page)
    shot(page, "office-template-edit")
    press_button(page, "Save and place fields")
    page.locator("body[data-ready]").wait_for(state="attached")
    page.locator("#main").focus()
    for key in ("s", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".fld")).to_have_count(1)
    expect(page.locator("#saved")).to_have_text("All changes saved")
    [placed] = ask(stage, path)["roles"][0]["fields"]
    assert placed["type"] == "signature"
    page.get_by_role("link", name="Finish").click()
    expect(page.get_by_role("heading", name="Lease of a room")).to_be_visible()
    clean(page)
    shot(page, "office-template")
    page.get_by_role("link", name="Use template").click()
    for n, (name, email) in enumerate([("Ada Byron", "ada@example.test"), ("Jo Li", "jo@example.test")]):
        page.get_by_label("Name", exact=True).nth(n).fill(name)
        page.get_by_label("Email", exact=True).nth(n).fill(email)
    page.get_by_label("Title").fill("Lease of room 4")
    clean(page)
    shot(page, "office-template-use")
    press_button(page, "Send now")
    expect(page.get_by_role("heading", name="Lease of room 4")).to_be_visible()
    [document] = ask(stage, "/documents")["data"]
    made = ask(stage, f"/documents/{document['id']}")
    assert (made["status"], made["templateId"]) == ("sent", path.split("/")[-1])
    assert [(one["name"], one["role"]) for one in made["recipients"]] == [
        ("Ada Byron", "signer"),
        ("Jo Li", "approver"),
    ]
    [field] = made["recipients"][0]["fields"]
    assert {name: field[name] for name in ("type", "page", "x", "y")} == {
        name: placed[name] for name in ("type", "page", "x", "y")
    }
    stage.work("mail")
    assert "/s/" in stage.letter("ada@example.test")
    page.goto(f"{stage.site.base}/templates")
    expect(page.get_by_role("link", name="Documents created from Lease of a room")).to_be_visible()
    clean(page)


def a_template(stage: BrowserStage, **changes: Any) -> str:
    """The path of one with two roles, of which the first has a field."""
    body = contract.build_create_body()
    field = {"type": "signature", "page": 1, "x": 10, "y": 80}
    roles = [
        {"key": "tenant", "name": "Tenant", "fields": [field]},
        {"key": "landlord", "name": "Landlord", "order": 2},
    ]
    wanted = {"fileName": "a.pdf", "file": body["file"], "title": "Lease", "roles": roles} | changes
    return f"/templates/{stage.do(stage.site.api.ok('POST', '/templates', wanted))['id']}"


def test_roles_are_moved_and_removed_and_nothing_changes_before_it_is_saved(
    visit: Visits, stage: BrowserStage
) -> None:
    path = a_template(stage)
    page = visit.at(f"{stage.site.base}{path}/edit", storage_state=signed_in(stage), **DESK)
    page.get_by_label("More actions for Landlord").click()
    press_button(page, "Move up")
    expect(page.locator("#undo")).to_have_text("Landlord is now 1 of 2, in step 1.")
    page.get_by_label("More actions for Tenant").click()
    press_button(page, "Remove")
    expect(page.get_by_role("heading", name="Remove Tenant and 1 field?")).to_be_visible()
    assert complaints(page, ALL) == []
    page.locator("#sure [data-remove]").click()
    assert ask(stage, path)["revision"] == 1
    press_button(page, "Save")
    expect(page.get_by_text("Template saved.")).to_be_visible()
    assert [(one["name"], one["order"]) for one in ask(stage, path)["roles"]] == [("Landlord", 1)]


def test_it_is_edited_used_and_deleted_without_a_script(visit: Visits, stage: BrowserStage) -> None:
    path = a_template(stage)
    state = signed_in(stage)
    page = visit.at(f"{stage.site.base}{path}/edit", storage_state=state, java_script_enabled=False, **DESK)
    press_button(page, "Add role")
    page.get_by_label("Role name").nth(2).fill("Witness")
    press_button(page, "Save")
    expect(page.get_by_role("heading", name="Lease", exact=True)).to_be_visible()
    assert [one["key"] for one in ask(stage, path)["roles"]] == ["tenant", "witness", "landlord"]
    page.get_by_role("link", name="Use template").click()
    for n in range(3):
        page.get_by_label("Name", exact=True).nth(n).fill(f"Person {n}")
        page.get_by_label("Email", exact=True).nth(n).fill(f"p{n}@example.test")
    press_button(page, "Create draft")
    expect(page.get_by_role("button", name="Send without email")).to_be_visible()
    page.goto(f"{stage.site.base}{path}/delete")
    press_button(page, "Delete template")
    expect(page.get_by_role("heading", name="Create your first template")).to_be_visible()


def test_two_people_in_the_editor_choose_between_their_fields(visit: Visits, stage: BrowserStage) -> None:
    path = a_template(stage)
    maren, idris = signed_in(stage), signed_in(stage, "Idris Okafor", MemberRole.MEMBER)
    first, second = [
        visit.at(f"{stage.site.base}{path}/fields", storage_state=one, excused=CONFLICT, **DESK)
        for one in (maren, idris)
    ]
    for page in (first, second):
        page.locator("body[data-ready]").wait_for(state="attached")
    for page, key, end in ((first, "d", "All changes saved"), (second, "t", "Not saved")):
        page.locator("#main").focus()
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator(".fld")).to_have_count(2)
        expect(page.locator("#saved")).to_have_text(end)
    press_button(second, "Keep mine")
    expect(second.locator("#saved")).to_have_text("All changes saved")
    kinds = [field["type"] for field in ask(stage, path)["roles"][0]["fields"]]
    assert sorted(kinds) == ["signature", "text"]
