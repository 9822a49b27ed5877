"""The figures of docs/reliability.md in small, where no other test has the same."""

import random
from pathlib import Path

import pytest

from esign.store.engine.connections import FILE
from tests.every import choose
from tests.journeys.program import COMMAND
from tests.reliability.__main__ import FIGURES
from tests.reliability.disk_trace import Disk, DiskOperation
from tests.reliability.power_cuts import FILES, WEAK, cut_power, record_load

CUTS, OPERATIONS = 6, 20
SHORT: dict[str, list[str]] = {
    "kills": ["--kills", "3", "--operations", "60"],
    "io_faults": ["--runs", "6"],
    "stops": ["--stops", "2"],
    "full_disk": ["--rounds", "2"],
    "slow_clients": ["--slow", "100", "--silent", "20", "--seconds", "10"],
    "workers": ["--kills", "5", "--rounds", "2"],
    "seal_outages": ["--days", "1", "--documents", "3"],
    "exchange_kills": ["--kills", "2"],
    "upgrades": ["--schemas", "2", "--documents", "200", "--kills", "4"],
    "backups": ["--backups", "2"],
    "soak": ["--seconds", "30"],
    "races": ["--rounds", "3"],
    "same_request": ["--keys", "10", "--times", "10", "--kills", "1"],
    "webhooks": ["--documents", "20", "--kills", "1"],
    "mail_outage": ["--documents", "6"],
    "forbidden_addresses": [],
    "clock_steps": ["--seconds", "8"],
    "downtime": ["--documents", "60", "--mails", "20"],
    "link_scanners": ["--times", "1"],
    "guesses": ["--keys", "200", "--links", "100", "--codes", "20", "--passwords", "100", "--seconds", "20"],
    "browser_security": [],
}
USUAL = ("stops", "forbidden_addresses")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "loses"), choose([(COMMAND, False)], [(WEAK, True)]))
async def test_a_power_cut_takes_nothing_that_was_answered_unless_commits_are_not_synced(
    tmp_path: Path, command: tuple[str, ...], loses: bool
) -> None:
    entries, operations, base = await record_load(tmp_path, command, OPERATIONS, 1)
    states, lossy, findings = await cut_power(tmp_path, base, operations, entries, CUTS, 1)
    assert (states > 0, lossy > 0) == (True, loses), findings
    assert loses or not findings


@pytest.mark.slow
@pytest.mark.parametrize("name", choose(USUAL, [name for name in SHORT if name not in USUAL]))
async def test_each_figure_has_a_short_form(name: str) -> None:
    figure = await FIGURES[name](SHORT[name])
    assert figure.findings == 0, figure.describe()


def a_write(data: bytes, offset: int = 0) -> DiskOperation:
    return DiskOperation("write", FILE, offset, data)


@pytest.mark.parametrize("variant", ["dropped", "random", "torn"])
def test_what_was_synced_lasts_and_what_was_written_since_may_not(tmp_path: Path, variant: str) -> None:
    """The model of the disk: a sync counts for the writes before it began, once it has returned."""
    base = tmp_path / "base"
    base.mkdir()
    (base / FILE).write_bytes(bytes(8192))
    disk = Disk(base, FILES)
    for operation in (
        a_write(b"a" * 4096),
        DiskOperation("sync", FILE, thread="7"),
        a_write(b"b" * 4096, 4096),
        DiskOperation("synced", FILE, thread="7"),
    ):
        disk.play(operation)
    seen = set()
    for seed in range(20):
        folder = tmp_path / f"{variant}{seed}"
        disk.leave(folder, variant, random.Random(seed))
        content = (folder / FILE).read_bytes()
        assert content[:4096] == b"a" * 4096
        seen.add(content[4096:])
    assert (len(seen) > 1) == (variant != "dropped")
    assert variant != "dropped" or seen == {bytes(4096)}
