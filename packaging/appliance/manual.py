"""Writes the man page of esign from its commands."""

import inspect
import re
import sys

import click

from esign import __version__
from esign.cli import main


def write_manual() -> str:
    """Return the page esign(1) as roff."""
    lines = [
        f'.TH ESIGN 1 "" "esign {__version__}" "User commands"',
        ".SH NAME",
        "esign \\- self-hosted electronic signatures",
        ".SH SYNOPSIS",
        ".B esign",
        "[\\-\\-version [\\-\\-verbose]] COMMAND [ARGUMENTS]",
        ".SH DESCRIPTION",
        escape("One process and one SQLite file that create, send, sign, seal and verify documents."),
        ".SH COMMANDS",
    ]
    lines += [
        line for name, command in sorted(main.commands.items()) for line in describe(f"esign {name}", command)
    ]
    lines += [
        ".SH FILES",
        ".TP",
        ".I /etc/esign/esign.toml",
        "The configuration of the package for Debian; every setting with its default.",
        ".TP",
        ".I /var/lib/esign",
        "Its data: the database, and the keys. Back up the whole folder.",
        ".SH EXIT STATUS",
        escape(
            "0 done; 1 failed, or the answer is no; 2 usage, configuration or unreadable input; 3 another server works"
            " on the same data; 4 the schema of the data is not this version's; 65 the database is damaged; 70 the"
            " storage failed."
        ),
    ]
    return "\n".join(lines) + "\n"


def describe(name: str, command: click.Command) -> list[str]:
    """Return a section for a command and, behind it, one for each of its own commands."""
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".SS {escape(name)} {escape(usage)}", *write_text(command.help or "")]
    for option in command.get_params(context):
        if (
            isinstance(option, click.Option)
            and (record := option.get_help_record(context))
            and "--help" not in record[0]
        ):
            lines += [".TP", f".B {escape(record[0])}", escape(record[1])]
    if isinstance(command, click.Group):
        for child, inner in sorted(command.commands.items()):
            lines += describe(f"{name} {child}", inner)
    return lines


def write_text(text: str) -> list[str]:
    """Return paragraphs of plain text as roff."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return [line for one in paragraphs for line in (".PP", escape(" ".join(one.split())))]


def escape(text: str) -> str:
    """Return text as roff reads it literally."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    sys.stdout.write(write_manual())
