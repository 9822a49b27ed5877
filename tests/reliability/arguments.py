"""Numbers on the command line of a figure: `--kills 200`."""

from collections.abc import Mapping, Sequence

import click


def read(given: Sequence[str], **usual: int) -> dict[str, int]:
    """Return the numbers that were given, and the usual ones of the rest. Raises click.UsageError."""
    options = [click.Option([f"--{name}"], type=int, default=number) for name, number in usual.items()]
    command = click.Command("figure", params=list(options))
    with command.make_context("figure", list(given)) as context:
        return {name: int(context.params[name]) for name in usual}


def write(name: str, asked: Mapping[str, int]) -> str:
    """Return the command that asks for the same again."""
    options = "".join(f" --{key} {number}" for key, number in asked.items())
    return f"python -m tests.reliability {name}{options}"
