"""Starts that fail on a bad machine: each ends with the sentence and the code that docs/failed-starts.md lists."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from esign.cli import main
from esign.core.instant import HOUR, MINUTE
from esign.store.engine.connections import FILE
from esign.store.engine.locks import WriteLock, server_lock
from esign.system.app_key import protect
from esign.system.vault import write_once
from tests.journeys.api import until
from tests.journeys.program import ALL_OK, COMMAND, Program, Ran, configuration, esign, meanwhile
from tests.pristine import lay_database

PAGE = Path(__file__).parents[2] / "docs" / "failed-starts.md"
ROW = re.compile(r"^\| `(.+?)` \| (\d+) \|", re.MULTILINE)
ROWS = {sentence: int(code) for sentence, code in ROW.findall(PAGE.read_text("utf-8"))}


def matches(sentence: str, said: str) -> bool:
    """Whether this is the sentence of the page, whatever stands for its `…`."""
    pattern = ".*".join(re.escape(part) for part in sentence.split("…"))
    return re.fullmatch(pattern, said) is not None


def find_rows(ran: Ran) -> set[str]:
    """The rows of the page that tell of this end."""
    said = [line.removeprefix("esign: ") for line in ran.err.splitlines()]
    return {sentence for sentence in ROWS if any(matches(sentence, line) for line in said)}


@dataclass(frozen=True)
class BadStart:
    """`row` is how the sentence of the page begins or ends, `code` the exit code if it is not that of the row.

    `spoil` changes the data folder of an installation that worked. `here` runs the command in this process; otherwise
    `script` prepares a machine of its own, in which `$data` is the data folder.
    """

    row: str
    spoil: Callable[[Path], None] = lambda folder: None
    settings: Mapping[str, str] | None = None
    script: str | None = None
    code: int | None = None
    net: bool = False


def write_over(name: str, content: bytes) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return spoil


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def run_sql(statement: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with closing(sqlite3.connect(folder / FILE)) as connection:
            connection.executescript(statement)

    return spoil


def replace_database(folder: Path) -> None:
    (folder / FILE).unlink()
    run_sql("CREATE TABLE of_another (id INTEGER)")(folder)


def spoil_page(folder: Path) -> None:
    with (folder / FILE).open("r+b") as file:
        file.seek(4096 * 5)
        file.write(b"\xff" * 4096)


def replace_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


def replace_lock(folder: Path) -> None:
    (folder / "write.lock").unlink(missing_ok=True)
    (folder / "write.lock").mkdir()


THEIRS = {} if os.geteuid() == 0 else {"ESIGN_STORAGE__DATA_DIR": "/usr"}


def give_away(folder: Path) -> None:
    if not THEIRS:
        os.chown(folder, 1, 1)


def lose_database(folder: Path) -> None:
    (folder / FILE).unlink()
    (folder / "seal.pem").write_text("that of a seal")


def lose_all(folder: Path) -> None:
    (folder / FILE).unlink()
    (folder / "app.key").unlink()


def add_other_key(folder: Path) -> None:
    write_once(folder / "other.key", b"k" * 32)


def block_copies(folder: Path) -> None:
    run_sql("DELETE FROM migration WHERE name = 'contacts'")(folder)
    (folder / "before-migration").touch()


KEY_FILE = {"ESIGN_STORAGE__KEY_FILE": "data/other.key"}
PROTECTED = protect(bytes(range(32)), "a long passphrase")
HTTPS = {"ESIGN_SERVER__BASE_URL": "https://sign.example.test"}
MOUNT = 'mount -t tmpfs -o size={size} tmpfs "$data"; '
READ_ONLY = 'mount --bind "$data" "$data"; mount -o remount,bind,ro "$data"; '
NETWORK = (
    'echo "server:/export $data nfs4 rw 0 0" > "$data.mounts"; mount --bind "$data.mounts" /proc/$$/mounts; '
)
SOON_FULL = MOUNT.format(size="24k")
FULL = f"{MOUNT.format(size='8k')} dd if=/dev/zero of=$data/filling bs=4k count=2 2>/dev/null; "
NOT_ROOT = 'exec unshare --user "$@"; '
NO_PARENT = '{mount} export ESIGN_STORAGE__DATA_DIR="$data/below"; '

BACKUP = {"ESIGN_BACKUP__PASSPHRASE": "correct horse battery"}

CASES = (
    BadStart("found …, but there is no such key", settings={"ESIGN_SERVER__PROT": "1"}),
    BadStart("organisation.locale", settings={"ESIGN_ORGANISATION__LOCALE": "xx"}),
    BadStart("ESIGN_…_FILE: … cannot be read", settings={"ESIGN_MAIL__PASSWORD_FILE": "none"}),
    BadStart("ESIGN_…_FILE: … is empty", settings={"ESIGN_MAIL__PASSWORD_FILE": "/dev/null"}),
    BadStart("mail.password: not set", settings={"ESIGN_MAIL__USERNAME": "ada"}),
    BadStart("backup.to …: found …; allowed is", settings={"ESIGN_BACKUP__TO": "backups"}),
    BadStart(
        "backup.to: found …, which lies in storage.data_dir",
        settings={**BACKUP, "ESIGN_STORAGE__DATA_DIR": "/srv/x", "ESIGN_BACKUP__TO": "/srv/x/y"},
    ),
    BadStart("backup.passphrase: not set", settings={"ESIGN_BACKUP__TO": "/srv"}),
    BadStart("backup.…: not set; it is needed", settings={**BACKUP, "ESIGN_BACKUP__TO": "s3://copies"}),
    BadStart(
        "backup.s3_endpoint: found",
        settings={
            **BACKUP,
            "ESIGN_BACKUP__TO": "s3://copies",
            "ESIGN_BACKUP__S3_ACCESS_KEY": "x",
            "ESIGN_BACKUP__S3_SECRET_KEY": "x",
            "ESIGN_BACKUP__S3_ENDPOINT": "https://s3.example.com/copies",
        },
    ),
    BadStart("the data folder … cannot be made", settings={"ESIGN_STORAGE__DATA_DIR": "/proc/none"}),
    BadStart("is not a folder", replace_folder),
    BadStart(
        "belongs to another user",
        give_away,
        settings={} if os.geteuid() == 0 else {"ESIGN_STORAGE__DATA_DIR": "/usr"},
    ),
    BadStart("esign must be able to read and write it", replace_lock),
    BadStart("the database has schema", run_sql("PRAGMA user_version = 9999")),
    BadStart("migration … cannot be applied", run_sql("DELETE FROM migration WHERE name = 'contacts'")),
    BadStart("the file is a database of another program", replace_database),
    BadStart("esign.db is not a database", write_over(FILE, b"no database " * 999)),
    BadStart("is missing, the key of the database", remove("app.key")),
    BadStart("is not an application key", write_over("app.key", b"short")),
    BadStart("is missing, the key of the database in", remove("app.key"), settings=KEY_FILE),
    BadStart("is missing, and the key is in", settings=KEY_FILE),
    BadStart(
        "is missing; let systemd load it",
        settings={"ESIGN_STORAGE__KEY_FILE": "/run/credentials/none/app.key"},
    ),
    BadStart(
        "the folder of storage.key_file", lose_all, settings={"ESIGN_STORAGE__KEY_FILE": "none/app.key"}
    ),
    BadStart(
        "cannot be made: …; let the user", lose_all, settings={"ESIGN_STORAGE__KEY_FILE": "/proc/app.key"}
    ),
    BadStart("is open to other users", settings={"ESIGN_STORAGE__KEY_FILE": "/etc/passwd"}),
    BadStart("let the user that esign runs as read it", settings={"ESIGN_STORAGE__KEY_FILE": "/"}),
    BadStart("are different keys", add_other_key, settings=KEY_FILE),
    BadStart("is protected by a passphrase, and none", write_over("app.key", PROTECTED)),
    BadStart(
        "the passphrase does not open",
        write_over("app.key", PROTECTED),
        settings={"ESIGN_STORAGE__KEY_PASSPHRASE": "another one"},
    ),
    BadStart("is a protected application key that was changed", write_over("app.key", PROTECTED[:40])),
    BadStart("the database cannot be copied before", block_copies),
    BadStart(
        "the copy of the database before it is migrated",
        run_sql("DELETE FROM migration WHERE name = 'contacts'"),
        script='mkdir "$data/before-migration"; mount -t tmpfs -o size=1m tmpfs "$data/before-migration"; ',
    ),
    BadStart("app.key is not the key that", write_over("app.key", b"k" * 32)),
    BadStart("is missing, and the keys of an installation", lose_database),
    BadStart("the database … is damaged", spoil_page, script=""),
    BadStart("lies on a network file system", script=NETWORK),
    BadStart("cannot be written: Read-only file system", script=READ_ONLY),
    BadStart("the data folder … cannot be made", script=NO_PARENT.format(mount=READ_ONLY), code=70),
    BadStart("cannot be written: No space left on device", script=FULL),
    BadStart("the database cannot be written", script=SOON_FULL),
    BadStart("port …: Permission denied", script="", settings={"ESIGN_SERVER__PORT": "81"}, net=True),
    BadStart(
        "Cannot assign requested address", script="", settings={"ESIGN_SERVER__HOST": "192.0.2.1", **HTTPS}
    ),
    BadStart(
        "Name or service not known", script="", settings={"ESIGN_SERVER__HOST": "none.invalid", **HTTPS}
    ),
    BadStart("this process may open", script="ulimit -n 200; "),
    BadStart("there is no user", script="", settings={"ESIGN_SERVER__USER": "no-such-user"}),
    BadStart("only root can become", script=NOT_ROOT, settings={"ESIGN_SERVER__USER": "daemon"}),
    BadStart("esign cannot become", script="", settings={"ESIGN_SERVER__USER": "nobody"}),
)
ELSEWHERE = (  # the first in tests/system/test_privileges.py, the others below, with another program beside
    "server.user: … cannot run",
    "Address already in use; set server.port",
    "Address already in use; set metrics.port",
    "another esign server works on",
    "another program keeps the database",
    "put it there and let this user read it",
)


def contain(script: str, *, net: bool = False) -> tuple[str, ...]:
    """What runs a command as the root of a machine of its own, after a script. With `net`, its network is empty."""
    more = ("--net",) if net else ()
    rights = ("setpriv", "--bounding-set=-net_bind_service")
    return ("unshare", "--map-root-user", "--mount", *more, *rights, "sh", "-ec", f'{script} exec "$@"', "sh")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of an installation that works, with its data."""
    monkeypatch.chdir(tmp_path)
    file = configuration(tmp_path)
    (tmp_path / "data").mkdir(mode=0o700)
    lay_database(tmp_path / "data" / FILE)
    assert run_here("keys", "create", "--name", "ci", "--config", str(file)).code == 0
    return file


