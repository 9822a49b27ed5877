"""Anchors of the audit trails: made once a day, delivered, and what they show of tampering (T25)."""

from pathlib import Path

from esign.actions.server import anchoring
from esign.core.document.anchor import read_file
from esign.jobs import anchor
from esign.store.server import anchors
from tests.fakes import FakeClock
from tests.journeys.site import a_site
from tests.reliability import audit_tampering
from tests.tsa import granting, saying, stamping


async def test_every_tampering_is_found(tmp_path: Path) -> None:
    tally = await audit_tampering.tamper(tmp_path, 39, 7)
    assert tally.tried.total() == 39 and not tally.missed.total()
    assert not tally.by_chains["flip"], "only the anchors show what was chained anew with app.key"


async def test_an_anchor_is_made_once_a_day_and_waits_for_the_authority(
    tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "kept").mkdir()
    audit = {"anchor_to": [tmp_path / "kept"]}
    async with (
        stamping(now=clock.now) as tsa,
        a_site(tmp_path / "data", clock, seal={"tsa_urls": [tsa.url]}, audit=audit) as site,
    ):
        await site.api.create()
        assert await anchor.tick(site.runtime) == 0, "not on the day of the installation"
        clock.advance(days=5)
        tsa.how = saying(b"", 503)
        assert await anchor.tick(site.runtime) == 0 and not [*(tmp_path / "kept").iterdir()]
        tsa.how = granting()
        clock.advance(minutes=5)
        assert [await anchor.tick(site.runtime) for _ in range(2)] == [1, 0], "one, however many days"
        [file] = (tmp_path / "kept").iterdir()
        assert read_file(file.read_bytes()) == await anchors.find(site.runtime.db, 1)
        await site.api.create()
        clock.advance(days=1)
        blocked = tmp_path / "kept" / file.name.replace("000001", "000002")
        blocked.write_bytes(b"another")
        assert await anchor.tick(site.runtime) == 1 and blocked.read_bytes() == b"another"
        [told] = (await (await site.session.get(f"{site.base}/readyz")).json())["warnings"]
        assert "anchor" in told
        blocked.unlink()
        await anchor.tick(site.runtime)
        assert read_file(blocked.read_bytes()).statement.number == 2
        assert await anchoring.list_warnings(site.runtime) == []
