"""axe-core finds nothing to complain of in the office: every stop of every walk, in light and dark.

In each run at a desk, where everything is in sight, while test_office_languages looks at the pages on a phone; and in
the dark where a walk begins, on each page that there is. By `packaging/test every` on a phone as well, and each stop in
the dark.
"""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import Visits
from tests.browser.office_walks import OFFICE, WalkedOffice, an_office_of
from tests.browser.stage import a_stage
from tests.browser.test_axe import WIDTHS, assert_clean
from tests.every import choose


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WalkedOffice]:
    with a_stage(tmp_path_factory.mktemp("office"), {"name": "Alder & Finch"}) as stage:
        yield an_office_of(stage)


@pytest.mark.parametrize("screen", choose(["desk"], ["phone"]))
@pytest.mark.parametrize("name", OFFICE)
def test_no_rule_is_broken_on_the_way_through_the_office(
    visit: Visits, office: WalkedOffice, name: str, screen: str
) -> None:
    base = office.stage.site.base
    page = visit.at(
        f"{base}/account",
        storage_state=office.state,
        reduced_motion="reduce",
        excused="responded with a status of 422",  # a form that is shown again
        **WIDTHS[screen],
    )
    for at, stop in enumerate(OFFICE[name](page, office)):
        assert_clean(page, stop, dark=at == 0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{stop} is too wide"
