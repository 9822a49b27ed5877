"""`esign restore`: what was there is there again, and nothing that may have been sent since goes out by itself."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import aiohttp

from tests.journeys.api import until
from tests.journeys.program import Program, configuration, esign, meanwhile
from tests.journeys.site import a_site

PASSPHRASE = {"ESIGN_BACKUP__PASSPHRASE": "correct horse battery staple"}


def query(data: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(data / "esign.db")) as database:
        return database.execute(sql).fetchall()


async def test_what_may_have_been_sent_since_is_held_back(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    async with a_site(old / "data") as site:
        unsealed = await site.api.send_document()
        await site.all_sign(unsealed)
        await site.api.webhook("http://127.0.0.1:19999/hook", "document.sent")
        waiting = await site.api.send_document()
        config = configuration(old)
        made = await meanwhile("backup", "copy", "--config", config, cwd=old, env=PASSPHRASE)
        assert made.code == 0, made.err
        assert await site.api.status(unsealed) == "sealing"

    there = configuration(new)
    ran = esign("restore", "../old/copy", "--config", there, cwd=new, env=PASSPHRASE)
    assert ran.code == 0, ran.err
    assert "documents: 2 (completed: 0), organisations: 1, users: 0." in ran.out
    assert f"  webhook document.sent to 127.0.0.1, {waiting}, since 20" in ran.out
    assert (
        re.search(r"  mail [a-z]+ to a•••[a-z]?@[a-z.]+, doc_", ran.out)
        and f", {waiting}, since 20" in ran.out
    )
    assert f"\n  {unsealed}\n" in ran.out and "two different files" in ran.out
    assert query(new / "data", "SELECT count(*) FROM outbox WHERE state = 'pending'") == [(0,)]
    for name in ("app.key", "seal.key.pem"):
        if (old / "data" / name).exists():
            assert (new / "data" / name).stat().st_mode & 0o777 == 0o600
    assert (new / "data" / "app.key").read_bytes() == (old / "data" / "app.key").read_bytes()

    program = Program(there)
    await program.start()
    try:
        async with aiohttp.ClientSession() as session:

            async def read_warnings() -> list[str]:
                async with session.get(f"{program.base}/readyz") as answer:
                    found: list[str] = json.loads(await answer.read()).get("warnings", [])
                    return found

            held = [line for line in await read_warnings() if "restored from a backup of" in line]
            assert len(held) == 1 and "esign restore --resume" in held[0]
            states = "SELECT kind, state FROM outbox WHERE state <> 'done' ORDER BY kind"
            assert ("seal", "held") in query(new / "data", states)
            resumed = await meanwhile("restore", "--resume", "--config", there)
            assert resumed.code == 0 and "are sent now" in resumed.out and unsealed in resumed.out

            async def sent() -> bool | None:
                left = query(new / "data", "SELECT 1 FROM outbox WHERE kind = 'mail' AND state <> 'done'")
                return not left or None

            await until(sent, "the mails that were held back")
            assert ("seal", "held") in query(new / "data", states)
            assert [line for line in await read_warnings() if "1 document held back, unsealed" in line]
            again = await meanwhile("restore", "--resume", "--seal-anew", "--config", there)
            assert again.code == 0 and "1 documents are sealed anew" in again.out

            async def sealed() -> bool | None:
                done = query(new / "data", "SELECT 1 FROM document WHERE status = 'completed'")
                return bool(done) or None

            await until(sealed, "the seal that was held back")
    finally:
        await program.stop()
    assert esign("restore", "--resume", "--config", there).out == "Nothing is held back.\n"


def test_a_restore_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    assert esign("keys", "create", "--name", "x", "--config", config).code == 0
    assert esign("backup", "copy", "--config", config, cwd=tmp_path, env=PASSPHRASE).code == 0
    whole = (tmp_path / "copy").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "bit").write_bytes(whole[:200_000] + bytes([whole[200_000] ^ 1]) + whole[200_001:])
    (tmp_path / "none").write_bytes(b"no backup")
    empty = tmp_path / "empty"
    empty.mkdir(0o700)
    wrong = {"ESIGN_BACKUP__PASSPHRASE": "another passphrase"}
    cases: list[tuple[str, dict[str, str], int, str]] = [
        ("cut", PASSPHRASE, 2, "the backup is damaged: "),
        ("bit", PASSPHRASE, 2, "the backup is damaged: "),
        ("none", PASSPHRASE, 2, "it is no backup of esign"),
        ("copy", wrong, 2, "the passphrase is not the one that it was made with"),
        ("copy", {}, 2, "set backup.passphrase, or type it at a terminal"),
        ("gone", PASSPHRASE, 2, "gone: No such file"),
    ]
    for name, env, code, sentence in cases:
        for folder in (empty, tmp_path / "absent"):
            ran = esign("restore", name, "--config", config, "--data-dir", folder, cwd=tmp_path, env=env)
            assert (ran.code, ran.out) == (code, "") and sentence in ran.err, (name, ran)
    assert list(empty.iterdir()) == [] and not (tmp_path / "absent").exists()
    before = query(tmp_path / "data", "SELECT name FROM api_key")
    full = esign("restore", "copy", "--config", config, cwd=tmp_path, env=PASSPHRASE)
    assert full.code == 2 and "is not empty, it holds app.key, esign.db" in full.err
    assert query(tmp_path / "data", "SELECT name FROM api_key") == before


def test_the_configuration_comes_back_where_there_is_none(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    assert esign("keys", "create", "--name", "x", "--config", config).code == 0
    assert esign("backup", "copy", "--config", config, cwd=tmp_path, env=PASSPHRASE).code == 0
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "secret").write_text(f"{PASSPHRASE['ESIGN_BACKUP__PASSPHRASE']}\n")
    file = {"ESIGN_BACKUP__PASSPHRASE_FILE": "secret"}
    ran = esign("restore", "../copy", "--config", "esign.toml", cwd=tmp_path / "there", env=file)
    assert ran.code == 0 and "esign.toml was written as it is in the backup." in ran.out
    assert (tmp_path / "there" / "esign.toml").read_bytes() == config.read_bytes()
    assert query(tmp_path / "there" / "data", "SELECT name FROM api_key") == [("x",)]
