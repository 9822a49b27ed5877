"""What a shell and `man` know of the commands: made from the commands themselves."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from esign.cli import main
from esign.cli.completion import SHELLS
from tests.journeys.program import esign

ROOT = Path(__file__).parents[2]


def list_commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run, with its words."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, *names, name)
        else:
            yield " ".join((*names, name)), command


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_asks_esign(shell: str) -> None:
    ran = esign("completion", shell)
    assert ran.code == 0 and f"_ESIGN_COMPLETE={shell}_complete" in ran.out
    if path := shutil.which(shell):
        subprocess.run([path, "-n"], input=ran.out, text=True, check=True)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("esign up", "upgrade-check"), ("esign keys cr", "create"), ("esign serve --c", "--config")],
)
def test_what_is_begun_is_completed(typed: str, offered: str) -> None:
    words = typed.split()
    env = {"_ESIGN_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    command = (sys.executable, "-c", "from esign.cli import main; main(prog_name='esign')")
    assert offered in esign(command=command, env=env).out


def test_the_manual_page_has_every_command_and_option() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "packaging" / "man"], capture_output=True, text=True, check=True
    )
    page = made.stdout.replace("\\-", "-")
    assert page.startswith(".TH ESIGN 1 ")
    for name, command in list_commands(main):
        part = page.partition(f".SS {name} ")[2].partition("\n.SS ")[0]
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue
            assert parameter.opts[0] in part or parameter.human_readable_name in part, (name, parameter.name)
    if groff := shutil.which("groff"):
        checked = subprocess.run(
            [groff, "-man", "-ww", "-Tutf8", "-z"],
            input=made.stdout,
            capture_output=True,
            text=True,
            check=True,
        )
        assert checked.stderr == ""
