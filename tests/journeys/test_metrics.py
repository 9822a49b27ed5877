"""`/metrics`: who gets it, what it says after work was done, and that the board and the rules ask for what is there."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as parse_older_format
from starlette.responses import Response
from starlette.routing import Mount, Route

from esign.web.metrics import name_endpoints
from tests.fakes import FakeClock
from tests.journeys.program import configuration, esign
from tests.journeys.receiver import Receiver
from tests.journeys.site import JourneySite, a_site
from tests.ports import reserve_port

TOKEN = "a token that nobody guesses"
OPERATING = Path(__file__).parents[2] / "docs" / "operating"
OPEN_METRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}

Samples = dict[str, dict[tuple[str, ...], float]]


async def scrape(site: JourneySite, base: str | None = None) -> Samples:
    """What a scraper reads: by name, the values by their labels."""
    headers = OPEN_METRICS | {"Authorization": f"Bearer {TOKEN}"}
    async with site.session.get(f"{base or site.base}/metrics", headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        assert answer.headers["cache-control"] == "no-store"
        text = await answer.text()
    samples: Samples = {}
    for family in read_families(text):
        for sample in family.samples:
            assert tuple(sample.labels.values()) not in samples.get(sample.name, {}), sample
            samples.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return samples


def read_families(text: str) -> Iterator[Any]:
    yield from cast(Any, text_string_to_metric_families)(text)


def find_named_metrics(text: str) -> set[str]:
    return set(re.findall(r"\b(?:esign|process)_[a-z_]+[a-z]", text))


async def test_without_a_setting_there_are_no_metrics(site: JourneySite) -> None:
    async with site.session.get(f"{site.base}/metrics") as answer:
        assert answer.status == 404
    assert site.runtime.measures.requests.by_route == {}, "nothing is counted for nobody"


async def test_at_the_address_of_the_server_they_need_the_token(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock, metrics={"token": TOKEN}) as site:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            async with site.session.get(f"{site.base}/metrics", headers=headers) as answer:
                assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
                assert "esign_" not in await answer.text()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with site.session.post(f"{site.base}/metrics", headers=headers) as answer:
            assert answer.status == 405
        async with site.session.get(f"{site.base}/metrics", headers=headers) as answer:
            older = list(parse_older_format(await answer.text()))
        assert answer.headers["content-type"].startswith("text/plain"), (
            "a client without OpenMetrics reads it too"
        )
        assert {family.name for family in older} >= {"esign_queue_jobs", "process_resident_memory_bytes"}


async def test_they_follow_the_work_that_is_done(
    tmp_path: Path, clock: FakeClock, receiver: Receiver
) -> None:
    async with a_site(
        tmp_path / "data", clock, metrics={"token": TOKEN}, webhooks={"allow_private": True}
    ) as site:
        await site.api.webhook(receiver.url, "document.created", "document.completed")
        empty = await scrape(site)
        assert empty["esign_queue_jobs"] == {("seal",): 0, ("mail",): 0, ("webhook",): 0}
        assert set(empty["esign_check_ok"].values()) == {1}
        document = await site.api.send_document()
        clock.advance(seconds=90)
        waiting = await scrape(site)
        assert waiting["esign_queue_jobs"][("webhook",)] == 1
        assert waiting["esign_queue_jobs"][("mail",)] == 1
        assert waiting["esign_queue_oldest_seconds"][("mail",)] == 90
        assert waiting["esign_queue_late_seconds"][("webhook",)] == 90
        receiver.always(500)
        await site.work("webhook")
        receiver.always(200)
        await site.all_sign(document)
        clock.advance(seconds=30)
        signed = await scrape(site)
        assert signed["esign_unsealed_oldest_seconds"] == {(): 30}
        assert signed["esign_queue_jobs"][("seal",)] == 1
        await site.work()
        done = await scrape(site)
        assert done["esign_unsealed_oldest_seconds"] == {(): 0}
        assert done["esign_seals_total"] == {("made",): 1, ("failed",): 0, ("no_time_stamp",): 0}
        assert done["esign_seal_seconds_count"] == {(): 1}
        assert done["esign_mails_total"][("kept",)] >= 2
        assert done["esign_webhook_attempts_total"][("failed",)] == 1
        assert done["esign_webhook_attempts_total"][("delivered",)] >= 1
        assert done["esign_database_bytes"][()] > 100_000 and done["esign_disk_free_bytes"][()] > 0
        assert {name for (name,) in done["esign_certificate_left_seconds"]} == {"seal_live", "seal_test"}
        routes = {(method, route) for method, route, _ in done["esign_request_seconds_count"]}
        assert {
            ("POST", "/api/v1/documents/{id}/send"),
            ("GET", "/s/{token}"),
            ("GET", "/metrics"),
        } <= routes, routes
        assert document not in str(done), "no id is a label"


async def test_strangers_add_no_series(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock, metrics={"token": TOKEN}) as site:
        for path in (
            "/wp-login.php",
            "/.env",
            "/x/y/z",
            "/s/a-link-of-nobody",
            "/v1/nothing",
            "/assets/none.js",
        ):
            async with site.session.request("GET", f"{site.base}{path}"):
                pass
        async with site.session.request("PROPFIND", f"{site.base}/"):
            pass
        found = await scrape(site)
    labels = set(found["esign_request_seconds_count"])
    assert {method for method, _, _ in labels} <= {"GET", "POST", "other"}
    assert {route for _, route, _ in labels} <= {"other", "/", "/s/{token}"}, labels


async def test_on_a_port_of_their_own_they_are_only_there(tmp_path: Path) -> None:
    port = reserve_port()
    async with a_site(tmp_path / "data", working=True, metrics={"port": port}) as site:
        base = f"http://127.0.0.1:{port}"
        assert (await scrape(site, base))["esign_info"]
        for address in (f"{site.base}/metrics", f"{base}/healthz"):
            async with site.session.get(address) as answer:
                assert answer.status == 404


def test_a_port_of_the_metrics_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = esign("serve", "--config", configuration(tmp_path, f"[metrics]\nport = {port}"))
    assert ran.code == 2 and f"port {port}: Address already in use; set metrics.port" in ran.err


# ---------- the board and the rules ----------


def list_queries(board: Any) -> Iterator[str]:
    for panel in board["panels"]:
        assert panel["targets"], panel["title"]
        yield from (target["expr"] for target in panel["targets"])


async def test_the_board_and_the_rules_ask_only_for_what_there_is(tmp_path: Path, clock: FakeClock) -> None:
    async with a_site(tmp_path / "data", clock, metrics={"token": TOKEN}) as site:
        found = await scrape(site)
        async with site.session.get(
            f"{site.base}/metrics", headers=OPEN_METRICS | {"Authorization": f"Bearer {TOKEN}"}
        ) as answer:
            families = {family.name for family in read_families(await answer.text())}
    known = families | found.keys() | {f"{name}_total" for name in families}
    known |= {f"{name}_{end}" for name in families for end in ("bucket", "count", "sum")}
    board = json.loads((OPERATING / "grafana.json").read_text("utf-8"))
    asked = find_named_metrics("\n".join(list_queries(board)))
    rules = (OPERATING / "alerts.yml").read_text("utf-8")
    asked |= find_named_metrics("\n".join(re.findall(r"expr: (.*)", rules)))
    assert asked and asked <= known, asked - known
    told = find_named_metrics((OPERATING.parent / "operating.md").read_text("utf-8"))
    documented = {name for name in families if name.startswith("esign_")}
    assert documented <= {name.removesuffix("_total") for name in told}, (
        "a new metric needs its row in operating.md"
    )


def test_each_page_has_a_name_of_its_own() -> None:
    async def show(_: Any) -> Response:
        return Response()

    assert set(name_endpoints([Mount("/a", routes=[Route("/{id}", show)])]).values()) == {"/a/", "/a/{id}"}
