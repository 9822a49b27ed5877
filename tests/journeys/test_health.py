"""`/healthz` and `/readyz`: for machines that watch, without a key and without secrets."""

import json
from typing import Any

from tests.fakes import FakeClock
from tests.journeys.site import Site


async def ask(site: Site, path: str, **headers: str) -> tuple[int, Any]:
    async with site.session.get(f"{site.base}{path}", headers=headers) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(await answer.read())


async def test_a_living_server_says_ok_and_nothing_more(site: Site) -> None:
    assert await ask(site, "/healthz") == (200, {"status": "ok"})


async def test_a_server_that_has_all_it_needs_is_ready_and_names_each_part(site: Site) -> None:
    parts = ("database", "storage", "signer", "mailer", "queue")
    assert await ask(site, "/readyz") == (200, {"status": "ok", "checks": dict.fromkeys(parts, "ok")})


async def test_whoever_watches_may_ask_by_any_host_name(site: Site) -> None:
    assert (await ask(site, "/healthz", Host="10.1.2.3"))[0] == 200
    assert (await ask(site, "/readyz", Host="anything.example"))[0] == 200


async def test_an_expired_seal_certificate_makes_a_server_unready(site: Site, clock: FakeClock) -> None:
    clock.advance(days=4000)
    status, said = await ask(site, "/readyz")
    assert (status, said["status"]) == (503, "failed")
    assert said["checks"]["signer"] == "seal certificate not valid"
    assert said["checks"]["database"] == "ok"


async def test_work_that_nobody_does_makes_a_server_unready(site: Site, clock: FakeClock) -> None:
    await site.api.sent()
    clock.advance(minutes=5)
    assert (await ask(site, "/readyz"))[0] == 200
    clock.advance(minutes=6)
    status, said = await ask(site, "/readyz")
    assert (status, said["checks"]["queue"]) == (503, "work is late")
