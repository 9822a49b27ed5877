"""Ports for servers that tests start."""

import socket
from collections import deque

MOST = 64  # sockets that stay open in one process
_reserved: deque[socket.socket] = deque()


def reserve_port() -> int:
    """Return a port of 127.0.0.1 on which nobody listens, for a server that starts later.

    A socket stays bound to it and does not listen. The kernel then gives this port to no process that asks for any
    port, and a server that sets SO_REUSEADDR, as servers do, can listen on it.
    """
    if len(_reserved) == MOST:
        _reserved.popleft().close()
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    _reserved.append(reserved)
    port: int = reserved.getsockname()[1]
    return port
