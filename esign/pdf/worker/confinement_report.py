"""Say what confines the PDF workers on this machine, for people and for the log."""

import os
import subprocess
from collections.abc import Sequence

from esign.pdf.worker import frames
from esign.system import frozen
from esign.system.confinement import Confinement

SECONDS_TO_START = 30


def describe_confinement() -> tuple[bool, tuple[str, ...]]:
    """Return whether the PDF workers of this machine are confined as they should be, and as sentences by what.

    Starts a worker and lets it say so, so that containers and service managers count too. Raises OSError if it cannot
    be started, and `FrameError` if it says something else.
    """
    found = read_confinement(frozen.name_child_command(frozen.Child.WORKER))
    return found.is_complete, found.describe()


def read_confinement(command: Sequence[str]) -> Confinement:
    """Return what a worker says of itself when it starts. Raises OSError and `FrameError`."""
    environment = {"LC_ALL": "C.UTF-8", **frozen.list_loader_variables(os.environ)}
    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=SECONDS_TO_START,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError("the worker does not start") from error
    start = frames.PREFIX.size
    if len(ran.stdout) < start:
        raise OSError(f"the worker ended with exit code {ran.returncode}")
    length = frames.parse_header_length(ran.stdout[:start])
    body, _ = frames.parse_header(ran.stdout[start : start + length])
    return rebuild_confinement(body)


def rebuild_confinement(body: object) -> Confinement:
    """Return what the first frame of a worker says. Raises `FrameError`."""
    match body:
        case {"confined": [int(version), bool(filtered), bool(offline)]}:
            return Confinement(version, filtered, offline)
    raise frames.FrameError("The worker does not say what confines it.")
