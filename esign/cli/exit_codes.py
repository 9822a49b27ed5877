"""The exit codes of commands, and the errors that lead to them.

0 done, 1 failed or "no", 2 usage, configuration or unreadable input, 3 another server on the same data, 4 another
schema than this program's, 5 done, with data that was damaged before, 65 a damaged or foreign database, 70 storage
failed, 128 and its number when a signal ended the command. Only after 70 a restart can help.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

FAILED, USAGE, SERVED, NEWER, DAMAGED, STORAGE = 1, 2, 3, 4, 65, 70
FOUND = 5  # a backup was made or restored, and what is in it is damaged
UNANSWERED = (
    "the input ended before a question was answered; run the command at a terminal, or give what it asks for as an"
    " option or a setting"
)
SIGNALLED = 128  # and the number of the signal, as a shell says it
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

NO_SUCH_ADDRESS = '; set server.host to an address of this machine, such as "::1" where it has no IPv4'


def stop_command(code: int, message: str) -> NoReturn:
    """Exit with `code` and a sentence on stderr that names the cause and the remedy."""
    click.echo(f"esign: {message}", err=True)
    sys.exit(code)


class EndedBySignal(KeyboardInterrupt):
    """A signal asks the command to end. What it passes deletes what it made, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def run_command(work: Callable[[], Coroutine[object, object, int | None]]) -> None:
    """Run a command to its end and exit. Errors from outside the program become a sentence and an exit code."""
    import uvloop

    exit_with(lambda: uvloop.run(work()))


def run_steps(work: Callable[[], int]) -> NoReturn:
    """Run a command that has no event loop to its end and exit, as `run_command` does.

    SIGTERM and SIGHUP end it as Ctrl-C does, so that it leaves nothing unencrypted behind.
    """

    def run() -> int:
        with catch_ending_signals():
            return work()

    exit_with(run)


class CommandGroup(click.Group):
    """A group of commands that end with 130 after Ctrl-C, and say why they end; click itself would exit with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            stop_after_signal(error)
        except click.Abort as abort:  # a question was not answered
            if isinstance(abort.__context__, KeyboardInterrupt):
                stop_after_signal(abort.__context__)
            stop_command(USAGE, UNANSWERED)


def ask(question: str, **options: Any) -> str:
    """Return what is typed as the answer to a question, as `click.prompt` does."""
    from esign.system.interrupt import interrupt_at_once

    try:
        with interrupt_at_once():
            answer: str = click.prompt(question, err=True, **options)
    except click.Abort:
        if not options.get("hide_input"):
            click.echo(err=True)  # the end of the line, which click writes for hidden answers alone
        raise
    return answer


def exit_with(work: Callable[[], int | None]) -> NoReturn:
    """Exit with what the work returns, or with the exit code of what ended it, which is said in a sentence."""
    try:
        code = work()
    except KeyboardInterrupt as error:
        stop_after_signal(error)
    except Exception as error:
        failure = describe_failure(error)
        if failure is None:
            raise
        stop_command(*failure)
    sys.exit(code or 0)


def stop_after_signal(error: KeyboardInterrupt) -> NoReturn:
    """Exit as a shell says it of a command that a signal ended."""
    number = error.number if isinstance(error, EndedBySignal) else signal.SIGINT
    stop_command(SIGNALLED + number, f"ended early by {signal.Signals(number).name}")


@contextmanager
def end_at_once() -> Iterator[None]:
    """Let Ctrl-C end this process in the block without waiting for its threads. For commands that leave nothing behind.

    A thread that reads goes on until its step ends, and the interpreter waits for it. Where Ctrl-C is ignored it stays
    ignored.
    """

    def end(number: int, _: FrameType | None) -> None:
        try:
            stop_after_signal(EndedBySignal(number))
        finally:
            os._exit(SIGNALLED + number)

    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def catch_ending_signals() -> Iterator[None]:
    """Raise EndedBySignal in the block at the first signal that asks the program to end, and ignore the next ones.

    Those that are ignored already, as by `nohup`, stay ignored.
    """
    came: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        for each in before:  # another one would interrupt the deleting of what was made
            signal.signal(each, signal.SIG_IGN)
        came.append(number)
        raise EndedBySignal(number)

    before = {each: found for each in ENDING if (found := signal.getsignal(each)) != signal.SIG_IGN}
    for each in before:
        signal.signal(each, end)
    try:
        yield
    except Exception:
        if came:  # a library made another error of it
            raise EndedBySignal(came[0]) from None
        raise
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def describe_failure(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the sentence for an error from outside the program, None for any other.

    What the errors belong to is imported here: a command that ends well does without most of it.
    """
    from esign.authority import AuthorityError
    from esign.backup.archive import DamagedBackup
    from esign.backup.container import NewerBackup
    from esign.backup.encryption import WrongKey
    from esign.backup.make_backup import CannotBackUp
    from esign.backup.restore_backup import CannotRestore
    from esign.config import ConfigError
    from esign.core.errors import Problem
    from esign.https import UnfitCertificate
    from esign.store.engine.folder import UnusableFolder
    from esign.system.descriptors import TooFewDescriptors
    from esign.system.privileges import CannotBecomeUser
    from esign.system.vault import DamagedCiphertext, UnusableKey

    match error:
        case (
            ConfigError()
            | TooFewDescriptors()
            | UnusableFolder()
            | UnusableKey()
            | AuthorityError()
            | UnfitCertificate()
            | CannotBecomeUser()
        ):
            return STORAGE if is_full(error.__context__) else USAGE, str(error)
        case CannotBackUp():
            return FAILED, f"no backup was made: {error}"
        case CannotRestore():
            return USAGE, f"nothing was restored: {error}"
        case NewerBackup():
            return NEWER, f"the backup cannot be opened: {error}; install that version, or a newer one"
        case WrongKey():
            return USAGE, f"the backup cannot be opened: {error}"
        case DamagedBackup():
            return USAGE, f"the backup is damaged: {error}; take another one"
        case DamagedCiphertext():
            return USAGE, f"{error}; restore app.key from a backup"
        case Problem(code="unavailable"):
            return (
                STORAGE,
                "the database takes no writes; check the disk and its free space,"
                " and whether another program holds a lock on the database",
            )
        case Problem():
            remedy = "; set organisation.plan" if error.code == "plan_required" else ""
            return FAILED, error.message.rstrip(".") + remedy
        case OSError():
            return describe_refusal(error)
    return describe_database_failure(error)


