"""A sealed PDF is verified in a real browser: from the code on the certificate page to the verdict, in every colour."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits, late
from tests.browser.furnished import signed_in
from tests.browser.screens import ON_A_DESK
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_office import clean
from tests.pdf.others import sign_as_others, stamp_as_others
from tests.pdf.sealing import a_pdf
from tests.pki import a_seal, an_authority

REFUSED = "responded with a status of 4"  # what the browser's console says about a file that is refused
Shot = Callable[[Page, str], None]


@dataclass(frozen=True)
class VerifyDesk:
    """Who serves, the id of a sealed document, and files to bring by their names."""

    stage: BrowserStage
    id: str
    files: dict[str, Path]

    @property
    def base(self) -> str:
        return self.stage.site.base


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VerifyDesk]:
    folder = tmp_path_factory.mktemp("files")
    with a_stage(tmp_path_factory.mktemp("verify"), {"name": "Alder & Finch"}) as stage:
        site = stage.site
        id = stage.do(site.complete_document(title="Appointment of architect"))
        sealed = stage.do(site.api.file(id))
        at = sealed.index(b"/Contents")
        first = stage.do(
            sign_as_others(a_pdf(), a_seal(an_authority("Osgood Root"), name="Osgood Stone"), "First")
        )
        second = a_seal(an_authority("Second Root"), name="Second")
        made = {
            "appointment-14-quay-street.pdf": sealed,
            "appointment-14-quay-street (1).pdf": sealed[:at] + b"/contents" + sealed[at + 9 :],
            "supplier-framework-osgood.pdf": first,
            "both.pdf": stage.do(sign_as_others(first, second, "Second")),
            "archived.pdf": stage.do(stamp_as_others(sealed)),
            "minutes.pdf": a_pdf(),
            "holiday.pdf": b"\x89PNG\r\n",
        }
        for name, content in made.items():
            (folder / name).write_bytes(content)
        yield VerifyDesk(stage, id, {name: folder / name for name in made})


def choose(page: Page, file: Path) -> None:
    page.get_by_label("Drop a PDF here or choose a file").set_input_files(file)


def title(page: Page, text: str) -> None:
    heading = page.get_by_role("heading", name=text, exact=True)
    expect(heading).to_be_visible(timeout=20_000)
    expect(heading).to_be_focused()


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("how", ON_A_DESK)
def test_from_the_code_on_the_certificate_page_to_every_verdict(
    visit: Visits, desk: VerifyDesk, shot: Shot, how: dict[str, Any]
) -> None:
    page = visit.at(f"{desk.base}/verify/{desk.id}", excused=REFUSED, **how)
    expect(page.get_by_text("A document with this ID was sealed here on")).to_be_visible()
    shot(page, "verify-asked")
    clean(page)
    fits(page)
    choose(page, desk.files["appointment-14-quay-street.pdf"])
    title(page, "Valid and unchanged")
    expect(page.get_by_text("This is the original document")).to_be_visible()
    assert page.title() == "Valid and unchanged · esign"
    shot(page, "verify-valid")
    page.get_by_text("Technical details").click()
    shot(page, "verify-details")
    clean(page)
    fits(page)
    for name, verdict in (
        ("appointment-14-quay-street (1).pdf", "Changed after it was sealed"),
        ("supplier-framework-osgood.pdf", "Unknown signer"),
        ("both.pdf", "Sealed, with later additions"),
        ("archived.pdf", "Valid, with proof added"),
        ("minutes.pdf", "Not sealed"),
    ):
        page.get_by_role("link", name="Verify another").click()
        page.wait_for_url("**/verify")
        choose(page, desk.files[name])
        title(page, verdict)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        shot(page, f"verify-{name.partition('.')[0].replace(' ', '-')}")
        clean(page)
        fits(page)


def test_the_page_before_there_is_a_file_and_what_it_refuses(
    visit: Visits, desk: VerifyDesk, shot: Shot
) -> None:
    page = visit.at(f"{desk.base}/verify", excused=REFUSED, width=1280, height=800)
    shot(page, "verify")
    for name in (
        "What we check",
        "Check it in a PDF reader",
        "Check it on the command line",
    ):
        page.get_by_text(name).click()
    clean(page)
    choose(page, desk.files["holiday.pdf"])
    expect(page.get_by_role("alert")).to_contain_text("We can’t read this file as a PDF.")
    expect(page.get_by_label("Drop a PDF here or choose a file")).to_be_focused()
    shot(page, "verify-refused")
    clean(page)
    choose(page, desk.files["minutes.pdf"])
    title(page, "Not sealed")


def test_a_file_is_dropped_anywhere_on_the_page(visit: Visits, desk: VerifyDesk) -> None:
    page = visit.at(f"{desk.base}/verify", width=1280, height=800)
    content = list(desk.files["appointment-14-quay-street.pdf"].read_bytes())
    data = page.evaluate_handle(
        """(bytes) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes)], "dropped.pdf", { type: "application/pdf" }));
          return data;
        }""",
        content,
    )
    page.dispatch_event("footer", "drop", {"dataTransfer": data})
    title(page, "Valid and unchanged")
    page.context.grant_permissions(["clipboard-write"])  # as browsers with a window do after a press
    page.get_by_role("button", name="Copy file hash").click()
    expect(page.get_by_text("Copied.")).to_be_visible()


def test_a_check_can_be_stopped_and_a_lost_connection_is_said(visit: Visits, desk: VerifyDesk) -> None:
    page = visit.at(f"{desk.base}/verify", excused="ERR_", width=360, height=740)
    held: list[Any] = []
    page.route("**/verify", lambda route: held.append(route))
    choose(page, desk.files["minutes.pdf"])
    expect(page.get_by_text("minutes.pdf")).to_be_visible()
    clean(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_label("Drop a PDF here or choose a file")).to_be_focused()
    page.unroute("**/verify")
    page.route("**/verify", lambda route: route.abort())
    choose(page, desk.files["minutes.pdf"])
    expect(page.get_by_role("alert")).to_contain_text("The connection was lost.")


def test_a_file_that_is_chosen_before_the_script_came_is_checked(visit: Visits, desk: VerifyDesk) -> None:
    page = visit.at(f"{desk.base}/verify", width=1280, height=800)
    with late(page, "verify.js"):
        page.locator("#file").set_input_files(desk.files["minutes.pdf"])
    title(page, "Not sealed")


def test_everything_works_without_a_script(visit: Visits, desk: VerifyDesk) -> None:
    page = visit.at(f"{desk.base}/verify/{desk.id}", java_script_enabled=False, width=1280, height=800)
    page.get_by_label("Choose a PDF").set_input_files(desk.files["appointment-14-quay-street.pdf"])
    page.get_by_role("button", name="Verify file").click()
    expect(page.get_by_role("heading", name="Valid and unchanged")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("This is the original document")).to_be_visible()


def test_who_is_signed_in_stays_in_the_office(visit: Visits, desk: VerifyDesk) -> None:
    page = visit.at(f"{desk.base}/verify", storage_state=signed_in(desk.stage), width=1280, height=800)
    expect(page.get_by_role("link", name="Sign in")).to_have_count(0)
    places = page.get_by_role("navigation", name="Main")
    page.locator("#file").set_input_files(desk.files["minutes.pdf"])
    title(page, "Not sealed")
    expect(places.get_by_role("link", name="Verify a PDF")).to_have_attribute("aria-current", "page")
    places.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents", level=1)).to_be_visible()
