"""Signing pages inside another application, in a browser that blocks every third-party cookie."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Route, expect, sync_playwright

from tests.browser.conftest import ARGS, WHOLE_CHROMIUM, Visits
from tests.browser.embedder import Pages, another_site
from tests.browser.stage import BrowserStage, a_stage
from tests.browser.test_broken import break_part
from tests.journeys.api import a_request

DOCS = Path(__file__).parents[2] / "docs" / "embedding.md"
REFUSED = "chrome-error://chromewebdata/"  # what Chromium shows where a policy refuses the frame
ANA = ("Ana Lindqvist", "ana@example.test")

# What the test's own pages keep of every message, whoever it is from.
KEEPING = """<!doctype html><meta charset="utf-8"><title>An application</title><body>
<script>
  window.kept = [];
  addEventListener("message", ({ data, origin }) => kept.push({ ...data, origin }));
</script>
%s
</body>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=WHOLE_CHROMIUM, args=[*ARGS, "--test-third-party-cookie-phaseout"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserStage]:
    with a_stage(tmp_path_factory.mktemp("site"), organisation={"name": "Fernhill Gardens"}) as stage:
        yield stage


@pytest.fixture
def pages() -> Pages:
    return {}


@pytest.fixture
def app(stage: BrowserStage, pages: Pages) -> Iterator[str]:
    """An application that the organisation lists, at another site than the signing pages."""
    with another_site(pages) as origin:
        listed = {"embedOrigins": ["https://elsewhere.example", origin]}
        stage.do(stage.site.api.ok("PATCH", "/settings", listed))
        yield origin


def send_embedded(stage: BrowserStage, redirect: str | None = None, **recipient: Any) -> dict[str, Any]:
    """A new document that Ana is asked for, as the API tells it."""
    ana = {"name": ANA[0], "email": ANA[1], "role": "approver", **recipient}
    bo = {"name": "Bo Weber", "email": "bo@example.test", "order": 2}
    body = a_request(recipients=[ana, bo], redirectUrl=redirect, send=True)
    created = stage.do(stage.site.api.ok("POST", "/documents", body))
    stage.work("mail")
    document: dict[str, Any] = stage.do(stage.site.api.get(created["id"]))
    return document


def framing(link: str) -> str:
    return KEEPING % f'<iframe title="To sign" src="{link}" width="360" height="640"></iframe>'


def embedding(stage: BrowserStage, link: str, more: str) -> str:
    """By the documented script; `more` are further options."""
    return (
        f'<script src="{stage.site.base}/embed.js"></script>'
        f'<script>const signing = Esign.embed({{ link: "{link}", into: document.body, {more} }});</script>'
    )


def approve(frame: FrameLocator) -> None:
    frame.get_by_role("button", name="Approve", exact=True).click()
    frame.locator("[data-action=consent]").check()
    frame.locator("[data-action=approve]").click()
    expect(frame.locator("h1")).to_have_text("Thank you, you’ve approved")


def wait_for_messages(page: Page, count: int) -> list[dict[str, Any]]:
    """The messages, once there are so many."""
    page.wait_for_function("(count) => kept.length >= count", arg=count)
    found: list[dict[str, Any]] = page.evaluate("kept")
    return found


# ---------- the documented example ----------


def test_the_example_of_the_documentation_signs_inside_the_application(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages, shot: Callable[[Page, str], None]
) -> None:
    document = send_embedded(stage)
    [example] = re.findall(r"^```html\n(.*?)^```$", DOCS.read_text("utf-8"), re.M | re.S)
    link = stage.link(ANA[1])
    pages["/sign"] = example.replace("https://sign.example.com/s/…", link).replace(
        "https://sign.example.com", stage.site.base
    )
    page = visit.at(f"{app}/sign", width=1280, height=800)
    frame = page.frame_locator("iframe[title='Your agreement, to sign']")
    expect(page.locator("#news")).to_have_text("Please read and sign.")
    box = page.locator("iframe").bounding_box()
    assert box is not None and abs(box["y"] + box["height"] - 800) < 1
    page.set_viewport_size({"width": 400, "height": 700})
    page.wait_for_function(
        "Math.abs(document.querySelector('iframe').getBoundingClientRect().bottom - 700) < 1"
    )
    shot(page, "embedded-1-arrival")
    approve(frame)
    shot(page, "embedded-2-done")
    expect(page.locator("#news")).to_have_text(f"Thank you: {document['id']} is signed by you.")


