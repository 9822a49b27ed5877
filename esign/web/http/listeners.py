"""The sockets that the program listens on: passed by the service manager, or opened here."""

import errno
import os
import socket
from dataclasses import dataclass

from esign.config import ServerSettings
from esign.system.service_manager import take_sockets

EVERY_ADDRESS = "::"  # of IPv6 and IPv4, on a machine that has both
PLAIN = "http"  # the name of the passed socket of plain http, beside that of https
INTERNET = (socket.AF_INET, socket.AF_INET6)


@dataclass(frozen=True, slots=True)
class Listeners:
    """The socket of the server and, where that speaks https, the one of plain http unless it is turned off."""

    server: socket.socket
    plain: socket.socket | None = None

    def close(self) -> None:
        """Stop listening. Nothing happens to a socket that is closed already."""
        self.server.close()
        if self.plain is not None:
            self.plain.close()


def open_listeners(settings: ServerSettings) -> Listeners:
    """Return the listening sockets. Those that the service manager passed come before those of the settings.

    A passed socket is that of plain http if it is named `http` or has the port of plain http. Raise OSError.
    """
    wants_plain = settings.https != "off" and settings.http_port != 0
    server = plain = None
    for name, passed in take_sockets():
        if passed.family not in INTERNET or not passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise OSError(errno.EINVAL, "a socket that was passed to esign does not listen for TCP")
        if wants_plain and (name == PLAIN or passed.getsockname()[1] == settings.http_port):
            plain = prepare_listener(passed)
        elif server is None:
            server = prepare_listener(passed)
        else:
            raise OSError(errno.EINVAL, "more sockets were passed to esign than it can listen on")
    try:
        if server is None:
            server = bind_socket(settings.host, settings.port)
        if wants_plain and plain is None:
            plain = bind_socket(settings.host, settings.http_port)
    except OSError:
        for opened in (server, plain):
            if opened is not None:
                opened.close()
        raise
    return Listeners(server, plain)


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise OSError with a message that names the address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = host == EVERY_ADDRESS and socket.has_dualstack_ipv6()
        if host == EVERY_ADDRESS and not both:
            family, address = socket.AF_INET, ("0.0.0.0", port)  # noqa: S104  (the setting says so)
        return prepare_listener(socket.create_server(address[:2], family=family, dualstack_ipv6=both))
    except socket.gaierror as error:
        raise OSError(errno.EADDRNOTAVAIL, f"{host}: {error.strerror}") from error
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, f"{host}, port {port}: {os.strerror(number)}") from error


def prepare_listener(listener: socket.socket) -> socket.socket:
    """Return the socket with the options that it hands on to each connection.

    The head and the body of an answer are two writes, and the second must not wait for the acknowledgement of the
    first. asyncio sets this only on a socket whose `proto` is IPPROTO_TCP, which is 0 here.
    """
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
