"""Scripts that fail half-way: the page says so, and reading, downloading and asking the sender go on."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import serving
from tests.browser.stage import PATIENCE
from tests.web.signing.site import SigningSite, a_document, a_recipient

Shot = Callable[[Page, str], None]
BROKEN = "Something on this page isn’t working."
# The page waits by an animation, which is at its end at once here.
LATER = "document.getAnimations().forEach((one) => one.finish())"
PARTS = ("dom.js", "path.js", "finish.js", "draft.js", "checks.js", "ink.js", "reading.js", "pages.js")

ABOVE = "(one) => one.getBoundingClientRect().bottom <= document.querySelector('#dock').getBoundingClientRect().top"


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page whose errors nobody minds: here something is broken on purpose."""
    with browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        yield page


def missing(route: Route) -> None:
    route.fulfill(status=404, body="")


def throwing(route: Route) -> None:
    route.fulfill(body="throw new Error('broken');", content_type="text/javascript")


def break_part(name: str) -> Callable[[Route], None]:
    """A module of the script throws as soon as it is run."""

    def change(route: Route) -> None:
        head, text = f'"{name}": () => {{\n', route.fetch().text()
        assert head in text
        broken = text.replace(head, f"{head}throw new Error('broken');\n")
        route.fulfill(body=broken, content_type="text/javascript")

    return change


def still_useful(page: Page) -> None:
    """Reading, downloading and writing to the sender need no script."""
    notice = page.locator(".broken")
    expect(notice).to_contain_text(BROKEN)
    expect(notice).to_be_in_viewport(ratio=1)
    assert page.locator(".page img").first.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 0
    expect(page.locator("#next")).to_be_hidden()
    expect(page.locator(".form")).to_be_hidden()
    page.locator("[popovertarget=menu]").click()
    menu = page.locator("#menu")
    expect(menu.get_by_role("link", name="Ask Mira Okafor a question")).to_be_visible()
    expect(menu.get_by_role("button", name="Decline")).to_have_count(0)
    with page.expect_download() as download:
        menu.get_by_role("link", name="Download PDF to read").click()
    assert download.value.path().read_bytes().startswith(b"%PDF")
    expect(notice.get_by_role("link")).to_have_count(3)


@pytest.mark.parametrize("fault", [missing, throwing, *PARTS])
def test_a_page_whose_script_fails_says_so_and_can_be_read_downloaded_and_asked_about(
    phone: Page, shot: Shot, fault: Callable[[Route], None] | str
) -> None:
    site = SigningSite()
    phone.route("**/static/*/signing.js", break_part(fault) if isinstance(fault, str) else fault)
    with serving(site) as address:
        phone.goto(address)
        if fault in (missing, throwing, "dom.js"):
            phone.evaluate(LATER)
        still_useful(phone)
        phone.evaluate(LATER)
        shot(phone, "broken")
    assert site.calls == []


def test_what_breaks_later_is_told_above_the_bar_and_the_rest_goes_on(phone: Page, shot: Shot) -> None:
    site = SigningSite()

    def breaking(route: Route) -> None:
        late = (
            "document.querySelector('#menu').addEventListener('toggle', () => { throw new Error('late'); });"
        )
        route.fulfill(body=f"{route.fetch().text()}\n{late}", content_type="text/javascript")

    phone.route("**/static/*/signing.js", breaking)
    with serving(site) as address:
        phone.goto(address)
        phone.locator("body[data-alive]").wait_for()
        expect(phone.locator("#next")).to_be_visible()
        expect(phone.locator(".broken")).to_be_hidden()
        phone.locator("[popovertarget=menu]").click()
        expect(phone.locator(".broken")).to_contain_text(BROKEN)
        phone.keyboard.press("Escape")
        phone.locator("#next").click()
        expect(phone.locator("#slot [data-field]").first).to_be_focused()
        shot(phone, "broken-later")
        assert phone.locator(".broken").evaluate(ABOVE)
        phone.locator(".broken").get_by_role("button", name="Close").click()
        expect(phone.locator(".broken")).to_be_hidden()
        expect(phone.locator("#slot [data-field]").first).to_be_visible()


@pytest.mark.parametrize("fault", [missing, "code.js"])
def test_a_page_of_a_code_whose_script_fails_says_so_too(
    phone: Page, fault: Callable[[Route], None] | str
) -> None:
    phone.route("**/static/*/signing.js", break_part(fault) if isinstance(fault, str) else fault)
    with serving(SigningSite(a_document(a_recipient((), authentication="email_code")), "code")) as address:
        phone.goto(address)
        if fault is missing:
            phone.evaluate(LATER)
        expect(phone.locator(".broken")).to_contain_text(BROKEN)
        expect(phone.locator(".broken").get_by_role("link", name="Download")).to_have_count(0)
        expect(phone.locator("main button:visible")).to_have_count(0)


def test_an_error_of_somebody_elses_script_is_not_ours(phone: Page) -> None:
    with serving(SigningSite()) as address:
        phone.goto(address)
        expect(phone.locator("body[data-alive]")).to_be_visible()
        phone.evaluate("() => { setTimeout(() => { throw new Error('an extension'); }); }")
        phone.evaluate("new Promise((done) => setTimeout(done))")
        expect(phone.locator(".broken")).to_be_hidden()