def test_declining_is_told_and_the_frame_can_be_taken_away(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    send_embedded(stage)
    pages["/sign"] = KEEPING % embedding(stage, stage.link(ANA[1]), "onDeclined: () => signing.destroy()")
    page = visit.at(f"{app}/sign")
    wait_for_messages(page, 1)
    frame = page.frame_locator("iframe")
    frame.locator(".end [data-action=decline]").click()
    frame.locator("#decline-done").click()
    expect(page.locator("iframe")).to_have_count(0)
    assert [one["type"] for one in wait_for_messages(page, 3)] == ["ready", "ready", "declined"]


def test_a_page_that_does_not_come_is_an_error_to_the_application(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    more = "patience: 200, onError: (message) => kept.push(message)"
    pages["/sign"] = KEEPING % embedding(stage, f"{stage.site.base}/s/unknown", more)
    page = visit.at(f"{app}/sign", excused=stage.site.base)
    assert wait_for_messages(page, 1) == [
        {"source": "esign", "type": "error", "documentId": None, "recipientId": None}
    ]


def test_the_script_hears_its_own_frame_alone_and_only_while_it_shows_the_signing_page(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    """Neither another signing page, nor the embedding page, nor what the frame was led to."""
    send_embedded(stage)
    declined = stage.do(stage.site.person(ANA[1]))
    stage.do(declined.decline())
    send_embedded(stage)
    forged = '{ source: "esign", type: "completed", documentId: "doc_x", recipientId: "rcp_x" }'
    pages["/liar"] = f"<!doctype html><script>parent.postMessage({forged}, '*');</script>"
    handlers = ", ".join(
        f"on{name.capitalize()}: () => heard.push('{name}')" for name in ("ready", "completed", "declined")
    )
    pages["/sign"] = KEEPING % (
        "<script>window.heard = [];</script>"
        + embedding(stage, stage.link(ANA[1]), handlers)
        + f'<script>postMessage({forged}, "*");</script><iframe title="Another" src="{declined.link}"></iframe>'
    )
    page = visit.at(f"{app}/sign")
    assert sorted(one["type"] for one in wait_for_messages(page, 4)) == [
        "completed",
        "declined",
        "ready",
        "ready",
    ]
    page.evaluate("signing.frame.src = '/liar'")
    assert wait_for_messages(page, 5)[-1]["type"] == "completed"
    assert page.evaluate("heard") == ["ready"]


# ---------- who may ----------


def test_messages_have_one_shape_and_come_from_the_signing_page_to_the_listed_origin(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    document = send_embedded(stage)
    pages["/sign"] = framing(stage.link(ANA[1]))
    page = visit.at(f"{app}/sign")
    wait_for_messages(page, 1)
    approve(page.frame_locator("iframe"))
    about = {"documentId": document["id"], "recipientId": document["recipients"][0]["id"]}
    assert wait_for_messages(page, 3) == [
        {"source": "esign", "type": kind, "origin": stage.site.base, **about}
        for kind in ("ready", "ready", "completed")
    ]


def test_a_page_that_breaks_off_is_an_error(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    send_embedded(stage)
    pages["/sign"] = framing(stage.link(ANA[1]))
    page = visit.at("about:blank", excused="o")  # here something is broken on purpose
    page.route("**/static/*/signing.js", break_part("path.js"))
    page.goto(f"{app}/sign")
    assert [one["type"] for one in wait_for_messages(page, 1)] == ["error"]


def test_the_way_on_after_signing_leaves_the_frame(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    send_embedded(stage, redirect="https://after.example/thanks")
    pages["/sign"] = framing(stage.link(ANA[1]))
    page = visit.at(f"{app}/sign")
    page.route(
        "https://after.example/**", lambda route: route.fulfill(body="thanks", content_type="text/html")
    )
    wait_for_messages(page, 1)
    frame = page.frame_locator("iframe")
    approve(frame)
    frame.locator("main .actions a[rel~=noopener]").click()
    page.wait_for_url("https://after.example/thanks")


def test_a_site_that_is_not_listed_gets_a_refused_frame_and_hears_nothing(
    visit: Visits, stage: BrowserStage, app: str
) -> None:
    document = send_embedded(stage)
    with another_site({"/sign": framing(stage.link(ANA[1]))}) as unlisted:
        page = visit.at(f"{unlisted}/sign", excused=stage.site.base)
        page.frames[1].wait_for_url(REFUSED)
        assert page.evaluate("kept") == []
    assert "recipient.viewed" not in stage.do(stage.site.api.trail(document["id"]))


def test_a_listed_site_inside_one_that_is_not_is_refused_too(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    send_embedded(stage)
    pages["/sign"] = framing(stage.link(ANA[1]))
    around = f'<!doctype html><iframe title="Application" src="{app}/sign"></iframe>'
    with another_site({"/around": around}) as unlisted:
        page = visit.at(f"{unlisted}/around", excused=stage.site.base)
        page.frames[2].wait_for_url(REFUSED)


# ---------- codes without third-party cookies ----------


def test_this_browser_blocks_third_party_cookies(visit: Visits, app: str, pages: Pages) -> None:
    """Without this the tests below would show nothing."""
    with another_site({}, host="127.0.0.1") as third:
        pages["/frame"] = f'<!doctype html><iframe title="Third" src="{third}/cookie"></iframe>'
        page = visit.at(f"{app}/frame")
        text = page.frame_locator("iframe").locator("p")
        expect(text).to_have_text("none")
        page.reload()
        expect(text).to_have_text("none")
        page.goto(f"{third}/cookie")
        page.reload()
        expect(page.locator("p")).to_have_text("common=1")


def enter_mailed_code(stage: BrowserStage, page: Page) -> None:
    frame = page.frame_locator("iframe")
    wait_for_messages(page, 1)
    frame.locator("[data-action=send-code]").click()
    frame.locator("[data-action=send-code-confirm]").click()
    expect(frame.locator("h1")).to_have_text("Check your email")
    wait_for_messages(page, 2)
    stage.work("mail")
    found = re.search(r"\b\d{3}\s\d{3}\b", stage.letter(ANA[1]))
    assert found
    frame.locator("[data-field=code]").fill(found[0])
    frame.locator("[data-action=enter-code]").click()


def test_a_code_is_remembered_inside_the_frame_of_that_application_alone(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    document = send_embedded(stage, authentication="email_code")
    link = stage.link(ANA[1])
    pages["/sign"] = framing(link)
    page = visit.at(f"{app}/sign")
    enter_mailed_code(stage, page)
    frame = page.frame_locator("iframe")
    expect(frame.locator("body")).to_have_attribute("data-state", "open")
    wait_for_messages(page, 3)
    again = page.context.new_page()
    again.goto(f"{app}/sign")
    expect(again.frame_locator("iframe").locator("body")).to_have_attribute("data-state", "open")
    alone = page.context.new_page()
    alone.goto(link)
    expect(alone.locator("body")).to_have_attribute("data-state", "code")
    approve(frame)
    assert [one["type"] for one in wait_for_messages(page, 5)] == [*["ready"] * 4, "completed"]
    found = stage.do(stage.site.api.get(document["id"]))
    assert found["recipients"][0]["status"] == "completed"


def as_if_on_its_own(route: Route) -> None:
    """The code is sent as from a page that is in no frame: the browser refuses the cookie that comes back."""
    given = route.request.post_data_json
    assert isinstance(given, dict) and given["framed"] is True
    route.continue_(post_data={**given, "framed": False})


def test_where_no_cookie_is_kept_the_page_says_so_and_offers_a_window_of_its_own(
    visit: Visits, stage: BrowserStage, app: str, pages: Pages
) -> None:
    send_embedded(stage, authentication="email_code")
    pages["/sign"] = framing(stage.link(ANA[1]))
    page = visit.at(f"{app}/sign")
    page.route("**/authenticate", as_if_on_its_own)
    enter_mailed_code(stage, page)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#code-error")).to_contain_text(
        "Your code was right, but this browser doesn’t remember it"
    )
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="Open the page in its own window").click()
    expect(opened.value.locator("h1")).to_be_visible()
