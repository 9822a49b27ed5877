"""Scheduled backups of a server that runs: due, missed, failed, told, and given up with the server."""

import os
import signal
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from esign.actions.server import scheduled_backups
from esign.core.instant import DAY, HOUR, MINUTE
from esign.jobs import back_up
from esign.store.server import backup_schedule
from esign.store.server.backup_schedule import BackupState
from tests.fakes import FakeClock
from tests.journeys.api import until
from tests.journeys.program import Program, configuration, esign
from tests.journeys.site import JourneySite, a_site

PASSPHRASE = "correct horse battery staple"


def set_up(target: Path) -> dict[str, Any]:
    """The settings of a server that backs itself up each hour."""
    return {"to": str(target), "passphrase": PASSPHRASE, "every_hours": 1, "full_every_hours": 1, "keep": 2}


def read_command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def read_environment(pid: int) -> bytes:
    """What other processes of its user can read of it; nothing where they may not."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return b""


async def read_state(site: JourneySite) -> BackupState:
    state = await backup_schedule.find(site.runtime.db)
    assert state is not None
    return state


async def read_warnings(site: JourneySite) -> list[str]:
    async with site.session.get(f"{site.base}/readyz") as answer:
        found = (await answer.json()).get("warnings", [])
    return [warning for warning in found if "backup" in warning]


async def test_backups_are_made_when_they_are_due_and_told_when_they_fail(
    tmp_path: Path, clock: FakeClock
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    async with a_site(tmp_path / "data", clock, backup=set_up(target)) as site:
        begun = clock.now()
        assert await back_up.tick(site.runtime) == 1, await read_state(site)
        assert await back_up.tick(site.runtime) == 0
        [first] = target.iterdir()
        state = await read_state(site)
        assert (state.name, state.made_at, state.failures) == (first.name, begun, 0)
        assert state.due_at == begun + 3_600_000

        clock.advance(hours=5, minutes=20)  # paused
        assert await back_up.tick(site.runtime) == 1 and await back_up.tick(site.runtime) == 0
        assert (await read_state(site)).due_at == begun + 6 * 3_600_000
        clock.advance(hours=1)
        assert await back_up.tick(site.runtime) == 1
        names = sorted(path.name for path in target.iterdir())
        assert len(names) == 2 and first.name not in names

        target.rename(tmp_path / "gone")
        waits = []
        for _ in range(3):
            clock.at = (await read_state(site)).due_at
            assert await back_up.tick(site.runtime) == 0
            waits.append((await read_state(site)).due_at - clock.now())
        assert waits == [300_000, 900_000, 3_600_000]
        state = await read_state(site)
        assert state.problem is not None and "there is no folder" in state.problem and state.failures == 3
        assert not await scheduled_backups.report_failures(site.runtime)
        clock.advance(hours=23)
        [warning] = await read_warnings(site)
        assert (
            "no good backup since" in warning and "3 tries failed" in warning and str(target) not in warning
        )
        await site.invite_owner("owner@example.test", "Ada")
        await site.runtime.db.write(
            lambda tx: tx.run("UPDATE member SET status = 'active' WHERE role = 'owner'")
        )
        assert await scheduled_backups.report_failures(site.runtime)
        assert not await scheduled_backups.report_failures(site.runtime)
        mails = await site.runtime.db.all("SELECT 1 FROM outbox WHERE key LIKE 'owners:backup_failed:%'")
        assert len(mails) == 1

        (tmp_path / "gone").rename(target)
        assert await back_up.tick(site.runtime) == 1
        assert await read_warnings(site) == [] and (await read_state(site)).failures == 0
        assert dict(site.runtime.measures.backups) == {"made": 4, "failed": 3}


async def test_a_backup_ends_with_its_server_and_is_made_by_the_next(tmp_path: Path) -> None:
    target, scratch = tmp_path / "target", tmp_path / "scratch"
    target.mkdir()
    scratch.mkdir()
    more = f'[backup]\nto = "{target}"\npassphrase = "{PASSPHRASE}"\nscratch = "{scratch}"'
    file = configuration(tmp_path, more)
    assert esign("keys", "create", "--name", "x", "--config", file).code == 0
    program = Program(file, env={"ESIGN_BACKUP__KEEP": "3"})
    await program.begin()

    async def find_process() -> int | None:
        for pid in program.children():
            with suppress(OSError):
                if b"--from-server" in read_command(pid):
                    return pid
        return None

    async def is_begun() -> bool | None:
        return any(scratch.iterdir()) or None

    async def is_made() -> bool | None:
        return any(path.suffix == ".backup" for path in target.iterdir()) or None

    async def is_cleared() -> bool | None:
        return not any(scratch.iterdir()) or None

    pid = await until(find_process, "the process of a backup")
    assert os.getpriority(os.PRIO_PROCESS, pid) >= 0
    await until(is_begun, "its folder")
    assert b"ESIGN_" not in read_environment(pid)
    os.kill(pid, signal.SIGSTOP)
    await program.kill()
    os.kill(pid, signal.SIGCONT)
    await until(is_cleared, "the end of a backup whose server is gone")
    await program.start()
    try:
        await until(is_made, "the next backup")
        await until(is_cleared, "its end")
    finally:
        assert await program.stop() == 0
    assert not any(path.name.startswith(".") for path in target.iterdir())
    newest = max(target.iterdir())
    opened = esign("restore", newest, "--data-dir", tmp_path / "back", "--config", file)
    assert opened.code == 0, opened.err


async def test_a_clock_that_was_ahead_neither_stops_backups_nor_hides_that_there_are_none(
    tmp_path: Path, clock: FakeClock
) -> None:
    target = tmp_path / "target"
    async with a_site(tmp_path / "data", clock, backup=set_up(target)) as site:
        db, settings, now = site.runtime.db, site.runtime.config.backup, clock.now()
        ahead = BackupState("0a1b2c3d", str(target), now - DAY, now + 400 * DAY, made_at=now + 399 * DAY)
        await db.write(lambda tx: backup_schedule.save(tx, ahead))
        assert await scheduled_backups.find_last(site.runtime) == now - DAY
        assert len(await read_warnings(site)) == 1
        assert await back_up.tick(site.runtime) == 0
        failed = await read_state(site)
        assert (failed.failures, failed.due_at) == (1, now + 5 * MINUTE)

        # A mail that goes out while a backup runs is not forgotten as that ends.
        await db.write(lambda tx: backup_schedule.note_mail(tx, now))
        await scheduled_backups.change_state(
            db, settings, failed, now, lambda stored, at: replace(stored, failures=2)
        )
        assert await read_state(site) == replace(failed, failures=2, mailed_at=now)

        await db.write(lambda tx: backup_schedule.save(tx, replace(ahead, made_at=None)))
        target.mkdir()
        assert await back_up.tick(site.runtime) == 1
        made = await read_state(site)
        assert (made.made_at, made.due_at) == (now, now + HOUR) and await read_warnings(site) == []


def test_a_restored_server_deletes_no_backups_of_the_one_before(tmp_path: Path) -> None:
    old, new, target = tmp_path / "old", tmp_path / "new", tmp_path / "target"
    for folder in (old, new, target):
        folder.mkdir()
    more = f'[backup]\nto = "{target}"\npassphrase = "{PASSPHRASE}"\nkeep = 1'
    lost, restored = configuration(old, more), configuration(new, more)
    assert esign("keys", "create", "--name", "x", "--config", lost).code == 0
    assert esign("backup", "--config", lost).code == 0
    [kept] = target.iterdir()
    opened = esign("restore", kept, "--config", restored)
    assert opened.code == 0 and f"stay in {target}" in opened.out, opened.err
    for number in (1, 2):
        made = esign("backup", "--config", restored)
        assert made.code == 0 and kept.exists(), made.err
        assert made.out.count("Deleted") == number - 1
    assert len([*target.iterdir()]) == 2

    doubt = "INSERT INTO clock_mark (id, at, elapsed, boot_id, doubt_since, doubt_ahead) VALUES (1, 1, 1, '', 1, 1)"
    with closing(sqlite3.connect(new / "data" / "esign.db", isolation_level=None)) as database:
        database.execute(doubt)
    made = esign("backup", "--config", restored)
    assert made.code == 0 and "Deleted" not in made.out and "the clock is in doubt" in made.err
    assert len([*target.iterdir()]) == 3
