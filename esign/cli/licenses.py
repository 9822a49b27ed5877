"""`esign licenses`: what this program contains, and under which licences."""

import click

from esign.cli.exit_codes import USAGE, stop_command


@click.command("licenses")
@click.argument("name", required=False)
def licenses(name: str | None) -> None:
    """List everything inside with its licence, or print the texts for NAME.

    For all texts at once, NAME is "all".
    """
    from esign.cli.components import list_components

    components = list_components()
    if name is None:
        widest = max(len(one.name) for one in components)
        for one in components:
            click.echo(f"{one.name:<{widest}}  {one.version:<14}  {one.license}")
        return
    chosen = [one for one in components if name in ("all", one.name)]
    if not chosen:
        stop_command(USAGE, f"nothing inside is called {name}; esign licenses lists the names")
    for one in chosen:
        click.echo(f"{'=' * 80}\n{one.name} {one.version}: {one.license}\n{'=' * 80}\n")
        click.echo(
            "\n\n".join(text.strip() for text in one.texts) or "This part brings no text of its licence."
        )
        click.echo()
