"""What is wrong with the layout of a page: words that are cut, controls that are clipped or lie on each other.

`find_faults` looks at all that can be seen. Content that scrolls is reached by scrolling; what is fixed to the
screen is not. What lies on the picture of a page is fitted to that picture and not looked at.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

FIND = Path(__file__).with_name("layout.js").read_text("utf-8").partition("\n\n")[2]
# The picture of a page, words for screen readers alone, pictures of what was typed, and links that show themselves
# when they have the focus.
SPARED = (".page", ".sr", ".vh", ".skip", ".pw > button", ".until", ".typed", "svg")
STANDARD, FIXED = 16, 13  # the sizes of letters in pixels that Chromium begins with


def find_faults(page: Page, spared: Sequence[str] = SPARED) -> list[str]:
    """What is cut, clipped, covered or off the screen, as sentences; only of what is open on top, if anything is."""
    found: list[str] = page.evaluate(FIND, list(spared))
    return found


class TextSize:
    """The size of letters that a reader sets in the browser: `1rem`, and the `em` of media queries.

    A size that a style sheet gives the root would leave the `em` of media queries as they are.
    """

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)

    def set(self, times: float) -> None:
        sizes = {"standard": round(STANDARD * times), "fixed": round(FIXED * times)}
        self._session.send("Page.setFontSizes", {"fontSizes": sizes})


@contextmanager
def text_sizes(page: Page) -> Iterator[TextSize]:
    """Sets sizes on an open page; afterwards it is as it was."""
    size = TextSize(page)
    yield size
    size.set(1)


def measure_dock(page: Page) -> float:
    """The share of the height of the screen that the bar at the bottom takes."""
    share: float = page.evaluate(
        "() => (document.querySelector('.dock')?.getBoundingClientRect().height ?? 0) / innerHeight"
    )
    return share
