"""`esign keys rotate-app` and its relatives: beside a running server, stopped anywhere, and with the wrong key."""

import asyncio
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest
from click.testing import CliRunner

from esign.actions.server.exchange_app_key import ExchangeStep, KeyExchange, follow_exchange
from esign.cli import main
from esign.cli.app_key import hold_key_file
from esign.cli.check_beside import check_beside
from esign.runtime import Runtime
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database, Reader, Row
from esign.store.engine.locks import KeyLock
from esign.store.queue import kept_mail
from esign.store.queue.kept_mail import KeptMail
from esign.store.server import installation, key_exchange
from esign.store.server.key_exchange import STORED, ExchangeCount
from esign.system import app_key
from esign.system.app_key import KeySource
from esign.system.clock import SystemClock
from esign.system.privileges import find_account
from esign.system.vault import UnusableKey, Vault
from tests.journeys.api import Api, until
from tests.journeys.conftest import Demonstration
from tests.journeys.program import COMMAND, Program, Ran, configuration, esign

CODE = b"\x11" * 16 + b"1234"


@pytest.fixture
def config(demonstration: Demonstration, tmp_path: Path) -> Path:
    """An installation with a sealed document, webhooks and mails, and what the demonstration has none of."""
    file = configuration(tmp_path, "[limits]\nrequests_per_minute = 100000")
    [database] = demonstration.folder.rglob(FILE)
    shutil.copytree(database.parent, tmp_path / "data", ignore=shutil.ignore_patterns("pictures", "*.lock"))
    (tmp_path / "data").chmod(0o700)
    vault = Vault((tmp_path / "data" / "app.key").read_bytes())
    with closing(sqlite3.connect(tmp_path / "data" / FILE)) as connection:
        code = vault.compute_mac("access-code", CODE).hex()
        connection.execute("UPDATE recipient SET access_code = ?", (f"{CODE[:16].hex()}:{code}",))
        connection.execute(
            "INSERT INTO installation VALUES ('settings', ?)", (vault.encrypt("settings", b"{}"),)
        )
        connection.commit()
    return file


@asynccontextmanager
async def opened(config: Path) -> AsyncIterator[KeyExchange]:
    path = config.parent / "data" / FILE
    source = KeySource(path)
    async with open_for_command(path) as db:
        yield KeyExchange(db, source, app_key.read_or_make_key(source), None, SystemClock())


async def run_until(config: Path, last: ExchangeStep | None) -> None:
    """Run an exchange until a step is done, as if it were killed there."""
    async with opened(config) as exchange:
        steps = exchange.run()
        async for step in steps:
            if step is last:
                break
        await steps.aclose()  # type: ignore[attr-defined]


async def try_all(config: Path, key: bytes) -> ExchangeCount:
    """Read everything that is stored with one key alone."""
    count = ExchangeCount()
    async with open_for_command(config.parent / "data" / FILE) as db:
        for secret in STORED:
            place = None
            while rows := await key_exchange.find_rows(db, secret, place):
                list(key_exchange.find_changes(secret, Vault(key), rows, count))
                place = [rows[-1][name] for name in secret.keys]
    return count


def read_key(config: Path) -> bytes:
    return (config.parent / "data" / "app.key").read_bytes()


