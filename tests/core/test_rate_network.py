import pytest

from esign.core.rate_network import find_network, find_wide_network, list_networks


@pytest.mark.parametrize(
    ("address", "network", "wide"),
    [
        ("192.0.2.1", "192.0.2.1", None),
        ("::ffff:192.0.2.1", "192.0.2.1", None),
        ("::FFFF:C000:0201", "192.0.2.1", None),
        ("2001:db8::1", "2001:db8::/64", "2001:db8::/48"),
        ("2001:DB8:0:0:FFFF::1", "2001:db8::/64", "2001:db8::/48"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64", "2001:db8::/48"),
        ("2001:db8:1::1", "2001:db8:1::/64", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
        ("::1", "::/64", "::/48"),
        ("local", "local", None),
        ("", "", None),
    ],
)
def test_an_address_counts_as_its_network(address: str, network: str, wide: str | None) -> None:
    assert (find_network(address), find_wide_network(address)) == (network, wide)
    assert list_networks(address) == ((network, 1), *([(wide, 10)] if wide else []))
