"""Checks the contents of a database in a process of its own: `python -I -m esign.actions.server.content_process`.

Reading and hashing all contents takes half as long as all other checks, and two threads that run Python code wait for
each other. The process reads the number of its parent and the path on its input, and answers on its output. It dies
with the thread that started it.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import orjson

from esign.core.instant import Instant
from esign.pdf.audit.printed_head import find_printed_head
from esign.store.engine.snapshot_reader import SnapshotReader
from esign.store.server.fault import Check, ContentFindings, Fault, Inspection
from esign.store.server.stored_contents import check_contents
from esign.system import confinement, frozen
from esign.system.idle_priority import become_idle

COMMAND = frozen.name_child_command(frozen.Child.CONTENT_CHECK)
ENVIRONMENT = frozen.make_child_environment(os.environ)


def check_in_process(path: Path, command: Sequence[str] = COMMAND) -> ContentFindings | None:
    """Return what the process finds in the database at `path`, or None if it ends before it has answered. Blocks."""
    try:
        ran = subprocess.run(
            command,
            input=b"%d\n%b" % (os.getpid(), os.fsencode(path.resolve())),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            # Ctrl-C ends the command, and that ends this process. In a session of its own, its low priority would
            # not count beside processes of others (sched(7), "The autogroup feature").
            process_group=0,
            check=True,
        )
        return read_findings(ran.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError, TypeError):
        return None


def run_content_check() -> None:
    """Check the contents of the database that the input names, and write what was found to the output."""
    parent = int(sys.stdin.buffer.readline())
    confinement.end_with_parent(parent)
    confinement.hide_memory()
    become_idle()  # the server comes first
    gc.disable()  # what is read makes no cycles
    path = Path(os.fsdecode(sys.stdin.buffer.read()))
    with closing(SnapshotReader(path)) as reader:
        found = Inspection(reader, None, find_printed_head, Instant(0))
        faults = list(check_contents(found))
    sys.stdout.buffer.write(write_findings(ContentFindings(faults, found.read, sorted(found.whole_seals))))


def write_findings(findings: ContentFindings) -> bytes:
    """Return what was found as JSON."""
    faults = [(fault.check.value, fault.subject, fault.words) for fault in findings.faults]
    return orjson.dumps((faults, dict(findings.read), findings.whole_seals))


def read_findings(answer: bytes) -> ContentFindings:
    """Return what `write_findings` wrote. Raises ValueError."""
    faults, read, whole_seals = orjson.loads(answer)
    return ContentFindings([Fault(Check(check), *rest) for check, *rest in faults], read, whole_seals)


if __name__ == "__main__":
    run_content_check()
    sys.exit(0)
