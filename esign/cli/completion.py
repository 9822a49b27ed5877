"""`esign completion`: print what lets a shell complete the commands, options and files of esign."""

import click

VARIABLE = "_ESIGN_COMPLETE"  # the shell sets it to ask for completions instead of running a command
SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For this user: esign completion bash > ~/.local/share/bash-completion/completions/esign
    """
    click.echo(write_completion(shell))


def write_completion(shell: str) -> str:
    """Return the script that lets this shell ask esign for completions."""
    from click.shell_completion import ShellComplete, get_completion_class

    from esign.cli import main

    kind = get_completion_class(shell)
    assert kind is not None
    # Not `source` of the kind: that of bash runs bash to find out its version, and the shell may be on another machine.
    return ShellComplete.source(kind(main, {}, "esign", VARIABLE)).strip()
