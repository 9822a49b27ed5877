"""Pass listening sockets to a program as a service manager does (sd_listen_fds(3))."""

import fcntl
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

MOVE = """
import os, sys
count, pid, names, numbers, *command = sys.argv[1:]
for place, number in enumerate(numbers.split(","), 3):
    os.dup2(int(number), place, inheritable=True)
os.environ |= {"LISTEN_PID": pid or str(os.getpid()), "LISTEN_FDS": count, "LISTEN_FDNAMES": names}
os.execv(command[0], command)
"""


@contextmanager
def passed_sockets(
    *listeners: socket.socket, names: str = "", pid: str = ""
) -> Iterator[tuple[Sequence[str], tuple[int, ...]]]:
    """What begins the command line of a program that gets these sockets, and what its process has to inherit.

    The copies have high numbers that are free, so that none is in the place of another.
    """
    copies = tuple(fcntl.fcntl(one.fileno(), fcntl.F_DUPFD, 100) for one in listeners)
    try:
        numbers = ",".join(map(str, copies))
        yield (sys.executable, "-c", MOVE, str(len(listeners)), pid, names, numbers), copies
    finally:
        for number in copies:
            os.close(number)