def run_here(*arguments: str, settings: Mapping[str, str] | None = None) -> Ran:
    """Run a command in this process."""
    ran = CliRunner().invoke(main, arguments, env=settings)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.row[:40])
def test_a_bad_start_ends_as_the_page_says(config: Path, case: BadStart) -> None:
    folder = config.parent / "data"
    case.spoil(folder)
    if case.script is None:
        ran = run_here("keys", "list", "--config", str(config), settings=case.settings)
    else:
        command = (*contain(f"data={folder}; {case.script}", net=case.net), *COMMAND)
        ran = esign("serve", "--config", config, command=command, env=case.settings)
    rows = [row for row in find_rows(ran) if all(part in row for part in case.row.split(" … "))]
    assert rows and ran.out == "", ran
    assert ran.code == (case.code or ROWS[rows[0]]), ran


def test_every_row_of_the_page_has_its_case() -> None:
    told = (*(case.row for case in CASES), *ELSEWHERE)
    parts = [text.split(" … ") for text in told]
    missing = [row for row in ROWS if not any(all(part in row for part in each) for each in parts)]
    assert missing == []
    assert len(ROWS) >= 34


@contextmanager
def hold_port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield str(listener.getsockname()[1])


@pytest.mark.parametrize(("key", "code"), [("SERVER", 1), ("METRICS", 2)])
def test_a_port_that_is_taken(config: Path, key: str, code: int) -> None:
    with hold_port() as port:
        ran = esign("serve", "--config", config, env={f"ESIGN_{key}__PORT": port})
    [row] = find_rows(ran)
    assert f"set {key.lower()}.port" in row and ran.code == ROWS[row] == code


