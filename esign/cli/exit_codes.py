"""The exit codes of commands, and the errors that lead to them.

0 done, 1 failed or "no", 2 usage, configuration or unreadable input, 3 another server on the same data, 4
another schema than this program's, 65 a damaged or foreign database, 70 storage failed. Only after 70 a restart
can help.
"""

import sys
from collections.abc import Callable, Coroutine
from typing import NoReturn

import click

FAILED, USAGE, SERVED, NEWER, DAMAGED, STORAGE = 1, 2, 3, 4, 65, 70

NO_SUCH_ADDRESS = '; set server.host to an address of this machine, such as "::1" where it has no IPv4'


def stop_command(code: int, message: str) -> NoReturn:
    """Exit with `code` and a sentence on stderr that names the cause and the remedy."""
    click.echo(f"esign: {message}", err=True)
    sys.exit(code)


def run_command(work: Callable[[], Coroutine[object, object, int | None]]) -> None:
    """Run a command to its end and exit. Errors from outside the program become a sentence and an exit code."""
    import uvloop

    from esign.authority import AuthorityError
    from esign.config import ConfigError
    from esign.core.errors import Problem
    from esign.https import UnfitCertificate
    from esign.store.engine.failures import (
        DatabaseError,
        DatabaseMoved,
        OperationalError,
        StorageFailed,
        is_corrupt,
        is_locked,
        is_no_database,
    )
    from esign.store.engine.folder import UnusableFolder
    from esign.store.engine.inspection import DamagedDatabase
    from esign.store.engine.locks import AlreadyServed, Locked
    from esign.store.engine.migrate import ForeignDatabase, NewerSchema, UnfitSchema
    from esign.system.descriptors import TooFewDescriptors
    from esign.system.privileges import CannotBecomeUser
    from esign.system.vault import DamagedCiphertext, UnusableKey

    try:
        code = uvloop.run(work())
    except AlreadyServed as error:
        stop_command(SERVED, f"{error}; stop it first, or set another storage.data_dir")
    except NewerSchema as error:
        stop_command(NEWER, f"{error}; install the newer version of esign again")
    except UnfitSchema as error:
        stop_command(
            NEWER, f"{error}; nothing was written; run the version of esign that this database comes from"
        )
    except Locked as error:
        stop_command(STORAGE, f"{error}; stop it, or wait until it ends")
    except DatabaseMoved as error:
        stop_command(STORAGE, str(error))
    except (StorageFailed, OperationalError) as error:
        if is_locked(error):
            stop_command(
                STORAGE, "another program holds a lock on the database; stop it, or wait until it ends"
            )
        stop_command(STORAGE, f"the database cannot be written: {error}; check the disk and its free space")
    except DamagedDatabase as error:
        stop_command(DAMAGED, str(error))
    except (ForeignDatabase, DatabaseError) as error:
        if is_corrupt(error):
            stop_command(DAMAGED, f"the database is damaged: {error}; restore esign.db from a backup")
        if is_no_database(error):
            stop_command(
                DAMAGED,
                "esign.db is not a database, or its beginning is damaged; restore it from a backup,"
                " or set storage.data_dir to the folder of an esign database",
            )
        stop_command(DAMAGED, f"{error}; set storage.data_dir to the folder of an esign database")
    except (
        ConfigError,
        TooFewDescriptors,
        UnusableFolder,
        UnusableKey,
        AuthorityError,
        UnfitCertificate,
        CannotBecomeUser,
    ) as error:
        stop_command(STORAGE if is_full(error.__context__) else USAGE, str(error))
    except DamagedCiphertext as error:
        stop_command(USAGE, f"{error}; restore app.key from a backup")
    except Problem as problem:
        if problem.code == "unavailable":
            stop_command(
                STORAGE,
                "the database takes no writes; check the disk and its free space,"
                " and whether another program holds a lock on the database",
            )
        remedy = "; set organisation.plan" if problem.code == "plan_required" else ""
        stop_command(FAILED, problem.message.rstrip(".") + remedy)
    except OSError as error:
        stop_command(*describe_refusal(error))
    except KeyboardInterrupt:
        sys.exit(0)
    sys.exit(code or 0)


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
        " port, or give esign CAP_NET_BIND_SERVICE",
    }
    if error.filename is None:
        return FAILED, said + remedies.get(error.errno or 0, "")
    return USAGE, f"{error.filename}: {said}; esign must be able to read and write it"


def is_full(error: BaseException | None) -> bool:
    """Return whether the error means that the disk is full, or takes no writes at all."""
    import errno

    refused = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
    return isinstance(error, OSError) and error.errno in refused
