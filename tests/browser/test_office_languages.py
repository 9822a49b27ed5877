"""The office in every language: no rule of accessibility is broken and nothing is cut, also where texts are longer.

Each page is looked at in Arabic, which runs from right to left, and read in one language in turn, or by
`packaging/test every` in each.
"""

from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any

import pytest
from playwright.sync_api import Page

from esign.core.language import LANGUAGES
from esign.web.office.frame.words import dump_script_words, load_words
from tests import pseudo
from tests.browser.conftest import Visits
from tests.browser.layout import SPARED, find_faults
from tests.browser.office_addresses import SIGNED_OUT, list_addresses
from tests.browser.office_walks import WalkedOffice, an_office_of
from tests.browser.stage import a_stage
from tests.browser.test_axe import ALL_BUT_COLOURS, complaints
from tests.every import EVERY, choose

OTHERS = [tag for tag in LANGUAGES if tag != "en"]
PHONE: dict[str, Any] = {"width": 360, "height": 740, "reduced_motion": "reduce"}
# The title of a document and whether it is saved, above its fields: both may end with an ellipsis.
SHORTENED = (*SPARED, ".ed-title")
SIZES = dict(choose([(360, 740), (1280, 800)], [(768, 1024)]))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WalkedOffice]:
    with a_stage(tmp_path_factory.mktemp("office"), {"name": "Alder & Finch"}) as stage:
        yield an_office_of(stage)


@pytest.fixture
def longer_words() -> Iterator[None]:
    """English is two fifths longer meanwhile, and accented. The server runs in this process."""
    english = load_words("en")
    kept = dict(english.catalogue), dict(english.sentences)
    for words in (english.catalogue, english.sentences):
        words.update(pseudo.translate(words))  # type: ignore[attr-defined]
    dump_script_words.cache_clear()
    yield
    for words, before in zip((english.catalogue, english.sentences), kept, strict=True):
        words.update(before)  # type: ignore[attr-defined]
    dump_script_words.cache_clear()


def choose_pages(tag: str, paths: list[str]) -> list[str]:
    """The pages that are read in this language."""
    if EVERY:
        return paths
    return [path for path, turn in zip(paths, cycle(OTHERS), strict=False) if turn == tag]


def go(page: Page, base: str, path: str) -> None:
    page.goto(f"{base}{path}")
    if path.endswith("/fields"):  # it is not left before it has what it asks for
        page.wait_for_load_state("networkidle")


def look(page: Page, base: str, path: str, tag: str) -> None:
    go(page, base, path)
    assert page.evaluate("document.documentElement.lang") == tag, path
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} is too wide"
    assert find_faults(page, SHORTENED) == [], path


@pytest.mark.parametrize("tag", OTHERS)
def test_no_rule_is_broken_and_nothing_is_cut(visit: Visits, office: WalkedOffice, tag: str) -> None:
    base = office.stage.site.base
    page = visit.at(f"{base}/account", storage_state=office.state, locale=tag, **PHONE)
    for path in choose_pages(tag, [*list_addresses(office)]):
        look(page, base, path, tag)
        assert complaints(page, ALL_BUT_COLOURS) == [], path
    outside = visit.at(f"{base}/sign-in", locale=tag, **PHONE)
    for path in every_other(SIGNED_OUT, OTHERS.index(tag) % 2):
        look(outside, base, path, tag)
        assert complaints(outside, ALL_BUT_COLOURS) == [], path


def every_other(paths: Iterable[str], first: int) -> list[str]:
    """Half of the pages; all of them with TESTS_EVERY."""
    return [*paths] if EVERY else [*paths][first::2]


def test_nothing_is_cut_from_right_to_left(visit: Visits, office: WalkedOffice) -> None:
    base = office.stage.site.base
    page = visit.at(f"{base}/account", storage_state=office.state, locale="ar", **PHONE)
    for path in every_other(list_addresses(office), 0):
        look(page, base, path, "ar")


@pytest.mark.usefixtures("longer_words")
def test_texts_that_are_longer_are_not_cut(visit: Visits, office: WalkedOffice) -> None:
    base, faults = office.stage.site.base, []
    page = visit.at(f"{base}/account", storage_state=office.state, **PHONE)
    for path in list_addresses(office):
        go(page, base, path)
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            faults += [(path, width, fault) for fault in find_faults(page, SHORTENED)]
    assert sorted({fault[-1] for fault in faults}) == [], faults


@pytest.mark.parametrize("text", choose([2], [1.5]))
def test_letters_of_any_size_are_not_cut(visit: Visits, office: WalkedOffice, text: float) -> None:
    base, faults = office.stage.site.base, []
    page = visit.at(f"{base}/account", storage_state=office.state, text=text, **PHONE)
    for path in every_other(list_addresses(office), 1):
        go(page, base, path)
        faults += [(path, fault) for fault in find_faults(page, SHORTENED)]
    assert sorted({fault[-1] for fault in faults}) == [], faults
