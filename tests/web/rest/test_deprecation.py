"""What an endpoint that will go says of itself: in its answers, in the description, and after its end (contract 9)."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from esign.config import Config
from esign.core.instant import DAY
from esign.web.rest import openapi
from esign.web.rest.deprecation import Deprecation
from tests.web.world import ENDPOINTS, START, T, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEAVING = Deprecation(
    since=START,
    link="https://docs.example.com/things",
    sunset=START + 200 * DAY,
    successor="https://sign.example.com/api/v2/things",
)


@pytest_asyncio.fixture(loop_scope="module")
async def leaving(served: World) -> AsyncIterator[World]:
    """The world with a list that will go."""
    served.endpoints = (replace(ENDPOINTS[0], deprecation=LEAVING), *ENDPOINTS[1:])
    served.renew(Config())
    yield served
    served.endpoints = ENDPOINTS
    served.renew(Config())


async def test_every_answer_of_what_will_go_says_since_when_until_when_and_what_instead(
    leaving: World,
) -> None:
    for query, status in (("", 200), ("?limit=0", 400)):
        seen = await leaving.ask("GET", f"{T}{query}")
        assert seen.status == status
        assert seen.headers["deprecation"] == f"@{START // 1000}"
        assert seen.headers["sunset"] == "Wed, 09 Jun 2027 00:00:00 GMT"
        assert 'rel="successor-version"' in seen.headers["link"]


async def test_what_stays_says_nothing_of_it(leaving: World) -> None:
    seen = await leaving.ask("GET", f"{T}/thg_1")
    assert seen.status == 200 and not {"deprecation", "sunset", "link"} & seen.headers.keys()


async def test_after_its_end_there_is_nothing_at_the_address(leaving: World) -> None:
    leaving.tools.clock.at = 200 * DAY / 1000 - 1
    assert (await leaving.ask("GET", T)).status == 200
    leaving.tools.clock.at += 1
    gone = await leaving.ask("GET", T)
    assert (gone.status, gone.code) == (404, "not_found") and "deprecation" not in gone.headers


async def test_the_description_says_so_too() -> None:
    endpoint = replace(ENDPOINTS[0], deprecation=LEAVING)
    found = openapi.describe([endpoint, ENDPOINTS[2]], version="1.0.0", server="/")["paths"]
    assert found[T]["get"]["deprecated"] is True
    assert "Deprecated since 2026-11-21, gone from 2027-06-09 on" in found[T]["get"]["description"]
    assert "deprecated" not in found[f"{T}/{{id}}"]["get"]


async def test_nothing_goes_within_half_a_year() -> None:
    assert Deprecation(START, "https://docs.example.com/").is_over(START + 9999 * DAY) is False
    with pytest.raises(ValueError, match="six months"):
        Deprecation(START, "https://docs.example.com/", sunset=START + 30 * DAY)
