"""Ctrl-C where a command waits for what a person types: it ends at once, with 130 and one sentence."""

import asyncio
import os
import pty
import signal
from pathlib import Path

import pytest

from esign.cli.exit_codes import UNANSWERED
from tests.journeys.api import until
from tests.journeys.program import COMMAND, assert_readable, configuration, environment, meanwhile
from tests.journeys.site import a_site

GIVEN = {"ESIGN_STORAGE__KEY_PASSPHRASE": "correct horse battery"}
# The command, what it asks, and whether the application key has a passphrase.
ASKING = {
    "backup": (["backup", "copies"], "Passphrase of the backup: ", False),
    "restore": (["restore", "kept.backup", "--data-dir", "new"], "Passphrase of the backup: ", False),
    "protect": (["keys", "protect-app"], "New passphrase: ", False),
    "open": (["keys", "list"], "app.key: ", True),
    "exchange": (["keys", "rotate-app"], "app.key: ", True),
    "serve": (["serve"], "app.key: ", True),
    "init": (["init"], "Address at which people open it", False),
}


@pytest.mark.parametrize("name", ASKING)
async def test_one_ctrl_c_ends_what_asks(tmp_path: Path, name: str) -> None:
    arguments, asked, is_protected = ASKING[name]
    config = configuration(tmp_path)
    async with a_site(tmp_path / "data"):
        pass
    (tmp_path / "copies").mkdir()
    if name == "restore":
        secret = {"ESIGN_BACKUP__PASSPHRASE": "correct horse battery"}
        made = await meanwhile("backup", "kept.backup", "--config", config, cwd=tmp_path, env=secret)
        assert made.code == 0, made
    if name == "init":
        config = tmp_path / "made.toml"
    if is_protected:
        made = await meanwhile("keys", "protect-app", "--config", config, cwd=tmp_path, env=GIVEN)
        assert made.code == 0, made
    code, said = await interrupt([*arguments, "--config", str(config)], asked, tmp_path)
    assert code == 130, said
    assert said.endswith("\nesign: ended early by SIGINT\n") and "Aborted" not in said, said
    assert_readable(said)
    assert [*(tmp_path / "copies").iterdir()] == [] and not (tmp_path / "new").exists()


async def test_input_that_ends_is_told_with_what_to_do(tmp_path: Path) -> None:
    async with a_site(tmp_path / "data"):
        pass
    config = configuration(tmp_path)
    program = await asyncio.create_subprocess_exec(
        *(*COMMAND, "keys", "protect-app", "--config", config),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment(),
        start_new_session=True,  # without a terminal of its own it reads what it is given
    )
    _, said = await program.communicate()
    assert program.returncode == 2
    assert said.decode().endswith(f"\nesign: {UNANSWERED}\n"), said


# What runs in the background of a shell ignores Ctrl-C, and so do its children.
HEARS = ("env", "--default-signal=INT")


async def interrupt(arguments: list[str], asked: str, folder: Path) -> tuple[int, str]:
    """Run a command in a terminal, press Ctrl-C once when it asks; its exit code, and what stands there."""
    ours, theirs = pty.openpty()
    program = await asyncio.create_subprocess_exec(
        *HEARS,
        *COMMAND,
        *arguments,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(),
    )
    os.close(theirs)
    said, pressed = "", False
    try:
        async with asyncio.timeout(60):
            while piece := await asyncio.to_thread(read_piece, ours):
                said += piece.replace("\r\n", "\n")
                if asked in said and not pressed:
                    await wait_until_asleep(program.pid)
                    program.send_signal(signal.SIGINT)
                    pressed = True
            return await program.wait(), said
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
        os.close(ours)


async def wait_until_asleep(pid: int) -> None:
    """Return when the program waits for what is typed: the C library misses what is pressed a moment before."""
    for _ in range(3):
        await until(lambda: asyncio.to_thread(is_asleep, pid), "sleep of the program")
        await asyncio.sleep(0.02)


def is_asleep(pid: int) -> bool | None:
    """True, or None while it works, as `until` asks."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S" or None


def read_piece(side: int) -> str:
    """What was printed next, or nothing once the program has ended."""
    try:
        return os.read(side, 4096).decode()
    except OSError:
        return ""