def describe_database_failure(error: Exception) -> tuple[int, str] | None:
    """Return the exit code and the sentence for an error of the database or its locks, None for any other."""
    from esign.store.engine.failures import (
        DatabaseError,
        DatabaseMoved,
        OperationalError,
        StorageFailed,
        is_corrupt,
        is_locked,
        is_no_database,
    )
    from esign.store.engine.inspection import DamagedDatabase
    from esign.store.engine.locks import AlreadyServed, Locked
    from esign.store.engine.migrate import ForeignDatabase, NewerSchema, UnfitSchema
    from esign.store.engine.migration_copy import CopyFailed

    match error:
        case AlreadyServed():
            return SERVED, f"{error}; stop it first, or set another storage.data_dir"
        case NewerSchema():
            return NEWER, f"{error}; install the newer version of esign again"
        case UnfitSchema():
            return (
                NEWER,
                f"{error}; nothing was written; run the version of esign that this database comes from",
            )
        case Locked():
            return STORAGE, f"{error}; stop it, or wait until it ends"
        case CopyFailed():
            return STORAGE, str(error)
        case DatabaseMoved():
            return STORAGE, str(error)
        case StorageFailed() | OperationalError() if is_locked(error):
            return STORAGE, "another program holds a lock on the database; stop it, or wait until it ends"
        case StorageFailed() | OperationalError():
            return STORAGE, f"the database cannot be written: {error}; check the disk and its free space"
        case DamagedDatabase():
            return DAMAGED, str(error)
        case DatabaseError() if is_corrupt(error):
            return DAMAGED, f"the database is damaged: {error}; restore esign.db from a backup"
        case DatabaseError() if is_no_database(error):
            return (
                DAMAGED,
                "esign.db is not a database, or its beginning is damaged; restore it from a backup,"
                " or set storage.data_dir to the folder of an esign database",
            )
        case ForeignDatabase() | DatabaseError():
            return DAMAGED, f"{error}; set storage.data_dir to the folder of an esign database"
    return None


def describe_refusal(error: OSError) -> tuple[int, str]:
    """Return the exit code and the sentence for an error of the operating system."""
    import errno

    said = error.strerror or str(error)
    if is_full(error):
        return STORAGE, f"{error.filename or 'a file'} cannot be written: {said}; check the disk"
    remedies = {
        errno.EADDRINUSE: "; set server.port to a free one, or end the program that has it",
        errno.EADDRNOTAVAIL: NO_SUCH_ADDRESS,
        errno.EAFNOSUPPORT: NO_SUCH_ADDRESS,
        errno.EACCES: "; set server.port to 1024 or more, start esign as root with server.user, let systemd open the"
        " port, or give esign AmbientCapabilities=CAP_NET_BIND_SERVICE",
    }
    if error.filename is None:
        return FAILED, said + remedies.get(error.errno or 0, "")
    return USAGE, f"{error.filename}: {said}; esign must be able to read and write it"


def is_full(error: BaseException | None) -> bool:
    """Return whether the error means that the disk is full, or takes no writes at all."""
    import errno

    refused = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
    return isinstance(error, OSError) and error.errno in refused
