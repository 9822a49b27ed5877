"""The command line. Its exit codes are in `exit_codes`.

Each command imports what it needs itself, so that `esign --version` answers in a few milliseconds.
"""

import logging
import os
from pathlib import Path

import click

from esign import __version__
from esign.cli.app_key import protect_app, rotate_app, unprotect_app
from esign.cli.backup import backup
from esign.cli.clock import clock
from esign.cli.completion import completion
from esign.cli.exit_codes import FAILED, USAGE, CommandGroup, run_command, stop_command
from esign.cli.init import init
from esign.cli.installation import load_config, open_installation, with_config
from esign.cli.keys import keys
from esign.cli.licenses import licenses
from esign.cli.orgs import orgs
from esign.cli.restore import restore
from esign.cli.upgrade_check import upgrade_check
from esign.cli.users import users

# pydantic would look for plugins in every package that is installed. This program has none, and takes none.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, help="Print the version; with --verbose, that of every part too.")
@click.option("--verbose", is_flag=True, help="Say more.")
@click.pass_context
def main(context: click.Context, version: bool, verbose: bool) -> None:
    """Serve electronic signatures from one process and one SQLite file."""
    if version:
        if verbose:
            from esign.cli.versions import describe_versions

            click.echo(describe_versions())
        else:
            click.echo(f"esign {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.", context)


@main.command()
@click.option("--log-requests", is_flag=True, help="Log each request in a terminal too.")
@with_config
def serve(log_requests: bool, file: Path | None) -> None:
    """Run the server until Ctrl-C or SIGTERM."""
    from esign.system import memory

    memory.pause_collection()
    config = load_config(file)

    async def work() -> None:
        from esign import app
        from esign.system import descriptors, logs

        memory.set_up_memory()
        logs.set_up_logs(requests=log_requests, form=config.server.log)
        if told := descriptors.raise_limit():
            logging.getLogger("esign").warning("%s", told)
        await app.serve(config)

    run_command(work)


@main.command()
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="Folder for the results.")
@click.option(
    "--exit", "leave", is_flag=True, help="Stop after the demo instead of keeping the server running."
)
@click.option("--webhook", help="Also deliver the events to this address.")
def demo(into: Path | None, leave: bool, webhook: str | None) -> None:
    """Run the whole journey of a contract, in a new folder.

    Creates a contract through the API, signs it for two people, and seals and verifies it.
    """

    async def work() -> int:
        from esign.demo.journey import run_demo as journey

        return await journey(into, leave, webhook)

    run_command(work)


@main.command()
@click.argument("pdf", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the full report as JSON.")
@click.option(
    "--trust",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Trust this root certificate, or those in this folder.",
)
@click.option("--online", is_flag=True, help="Ask the issuers whether the certificates were revoked.")
@with_config
def verify(pdf: Path, as_json: bool, trust: tuple[Path, ...], online: bool, file: Path | None) -> None:
    """Check the signatures of a PDF. The exit code is 0 only for "valid".

    Makes no network requests without --online.
    """
    config = load_config(file)

    async def work() -> int:
        from esign.cli.verify_file import UnreadableInput, verify_file, write_report

        try:
            verification = await verify_file(config, pdf, trust, online)
        except UnreadableInput as error:
            stop_command(USAGE, str(error))
        click.echo(write_report(verification, as_json))
        return 0 if verification["result"] == "valid" else FAILED

    run_command(work)


@main.command("verify-audit")
@click.argument("what", metavar="[DOCUMENT_ID | FILE]", required=False)
@click.option("--chains", is_flag=True, help="Skip the sealed files, which is much faster.")
@click.option(
    "--anchor",
    "kept",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="Also compare all trails with this anchor, kept elsewhere, and those before it.",
)
@click.option(
    "--export-anchors",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Check nothing; write the anchors in the database to this folder.",
)
@with_config
def verify_audit(
    what: str | None, chains: bool, kept: tuple[Path, ...], folder: Path | None, file: Path | None
) -> None:
    """Recompute the audit trails. The exit code is 0 only for "intact".

    A trail is intact if no entry has changed since it was written.

    Compares each trail with the last entry that its sealed file names. With FILE, a sealed PDF from anywhere,
    compares its trail here with that file.
    """
    if (kept or folder) and what:
        raise click.UsageError("Anchors are of all trails; leave out what to check.")
    config = load_config(file)

    async def work() -> int:
        from esign.cli import verify_trails
        from esign.cli.verify_file import UnreadableInput

        try:
            if folder is not None:
                return 0 if await verify_trails.export_anchors(config, folder, click.echo) else FAILED
            intact = await verify_trails.verify_audit(config, what, chains, click.echo, kept)
        except UnreadableInput as error:
            stop_command(USAGE, str(error))
        return 0 if intact else FAILED

    run_command(work)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--fix", is_flag=True, help="Repair what can be derived again.")
@click.option("--seals", is_flag=True, help="Verify every seal too: a tenth of a second for each.")
@click.option("--data", "data_only", is_flag=True, help="Check the data alone; ask nothing over the network.")
@with_config
def doctor(as_json: bool, fix: bool, seals: bool, data_only: bool, file: Path | None) -> None:
    """Check the data, the settings and what esign relies on. The exit code is 1 if something is wrong.

    Reads every page, row, file and audit trail, also while a server runs. Writes nothing without --fix.
    """
    from esign.cli.doctor import run_doctor

    run_doctor(file, as_json=as_json, fix=fix, seals=seals, data_only=data_only)


@main.command()
@with_config
def check(file: Path | None) -> None:
    """Check that the whole database can be read: the former name of esign doctor --data."""
    from esign.cli.doctor import run_doctor

    run_doctor(file, data_only=True)


@main.command()
def openapi() -> None:
    """Print the description of the API (OpenAPI 3.1)."""
    import json

    from esign.web.api.endpoint_table import describe

    click.echo(json.dumps(describe(), indent=2, ensure_ascii=False))


@main.command()
@click.argument("mail_id", metavar="[ID]", required=False)
@click.option("--last", default=20, type=click.IntRange(1, 1000), help="How many to list; the newest.")
@with_config
def outbox(mail_id: str | None, last: int, file: Path | None) -> None:
    """List the emails kept here, or print one.

    Emails are kept here in test mode and while no mail server is set.
    """
    config = load_config(file)

    async def work() -> int:
        from esign.actions.mail import embedded_outbox as kept
        from esign.core.instant import rfc3339

        async with open_installation(config) as installation:
            db, host = installation.db, installation.config.mail.host
            if mail_id is None:
                mails = await kept.list_mails(db, last)
                for mail in mails:
                    click.echo(f"{mail.id}  {rfc3339(mail.created_at)}  {mail.recipient}  {mail.subject}")
                if not mails:
                    sent = f"; emails are sent through {host}" if host else ""
                    click.echo(f"No email is kept in {config.storage.data_dir}{sent}.", err=True)
                return 0
            message = await kept.read_mail(db, installation.vault, mail_id)
        if message is None:
            stop_command(FAILED, f"no email {mail_id} is kept here; list the emails with: esign outbox")
        text = message.get_body(("plain",))
        click.echo(
            f"To: {message['To']}\nSubject: {message['Subject']}\n\n{text.get_content() if text else ''}"
        )
        return 0

    run_command(work)


for command in (rotate_app, protect_app, unprotect_app):
    keys.add_command(command)
for command in (backup, keys, users, orgs, clock, completion, init, licenses, restore, upgrade_check):
    main.add_command(command)
