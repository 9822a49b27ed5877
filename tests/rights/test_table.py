"""The tables name every operation that the program has, and nothing else."""

from pathlib import Path

from starlette.routing import Route

from esign.app import make_page_routes
from esign.core.people.api_key import Scope
from esign.web import health
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.http.ratelimit import Uploads
from esign.web.office.routes import TABLE
from esign.web.rest import V1
from tests.journeys.site import a_site
from tests.rights.table import API, LINK, OFFICE, OPEN, OPENED_BY, SCOPES, WITHOUT_SCOPE


def test_every_endpoint_of_the_api_has_its_line() -> None:
    assert {f"{one.method} {one.path.removeprefix(V1)}" for one in ENDPOINTS} == API.keys()
    assert SCOPES.keys() == {scope.value for scope in Scope} - {Scope.ALL.value}
    known = SCOPES.keys() | WITHOUT_SCOPE.keys() | {"key", "public"}
    assert {row.words[0] for row in API.values()} <= known


def test_every_line_of_the_office_has_its_line() -> None:
    assert {f"{one.method} {one.path}" for one in TABLE} == OFFICE.keys()
    assert {row.words[0] for row in OFFICE.values()} <= OPENED_BY.keys() | {"anybody", "half"}
    assert {word for row in OFFICE.values() for word in row.words[1:]} <= {"password", "code", "each"}


async def test_every_other_address_stands_behind_a_link_or_is_open_to_all(tmp_path: Path) -> None:
    async with a_site(tmp_path / "data") as site:
        routes = [*make_page_routes(site.runtime, Uploads()), *health.Liveness().routes, *health.routes]
    known = {row.path for row in (*OFFICE.values(), *LINK.values())} | OPEN
    # what is not in the table is refused below the beginnings of the office (tests/web/office/frame/test_missing_pages)
    refused = {
        f"/{path.split('/')[1]}/{{rest:path}}" for path in {row.path for row in OFFICE.values()} - {"/"}
    }
    assert {route.path for route in routes if isinstance(route, Route)} == known | refused
    assert len(routes) == sum(isinstance(route, Route) for route in routes)
    behind = {
        f"{method} {route.path}"
        for route in routes
        if isinstance(route, Route) and route.path.startswith("/s/")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert behind == LINK.keys()
