"""What a worker must not do, tried: run as a script, it prints as JSON what each attempt came to.

With the word `confined` it does what a worker does first. The second argument is a folder of the server, with its
process id in a file; the others are names of attempts. An attempt that succeeds gives "done".
"""

import ctypes
import json
import os
import platform
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

PTRACE_ATTACH, NEW_USER, NEW_NS = 16, 0x10000000, 0x00020000
library = ctypes.CDLL(None, use_errno=True)
folder, parent, port = "", 0, 0


# On x86-64, and on other machines, which have the same numbers.
NUMBERS = {
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "mount": (165, 40), "bpf": (321, 280)},
    **{"userfaultfd": (323, 282), "keyctl": (250, 219), "io_uring_setup": (425, 425), "unshare": (272, 97)},
    **{"prctl": (157, 167), "shmget": (29, 194)},
}


def call(name: str, *arguments: object) -> int:
    """Make a system call. Raises OSError."""
    number = NUMBERS[name][platform.machine() != "x86_64"]
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if (came_to := int(library.syscall(ctypes.c_long(number), *given))) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return came_to


def read(path: str) -> Callable[[], object]:
    return lambda: Path(path.format(folder=folder, parent=parent)).read_bytes()


def connect_inet() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", port))


def connect_unix() -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(f"{folder}/socket")


def fork() -> None:
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)


def execute() -> None:
    os.execv("/bin/echo", ["echo", '{"run a program": "done"}'])


def read_memory_of_parent() -> None:
    """By the call that reads the memory of others, a byte of nothing: what counts is whether it may."""
    call("process_vm_readv", parent, None, 0, None, 0, 0)


def write_beside() -> None:
    Path(f"{folder}/written").write_text("x")


def raise_limit_of_parent() -> None:
    resource.prlimit(parent, resource.RLIMIT_NOFILE, resource.prlimit(parent, resource.RLIMIT_NOFILE))


def change_mode() -> None:
    Path(f"{folder}/esign.db").chmod(0o644)


def write_descriptor() -> None:
    os.close(os.open(f"{folder}/esign.db", os.O_RDWR))


ATTEMPTS: dict[str, Callable[[], object]] = {
    "read /etc/passwd": read("/etc/passwd"),
    "read the database": read("{folder}/esign.db"),
    "read app.key": read("{folder}/app.key"),
    "list the data folder": lambda: [*Path(folder).iterdir()],
    "read the environment of the server": read("/proc/{parent}/environ"),
    "open the memory of the server": lambda: Path(f"/proc/{parent}/mem").open("rb").close(),
    "list processes": lambda: [*Path("/proc").iterdir()],
    "write a file": write_beside,
    "write to a file that exists": write_descriptor,
    "make a file without a name": lambda: os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR)),
    "make a folder": lambda: Path(f"{folder}/made").mkdir(),
    "remove a file": lambda: Path(f"{folder}/removable").unlink(),
    "rename a file": lambda: Path(f"{folder}/renamable").rename(f"{folder}/renamed"),
    "make a link": lambda: Path(f"{folder}/link").symlink_to("/etc"),
    "change a mode": change_mode,
    "open a socket": lambda: socket.socket().close(),
    "connect by TCP": connect_inet,
    "connect to a Unix socket": connect_unix,
    "start a process": fork,
    "signal the server": lambda: os.kill(parent, 0),
    "open the server as a descriptor": lambda: os.close(os.pidfd_open(parent)),
    "change a limit of the server": raise_limit_of_parent,
    "make a ring for calls": lambda: call("io_uring_setup", 1, ctypes.create_string_buffer(120)),
    "leave its namespaces": lambda: call("unshare", NEW_USER),
    "stay when the server dies": lambda: call("prctl", 1, 0, 0, 0, 0),
    "make shared memory": lambda: call("shmget", 0, 4096, 0o1600),
    "run a program": execute,
}
# Each of these ends the process.
DEADLY: dict[str, Callable[[], object]] = {
    "trace the server": lambda: call("ptrace", PTRACE_ATTACH, parent, 0, 0),
    "read the memory of the server": read_memory_of_parent,
    "mount": lambda: call("mount", b"none", folder.encode(), b"tmpfs", 0, None),
    "load a BPF program": lambda: call("bpf", 0, ctypes.create_string_buffer(64), 64),
    "take page faults": lambda: os.close(call("userfaultfd", 1)),
    "use the keyring": lambda: call("keyctl", 0, -3, 1),
}


def try_all(names: list[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            (ATTEMPTS | DEADLY)[name]()
            found[name] = "done"
        except OSError as error:
            found[name] = type(error).__name__
    return found


if __name__ == "__main__":
    how, folder, *chosen = sys.argv[1:]
    parent, port = (int((Path(folder) / name).read_text()) for name in ("pid", "port"))
    if how == "confined":
        from esign.pdf.worker import sandbox

        sandbox.confine_process()
    sys.stdout.write(json.dumps(try_all(chosen)))