def command(config: Path, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Ran:
    """Run a command in this process, which takes a tenth of the time of another."""
    ended = CliRunner().invoke(main, [*map(str, arguments), "--config", str(config)], env=env)
    return Ran(ended.exit_code, ended.stdout, ended.stderr)


def assert_code(config: Path) -> None:
    """The access code of each recipient is still the same."""
    vault = Vault(read_key(config))
    with closing(sqlite3.connect(config.parent / "data" / FILE)) as connection:
        kept = [code.partition(":")[2] for (code,) in connection.execute("SELECT access_code FROM recipient")]
    assert kept
    for mac in map(bytes.fromhex, kept):
        assert vault.is_stored_mac("access-code", CODE, mac)
        assert not vault.is_stored_mac("access-code", CODE + b"5", mac)


def assert_works(config: Path) -> None:
    for words in (("check",), ("verify-audit", "--chains"), ("keys", "list"), ("outbox",)):
        ran = command(config, *words)
        assert ran.code == 0, (words, ran)


def test_an_exchange_leaves_nothing_of_the_old_key(config: Path) -> None:
    old = read_key(config)
    part = config.parent / "data" / ".app.key.4000000.part"
    part.write_bytes(old)
    before = asyncio.run(try_all(config, old))
    assert before.read > 10 and before.unreadable == 0
    with (config.parent / "data" / "app.key").open("rb") as held:
        ran = command(config, "keys", "rotate-app")
        assert ran.code == 0 and "none needs the old key" in ran.err, ran
        assert held.read() == bytes(32)
    assert not part.exists()
    new = read_key(config)
    assert new != old and stat.S_IMODE((config.parent / "data" / "app.key").stat().st_mode) == 0o600
    after = asyncio.run(try_all(config, new))
    assert (after.unreadable, after.renewed, after.wrapped) == (0, 0, 0) and after.read >= before.read
    left = asyncio.run(try_all(config, old))
    assert left.unreadable == left.read
    assert_works(config)
    with closing(sqlite3.connect(config.parent / "data" / FILE)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM installation")}
        entries = connection.execute(
            "SELECT type, actor_kind, personal, data FROM audit WHERE type LIKE 'app_key.%' ORDER BY seq"
        ).fetchall()
    assert [entry[0] for entry in entries] == ["app_key.exchange_begun", "app_key.exchanged"]
    assert all("command line" in str(entry) and find_account() in str(entry) for entry in entries)
    assert not any(key.hex() in str(entries) or repr(key) in str(entries) for key in (old, new))
    assert not names & {installation.NEXT, installation.PREVIOUS, installation.ADOPTED}
    assert_code(config)
    again = command(config, "keys", "rotate-app")
    assert again.code == 0 and read_key(config) != new
    assert (asyncio.run(try_all(config, read_key(config)))).unreadable == 0
    assert_code(config)


@pytest.mark.parametrize("step", [each for each in ExchangeStep if each is not ExchangeStep.HANDED_OUT])
async def test_an_exchange_that_is_stopped_goes_on(config: Path, step: ExchangeStep) -> None:
    old = read_key(config)
    await run_until(config, step)
    async with opened(config) as exchange:
        await installation.confirm_key(exchange.db, exchange.vault)
        assert exchange.vault.is_exchanging is (step is not ExchangeStep.ENDED)
        for secret in STORED:
            rows = await key_exchange.find_rows(exchange.db, secret, None)
            list(key_exchange.find_changes(secret, exchange.vault, rows, exchange.count))
        assert exchange.count.unreadable == 0
    await run_until(config, None)
    assert read_key(config) != old
    assert (await try_all(config, read_key(config))).unreadable == 0
    async with opened(config) as exchange:
        await installation.confirm_key(exchange.db, exchange.vault)
        assert not exchange.vault.is_exchanging


async def test_a_running_server_follows_and_fails_no_request(config: Path) -> None:
    made = await asyncio.to_thread(command, config, "keys", "create", "--name", "asks")
    program = Program(config)
    await program.start()
    failed: list[object] = []
    asked = 0
    ended = asyncio.Event()
    async with aiohttp.ClientSession() as session:
        api = Api(session, program.base, made.out.strip())
        hook = {"url": "https://example.org/hook", "events": ["document.sent"]}
        first = await api.call("GET", "/documents?limit=1")
        cursor = first.body.get("nextCursor")

        async def ask() -> None:
            nonlocal asked
            while not ended.is_set():
                key = f"k{asked}"
                asked += 1
                created = await api.call("POST", "/webhooks", hook, idempotency_key=key)
                again = await api.call("POST", "/webhooks", hook, idempotency_key=key)
                listed = await api.call(
                    "GET", f"/documents?limit=1&cursor={cursor}" if cursor else "/documents"
                )
                gone = await api.call("DELETE", f"/webhooks/{created.body['id']}")
                wrong = [each for each in (created, again, listed, gone) if each.status >= 300]
                if wrong or created.content != again.content:
                    failed.append([(each.status, each.content) for each in (created, again, listed, gone)])
                    return

        asking = asyncio.create_task(ask())
        ran = await asyncio.to_thread(command, config, "keys", "rotate-app")
        assert ran.code == 0, (ran, program.said)
        begun = asked

        async def went_on() -> bool | None:
            return asked >= begun + 3 or asking.done() or None

        await until(went_on, "more requests")
        ended.set()
        await asking
        replayed = await api.call("POST", "/webhooks", hook, idempotency_key="k0")
        assert replayed.headers.get("Idempotent-Replayed") == "true", replayed
    assert not failed and asked > begun > 3
    assert "a new application key is used" in program.said
    await program.kill()
    assert (await try_all(config, read_key(config))).unreadable == 0
    await program.start()
    assert await program.stop() == 0
    await asyncio.to_thread(assert_works, config)


async def test_a_start_that_read_the_file_before_an_exchange_ended_reads_it_again(config: Path) -> None:
    source = KeySource(config.parent / "data" / FILE)
    early = app_key.open_vault(source)
    await run_until(config, None)
    async with opened(config) as exchange:
        vault = await installation.confirm_key(exchange.db, early, lambda: app_key.open_vault(source))
        assert vault.compute_mac("x", b"y") == Vault(read_key(config)).compute_mac("x", b"y")
        with pytest.raises(UnusableKey, match="is not the key that"):
            await installation.confirm_key(exchange.db, Vault(bytes(32)), lambda: Vault(bytes(32)))


class EndingReader:
    """Reads a database in which an exchange ends after the first query."""

    def __init__(self, db: Database, next_key: bytes) -> None:
        self.db, self.next_key = db, next_key

    async def one(self, query: str, **values: object) -> Row | None:
        found = await self.db.one(query, **values)
        await self._end()
        return found

    async def all(self, query: str, **values: object) -> list[Row]:
        found = await self.db.all(query, **values)
        await self._end()
        return found

    async def _end(self) -> None:
        await self.db.write(lambda tx: key_exchange.end(tx, Vault(self.next_key)))


@pytest.mark.parametrize("is_old", [True, False])
async def test_an_exchange_that_ends_while_it_is_looked_at_gives_no_half_answer(
    config: Path, is_old: bool
) -> None:
    present, following = read_key(config), b"1" * 32
    async with opened(config) as exchange:
        await installation.confirm_key(exchange.db, exchange.vault)
        await exchange.db.write(lambda tx: key_exchange.begin(tx, Vault(present), following, present))
        reader = cast(Reader, EndingReader(exchange.db, following))
        vault = await installation.join_exchange(reader, Vault(present if is_old else following))
        assert vault.compute_mac("x", b"y") == Vault(following).compute_mac("x", b"y")
        assert vault.is_exchanging


async def test_a_batch_is_bound_by_bytes_as_well_as_by_rows(config: Path) -> None:
    sizes = {
        f"mail_{n}": size for n, size in enumerate((300, 900_000, 900_000, 900_000, 5_000_000, 300, 300))
    }
    vault, [secret] = (
        Vault(read_key(config)),
        [each for each in STORED if (each.table, each.column) == ("kept_mail", "content")],
    )
    async with opened(config) as exchange:
        async with open_for_command(config.parent / "data" / FILE) as db:
            for id, size in sizes.items():
                kept = KeptMail(id, id, "a", "b", vault.encrypt("mail", bytes(size), id.encode()), 1)
                await db.write(lambda tx, kept=kept: kept_mail.keep(tx, kept))  # type: ignore[misc]
            place, batches = None, list[list[int]]()
            while rows := await key_exchange.find_rows(db, secret, place):
                assert set(rows[0].keys()) == {"id", "content"}
                batches.append([len(row["content"]) for row in rows])
                place = [rows[-1]["id"]]
        assert sum(map(len, batches)) >= len(sizes)
        assert all(len(batch) == 1 or sum(batch) <= key_exchange.BATCH_BYTES for batch in batches)
        assert len(batches) == 4
        async for _ in exchange.run():
            pass
    assert (await try_all(config, read_key(config))).unreadable == 0


async def test_a_command_that_is_killed_is_run_again(config: Path) -> None:
    program = Program(config)
    await program.start()
    for seconds in (1.5, 4.0):
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "keys", "rotate-app", "--config", config, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
    assert (await asyncio.to_thread(command, config, "keys", "rotate-app")).code == 0
    assert await program.stop() == 0
    assert (await try_all(config, read_key(config))).unreadable == 0
    await asyncio.to_thread(assert_works, config)


def test_a_key_that_cannot_be_written_is_put_in_place_by_hand(config: Path) -> None:
    safe = config.parent / "credentials"
    safe.mkdir()
    key = safe / "app.key"
    (config.parent / "data" / "app.key").rename(key)
    environment = {"CREDENTIALS_DIRECTORY": str(safe)}
    assert command(config, "keys", "list").code == 2
    assert command(config, "keys", "list", env=environment).code == 0
    refused = command(config, "keys", "rotate-app", env=environment)
    assert refused.code == 2 and "--new-key FILE" in refused.err, refused
    new = config.parent / "new.key"
    handed = command(config, "keys", "rotate-app", "--new-key", new, env=environment)
    assert handed.code == 0 and len(new.read_bytes()) == 32, handed
    assert f"systemd-creds encrypt --name=app.key {new} FILE" in handed.err, handed
    assert f"Put the new key where esign reads its key from: {key}" not in handed.err
    assert command(config, "verify-audit", "--chains", env=environment).code == 0
    new.unlink()
    again = command(config, "keys", "rotate-app", "--new-key", new, env=environment)
    assert again.code == 0 and new.exists(), again
    old = key.read_bytes()
    shutil.copyfile(new, key)
    assert command(config, "verify-audit", "--chains", env=environment).code == 0
    ended = command(config, "keys", "rotate-app", env=environment)
    assert ended.code == 0 and "was exchanged" in ended.err, ended
    assert (asyncio.run(try_all(config, new.read_bytes()))).unreadable == 0
    key.write_bytes(old)
    wrong = command(config, "keys", "list", env=environment)
    assert wrong.code == 2 and "belongs to the key of its time" in wrong.err, wrong


def test_backups_from_before_and_after_need_the_key_of_their_time(config: Path) -> None:
    data = config.parent / "data"
    shutil.copytree(data, config.parent / "before")
    assert command(config, "keys", "rotate-app").code == 0
    for key, database in (("before", "data"), ("data", "before")):
        mixed = config.parent / "mixed"
        shutil.copytree(config.parent / database, mixed)
        shutil.copyfile(config.parent / key / "app.key", mixed / "app.key")
        ran = command(config, "keys", "list", env={"ESIGN_STORAGE__DATA_DIR": str(mixed)})
        assert ran.code == 2 and "app.key is not the key that" in ran.err, ran
        shutil.rmtree(mixed)


def test_a_passphrase_protects_the_key_and_is_needed_by_all(config: Path) -> None:
    words = config.parent / "words"
    words.write_text("a long passphrase\n")
    given = {"ESIGN_STORAGE__KEY_PASSPHRASE_FILE": str(words)}
    key = read_key(config)
    assert command(config, "keys", "protect-app", env=given).code == 0
    assert key not in read_key(config)
    refused = command(config, "keys", "list")
    assert refused.code == 2 and "is protected by a passphrase, and none is given" in refused.err
    served = esign("serve", "--config", config)
    assert served.code == 2 and "is protected by a passphrase, and none is given" in served.err
    wrong = command(config, "keys", "list", env={"ESIGN_STORAGE__KEY_PASSPHRASE": "another one"})
    assert wrong.code == 2 and "the passphrase does not open" in wrong.err
    assert command(config, "verify-audit", "--chains", env=given).code == 0
    assert command(config, "keys", "rotate-app", env=given).code == 0
    assert command(config, "keys", "list").code == 2
    assert command(config, "keys", "unprotect-app", env=given).code == 0
    assert len(read_key(config)) == 32 and read_key(config) != key
    assert_works(config)


@pytest.mark.parametrize("to", ["a file", "the target of the settings"])
def test_a_backup_of_a_protected_key_asks_for_its_passphrase_first(config: Path, to: str) -> None:
    target = config.parent / "backups"
    target.mkdir()
    with config.open("a") as file:
        file.write(f'\n[backup]\nto = "{target}"\npassphrase = "correct horse battery staple"\n')
    given = {"ESIGN_STORAGE__KEY_PASSPHRASE": "a long passphrase"}
    assert command(config, "keys", "protect-app", env=given).code == 0
    call = ["backup", *([str(target / "made.backup")] if to == "a file" else [])]
    for env, said in (
        ({}, "is protected by a passphrase, and none is given"),
        ({"ESIGN_STORAGE__KEY_PASSPHRASE": "another passphrase"}, "the passphrase does not open"),
    ):
        refused = esign(*call, "--config", config, env=env)
        assert refused.code == 2 and said in refused.err and "esign-backup" not in refused.err, refused
        assert [*target.iterdir()] == []
    made = esign(*call, "--config", config, env=given)
    assert made.code == 0 and "read back and checked" in made.out, made
    with closing(sqlite3.connect(config.parent / "data" / FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE webhook SET secret = x'00'")
    renamed = [each.replace("made", "damaged") for each in call]
    damaged = esign(*renamed, "--config", config, env=given)
    assert damaged.code == 5 and "its secret cannot be decrypted" in damaged.err, "the key was used"


@pytest.mark.parametrize("step", [each for each in ExchangeStep if each is not ExchangeStep.HANDED_OUT])
async def test_a_copy_made_during_an_exchange_is_whole(config: Path, step: ExchangeStep) -> None:
    await run_until(config, step)
    found: dict[str, list[str]] = {}
    for name, large in (("in a process", 0), ("here", 2**40)):
        copy = config.parent / name
        shutil.copytree(config.parent / "data", copy)

        def check(copy: Path = copy, large: int = large) -> list[str]:
            with check_beside(copy, KeySource(copy / FILE), large) as wait:
                return wait()

        found[name] = await asyncio.to_thread(check)
    assert found == {"in a process": [], "here": []}


def test_a_trail_that_was_changed_stays_changed(config: Path) -> None:
    with closing(sqlite3.connect(config.parent / "data" / FILE)) as connection:
        connection.execute("UPDATE audit_head SET mac = zeroblob(32) WHERE document_id LIKE 'doc_%'")
        connection.commit()
    ran = command(config, "keys", "rotate-app")
    assert ran.code == 0 and "could be read with neither key" in ran.err, ran
    assert "BROKEN" in (command(config, "verify-audit", "--chains")).out


def test_an_exchange_does_not_begin_beside_a_command(config: Path) -> None:
    with closing(KeyLock(config.parent / "data")) as lock:
        lock.share()
        ran = command(config, "keys", "rotate-app")
    assert ran.code == 2 and "another command of esign works on this database" in ran.err


async def test_a_file_of_another_key_is_refused(config: Path) -> None:
    new = config.parent / "new.key"
    new.write_bytes(b"short")
    for sentence in ("is there already; name a new file", "is not the new key of this exchange"):
        async with opened(config) as exchange:
            exchange.new_file = new
            with pytest.raises(UnusableKey, match=sentence):
                async for _ in exchange.run():
                    pass
        await run_until(config, ExchangeStep.BEGUN)


def test_a_key_that_was_exchanged_meanwhile_is_not_brought_back(config: Path) -> None:
    """Somebody types a passphrase for a while, and another command exchanges the key."""
    source = KeySource(config.parent / "data" / FILE)
    before = app_key.read_file(source)
    assert command(config, "keys", "rotate-app").code == 0
    with pytest.raises(SystemExit), hold_key_file(source, before):
        raise AssertionError("the old key would be written")
    with (
        hold_key_file(source, read_key(config)),
        pytest.raises(SystemExit),
        hold_key_file(source, read_key(config)),
    ):
        raise AssertionError("two commands at once")


async def test_a_server_that_misses_the_end_of_an_exchange_follows_the_next(config: Path) -> None:
    data = config.parent / "data"
    async with open_for_command(data / FILE) as db:
        vault = Vault(read_key(config))
        await installation.confirm_key(db, vault)
        runtime = cast(Runtime, SimpleNamespace(db=db, vault=vault, clock=SystemClock(), boot="b"))
        keys = [read_key(config), b"1" * 32, b"2" * 32]
        for present, following in pairwise(keys):
            await db.write(lambda tx, a=present, b=following: key_exchange.begin(tx, Vault(a), b, a))  # type: ignore[misc]
            assert await follow_exchange(runtime) == 1 and await follow_exchange(runtime) == 0
            assert vault.compute_mac("x", b"y") == Vault(following).compute_mac("x", b"y")
            adopted = await installation.find(db, installation.ADOPTED)
            assert adopted and adopted.endswith(installation.compute_key_mac(Vault(following)))
            await db.write(lambda tx, b=following: key_exchange.end(tx, Vault(b)))  # type: ignore[misc]