def test_a_configuration_that_is_not_there(config: Path) -> None:
    ran = run_here("keys", "list", "--config", "none.toml")
    [row] = find_rows(ran)
    assert "let this user read it" in row and ran.code == ROWS[row]


def test_a_second_server_on_the_same_data(config: Path) -> None:
    with server_lock(config.parent / "data"):
        ran = esign("serve", "--config", config)
    [row] = find_rows(ran)
    assert row.startswith("another esign server") and ran.code == ROWS[row]


def test_a_lock_that_nobody_gives_up(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = WriteLock(config.parent / "data" / FILE)
    assert lock.try_hold()
    try:
        monkeypatch.setattr("esign.store.engine.connections.STARTING_SECONDS", 0.1)
        ran = run_here("keys", "list", "--config", str(config))
    finally:
        lock.close()
    [row] = find_rows(ran)
    assert row.startswith("another program keeps the database") and ran.code == ROWS[row]


# ---------- machines that are poor, and good enough ----------

ALONE = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    name = b"lo".ljust(16, b"\\0")
    fcntl.ioctl(control, 0x8914, name + struct.pack("H14x", 1))
    if "6" in sys.argv:
        fcntl.ioctl(control, 0x8916, name + struct.pack("HH4s8x", socket.AF_INET, 0, b"\\0" * 4))
"""  # a loopback interface that is up, with IPv6 alone if that is asked for


POOR = (
    "{python} -c '{alone}' 4; export LANG=xx_XX.UTF-8 LC_ALL=xx_XX.UTF-8; mkdir {folder}/temporary;"
    " mount -t tmpfs -o noexec,ro tmpfs {folder}/temporary; export TMPDIR={folder}/temporary;"
    " mount --bind /dev/null /dev/urandom; mount --bind /dev/null /dev/random; "
)


@pytest.mark.parametrize(
    ("script", "settings", "address"),
    [
        ("{python} -c '{alone}' 6; ", {"ESIGN_SERVER__HOST": "::1"}, "[::1]"),
        (
            POOR,
            {"ESIGN_MAIL__HOST": "smtp.example.test", "ESIGN_MAIL__FROM": "sign@example.test"},
            "127.0.0.1",
        ),
    ],
    ids=["IPv6 alone", "no DNS, no locale, no randomness, no temporary folder"],
)
def test_a_poor_machine_serves_all_the_same(
    tmp_path: Path, script: str, settings: dict[str, str], address: str
) -> None:
    """The client is in the same machine: it asks until it is answered, and then ends the server."""
    file = configuration(tmp_path)
    port = re.findall(r"port = (\d+)", file.read_text())[0]
    ask = (
        f'"$@" & until curl -gsf http://{address}:{port}/healthz; do kill -0 $!; sleep 0.05; done;'
        " kill -TERM $!; wait $!; exit 0; "
    )
    prepared = script.format(python=sys.executable, alone=ALONE, folder=tmp_path)
    command = (*contain(prepared + ask, net=True), *COMMAND)
    ran = esign("serve", "--config", file, command=command, env=settings)
    assert (ran.code, ran.out) == (0, '{"status":"ok"}'), ran
    assert f"is running at http://{address}:{port}" in ran.err


async def test_a_clock_that_is_a_day_behind_is_told_and_keeps_nothing_from_starting(config: Path) -> None:
    program = Program(config)
    await program.start()
    assert await program.stop() == 0
    run_sql(f"UPDATE clock_mark SET at = at + {25 * HOUR + MINUTE}, boot_id = 'of another boot'")(
        config.parent / "data"
    )
    await program.start()
    assert await program.stop() == 0
    [quoted] = re.findall(r"`(the server's clock .+?)`", PAGE.read_text("utf-8"))
    said = [json.loads(line)["event"] for line in program.said.splitlines()]
    assert [line for line in said if matches(f"{quoted}…", line) and "jumped 25 hours back" in line], said


async def test_a_first_start_that_is_killed_at_any_point_goes_on(tmp_path: Path) -> None:
    """It is killed as soon as each file of the data folder is there; the last start makes all of them."""
    program = Program(configuration(tmp_path))
    data = tmp_path / "data"
    for name in ("app.key", FILE, "write.lock", "authority.key", "seal.key", "test-seal.pem"):

        async def is_made(name: str = name) -> bool | None:
            assert program.process.returncode is None, program.said
            return (data / name).exists() or None

        await program.begin()
        await until(is_made, name)
        await program.kill()
    await program.start()
    assert await program.stop(signal.SIGTERM) == 0
    assert "esign: " not in program.said, program.said
    checked = await meanwhile("check", "--config", program.config)
    assert checked.code == 0 and ALL_OK.search(checked.out), checked
