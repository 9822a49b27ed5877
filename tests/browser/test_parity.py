"""Whatever a program can do, a person can do in the office (contract 3.6): the table, line by line."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from esign.web.api.endpoint_table import ENDPOINTS
from tests.browser.conftest import Visits
from tests.browser.furnished import signed_in
from tests.browser.parity import documents, settings, templates, webhooks
from tests.browser.parity.desk import ParityDesk
from tests.browser.parity.table import CONTROLS, FOR_PROGRAMS
from tests.browser.stage import BrowserStage, a_stage

WAYS: Mapping[str, Callable[[ParityDesk], None]] = {
    "documents": documents.documents,
    "recipients": documents.recipients,
    "files": documents.files,
    "templates": templates.templates,
    "webhooks": webhooks.webhooks,
    "tokens": settings.tokens,
    "settings": settings.settings,
    "members": settings.members,
    "test mode": documents.in_test_mode,
}
SAVED = "net::ERR_ABORTED"  # a file that is saved is no page


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[BrowserStage]:
    with a_stage(tmp_path, {"name": "Alder & Finch"}) as stage:
        yield stage


def test_every_operation_of_the_api_has_its_control_or_a_reason() -> None:
    lines = [line.partition(".")[0] for nouns in CONTROLS.values() for line in nouns]
    assert {one.name for one in ENDPOINTS} == {*lines, *FOR_PROGRAMS}
    assert not set(lines) & {*FOR_PROGRAMS}


@pytest.mark.parametrize("noun", CONTROLS)
def test_people_do_with_it_what_programs_do(visit: Visits, stage: BrowserStage, noun: str) -> None:
    page = visit.at(
        f"{stage.site.base}/account", storage_state=signed_in(stage), excused=SAVED, width=1280, height=900
    )
    desk = ParityDesk(stage, page, CONTROLS[noun])
    WAYS[noun](desk)
    assert desk.used == set(CONTROLS[noun])
