"""The figures of docs/reliability.md in small, where no other test has the same."""

import random
from pathlib import Path

import pytest

from esign.store.engine.connections import FILE
from tests.every import choose
from tests.journeys.program import COMMAND
from tests.reliability import backups, full_disk, io_faults, kills, slow_clients, soak, stops
from tests.reliability.disk_trace import Disk, DiskOperation
from tests.reliability.power_cuts import FILES, WEAK, cut_power, record_load

CUTS, OPERATIONS = 6, 20
FIGURES = {
    "kills": (kills.run, ["--kills", "3", "--operations", "60"]),
    "io_faults": (io_faults.run, ["--runs", "6"]),
    "stops": (stops.run, ["--stops", "2"]),
    "full_disk": (full_disk.run, ["--rounds", "2"]),
    "slow_clients": (slow_clients.run, ["--slow", "100", "--silent", "20", "--seconds", "10"]),
    "backups": (backups.run, ["--backups", "2"]),
    "soak": (soak.run, ["--seconds", "30"]),
}


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
@pytest.mark.parametrize("name", choose(["stops"], [name for name in FIGURES if name != "stops"]))
async def test_each_figure_has_a_short_form(name: str) -> None:
    run, numbers = FIGURES[name]
    figure = await run(numbers)
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
