"""The sockets of the settings; those of a service manager are in `tests/journeys/test_https.py`."""

import socket

import pytest

from esign.config import ServerSettings
from esign.web.http.listeners import bind_socket, open_listeners
from tests.ports import reserve_port


def test_every_address_takes_ipv4_too() -> None:
    with bind_socket("::", 0) as listener:
        port = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 5).close()
        if listener.family == socket.AF_INET6:
            socket.create_connection(("::1", port), 5).close()


def test_without_https_there_is_one_socket() -> None:
    port = reserve_port()
    listeners = open_listeners(ServerSettings(port=port))
    assert listeners.server.getsockname()[1] == port and listeners.plain is None
    listeners.close()


def test_a_port_that_is_taken_is_named_and_nothing_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port, http_port = reserve_port(), taken.getsockname()[1]
        settings = ServerSettings(
            https="auto",
            base_url="https://sign.example.com",
            host="127.0.0.1",
            port=port,
            http_port=http_port,
        )
        with pytest.raises(OSError, match=f"127.0.0.1, port {http_port}: Address already in use"):
            open_listeners(settings)
    bind_socket("127.0.0.1", port).close()
