from ipaddress import ip_network

import pytest

from esign.web.http.origin import Proxies, clean_user_agent

TRUSTED = Proxies([ip_network("10.0.0.0/8"), ip_network("fd00::/8")])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["1.2.3.4"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["9.9.9.9, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["9.9.9.9, 192.0.2.7, 10.2.3.4"], "192.0.2.7"),
        ("10.0.0.1", ["9.9.9.9", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["192.0.2.7, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7:4711"], "192.0.2.7"),
        ("10.0.0.1", ["[2001:db8::1]:80"], "2001:db8::1"),
        ("fd00::1", ["2001:DB8:0::1"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["::ffff:192.0.2.7"], "192.0.2.7"),
    ],
)
def test_the_client_is_the_last_address_that_no_trusted_proxy_vouches_for(
    peer: str, forwarded: list[str], client: str
) -> None:
    assert TRUSTED.find_client(peer, [value.encode() for value in forwarded]) == client


def test_without_trusted_proxies_the_header_means_nothing() -> None:
    assert Proxies().find_client("10.0.0.1", [b"192.0.2.7"]) == "10.0.0.1"


@pytest.mark.parametrize(
    ("peer", "forwarded", "unknown"),
    [
        ("127.0.0.1", ["192.0.2.7"], {"127.0.0.1"}),
        ("::ffff:172.17.0.2", ["192.0.2.7"], {"172.17.0.2"}),
        ("10.0.0.1", ["192.0.2.7"], set()),
        ("127.0.0.1", [], set()),
        ("8.8.8.8", ["192.0.2.7"], set()),
    ],
)
def test_a_proxy_of_this_network_that_is_not_trusted_is_remembered(
    peer: str, forwarded: list[str], unknown: set[str]
) -> None:
    """From elsewhere anybody may send the header, to make owners trust them."""
    seen = set[str]()
    Proxies([ip_network("10.0.0.0/8")], seen).find_client(peer, [value.encode() for value in forwarded])
    assert seen == unknown


def test_a_user_agent_is_cut_and_cleaned() -> None:
    assert clean_user_agent(b"Mozilla\x00\x1b[31m") == "Mozilla[31m"
    assert len(clean_user_agent(b"x" * 9000) or "") == 512
    assert clean_user_agent(b"") is None and clean_user_agent(None) is None
