"""`esign doctor`: print a diagnosis, as lines or as JSON."""

import json
from pathlib import Path

import click

from esign.cli.exit_codes import FAILED, end_at_once, run_command
from esign.cli.installation import load_config, make_key_source


def run_doctor(
    file: Path | None,
    *,
    as_json: bool = False,
    fix: bool = False,
    seals: bool = False,
    data_only: bool = False,
) -> None:
    """Examine the installation, print the result and exit: 1 if something is wrong, else 0."""
    from esign.system import memory

    memory.pause_collection()  # what is read holds no cycles, and looking for them takes a tenth of the time
    config = load_config(file)

    async def work() -> int:
        from esign.actions.server.diagnosis import CheckState
        from esign.actions.server.doctor import Examination, examine
        from esign.store.engine import folder

        if config.storage.data_dir.exists():
            folder.require_own(config.storage.data_dir)
        used = file or Path("esign.toml")
        found = await examine(Examination(config, make_key_source(config), used, data_only, seals, fix))
        if as_json:
            click.echo(json.dumps(found.describe(), indent=2, ensure_ascii=False))
        else:
            for line in found.write():
                click.echo(line)
        return FAILED if found.state is CheckState.WRONG else 0

    with end_at_once():  # what it repairs is written in transactions
        run_command(work)
