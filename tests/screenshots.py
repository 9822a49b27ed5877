"""Pictures of every page in every state: python -m tests.screenshots FOLDER [WALK ...]

Each walk of tests/browser/walks.py is made on a phone, a tablet and a desk, from left to right and from right to left;
at each stop it is pictured in light and dark, as FOLDER/WALK-STOP-WIDTH-LANGUAGE-SCHEME.png. Walks through the
office are those of tests/browser/office_walks.py, which says how to add one; they are made in English, since they find
buttons by their names.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import ARGS, CHROMIUM, Visits
from tests.browser.office_walks import OFFICE, an_office_of
from tests.browser.screens import SETTLED
from tests.browser.stage import a_stage
from tests.browser.walks import BESIDE, WALKS

SIZES = {360: 740, 768: 1024, 1280: 800}
LANGUAGES = ("en", "ar")


def take(page: Page, to: Path) -> None:
    """What can be seen, in both schemes."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(SETTLED)
        expect(page.locator(".where.moving")).to_have_count(0)  # it shows itself while one scrolls
        page.screenshot(path=to.with_name(f"{to.name}-{scheme}.png"), animations="disabled")


def walk(browser: Browser, folder: Path, name: str, width: int, tag: str) -> None:
    visit, one = Visits(browser), WALKS[name]
    with visit.open:
        page = visit(one.start(tag), width=width, height=SIZES[width], locale=tag, **one.how)
        for stop in one.stops(page):
            take(page, folder / f"{name}-{stop}-{width}-{tag}")


def beside(browser: Browser, folder: Path, names: list[str]) -> None:
    visit = Visits(browser)
    with TemporaryDirectory() as data, a_stage(Path(data), {"name": "Northlight"}) as stage, visit.open:
        for name in names:
            for width, height in SIZES.items():
                page = visit.at(f"{stage.site.base}{BESIDE[name]}", width=width, height=height)
                take(page, folder / f"{name}-{width}-en")


def office(browser: Browser, folder: Path, names: list[str]) -> None:
    """Each walk finds the office as it was: none changes what another looks at."""
    with TemporaryDirectory() as data, a_stage(Path(data), {"name": "Alder & Finch"}) as stage:
        place = an_office_of(stage)
        for name in names:
            for width, height in SIZES.items():
                visit, start = Visits(browser), f"{stage.site.base}/account"
                with visit.open:  # one at a time: a server takes 50 connections of one address
                    page = visit.at(start, width=width, height=height, storage_state=place.state)
                    for stop in OFFICE[name](page, place):
                        take(page, folder / f"{name}-{stop}-{width}-en")
            print(name, flush=True)


def main(folder: Path, *wanted: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for name in (one for one in WALKS if one in wanted or not wanted):
            for width in SIZES:
                for tag in LANGUAGES:
                    walk(browser, folder, name, width, tag)
            print(name, flush=True)
        beside(browser, folder, [one for one in BESIDE if one in wanted or not wanted])
        if names := [one for one in OFFICE if one in wanted or not wanted]:
            office(browser, folder, names)
        browser.close()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), *sys.argv[2:])
