from ipaddress import ip_address

import pytest

from esign.core.errors import Problem
from esign.net.target import TargetRules, parse_target
from esign.net.zones import Zone, find_zone

PUBLIC = (
    "https://hooks.example.test/esign",
    "https://hooks.example.test",
    "https://HOOKS.Example.test:8443/Path?token=a%2Fb",
    "https://hooks.example.test?x=1",
    "https://hook_s.example.test:1024/",
    "https://bücher.example/überweisung",
    "https://xn--bcher-kva.example/",
    "https://93.184.216.34/hook",
    "https://8.8.8.8:443/",
    "https://[2606:4700:4700::1111]/",
    "https://[2a00:1450:4001:0:0:0:0:200e]:9443/hook",
    "https://hooks.example.test:443/a;b=c/(d)?e=[f]",
    "https://4.example.test/",
    "https://intranet/hook",
)

HOSTILE = (
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1.:443/",
    "https://127.000.000.001/",
    "https://0/",
    "https://0.0.0.0/",
    "https://1.2.3.4.5/",
    "https://example.test.0x1/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:0:7f00:1]/",
    "https://[::ffff:0:a9fe:a9fe]/",
    "https://[64:ff9b:2::7f00:1]/",
    "https://[1::1]/",
    "https://[200::1]/",
    "https://[4000::1]/",
    "https://[8000::7f00:1]/",
    "https://[f000::1]/",
    "https://[fe00::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[3fff::1]/",
    "https://[5f00::1]/",
    "https://[100::1]/",
    "https://[2001:db8::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[fd00:ec2::254]/",
    "https://169.254.169.254/",
    "https://100.100.100.200/",
    "https://192.0.0.192/",
    "https://192.88.99.1/",
    "https://168.63.129.16/",
    "https://198.18.0.1/",
    "https://203.0.113.7/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://u:p@ok.test/",
    "https://ok.test@127.0.0.1/",
    "https://@ok.test/",
    "https://localhost./",
    "https://ok.test./",
    "https://ok.test:22/",
    "https://ok.test:80/",
    "https://ok.test:0/",
    "https://ok.test:65536/",
    "https://ok.test:+443/",
    "https://ok.test:４４３/",
    "https://ok.test:443:443/",
    "https://127。0。0。1/",
    "https://ok｡test/",
    "https://１２７.0.0.1/",
    "https://①27.0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://ok.test%2f@127.0.0.1/",
    "https://ok.test\\@127.0.0.1/",
    "https:\\\\ok.test/",
    "https:///ok.test/",
    "https:ok.test/",
    "https://",
    "//ok.test/",
    "ok.test/hook",
    "",
    "ftp://ok.test/",
    "file:///etc/passwd",
    "gopher://ok.test/",
    "https://ok.test/a b",
    "https://ok.test/\r\nHost: evil.test",
    "https://ok.test\t/",
    " https://ok.test/",
    "https://ok.test/\ud800",
    "https://ok..test/",
    "https://-ok.test/",
    "https://" + "a" * 64 + ".test/",
    "https://[::1/",
    "https://::1/",
    "https://[127.0.0.1]/",
    "https://[ok.test]/",
    "https://ok.test/" + "a" * 2_048,
)

# What the settings may open; refused without them.
INNER = (
    "https://localhost/",
    "https://LOCALHOST:8443/",
    "https://app.localhost/",
    "https://127.0.0.1/",
    "https://127.9.9.9/",
    "https://[::1]:9000/",
    "https://10.0.0.1/",
    "https://172.16.5.5/",
    "https://192.168.1.1:8443/",
    "https://[fd12:3456::1]/",
)


def find_refusal(url: str, rules: TargetRules, *, test: bool = False) -> str | None:
    """The message of the refusal, None when the target is accepted."""
    try:
        rules.check_target(url, plain_allowed=test)
    except Problem as problem:
        assert problem.code == "invalid_webhook_url"
        return problem.message
    return None


@pytest.mark.parametrize("url", PUBLIC)
def test_a_public_https_target_is_accepted(url: str) -> None:
    assert find_refusal(url, TargetRules()) is None


@pytest.mark.parametrize("url", HOSTILE)
@pytest.mark.parametrize("test", [False, True])
@pytest.mark.parametrize("rules", [TargetRules(), TargetRules(allow_private=True, loopback_allowed=True)])
def test_a_hostile_target_is_refused_whatever_the_settings(url: str, rules: TargetRules, test: bool) -> None:
    assert find_refusal(url, rules, test=test) is not None


@pytest.mark.parametrize("url", [*INNER, *(url.replace("https:", "http:") for url in INNER)])
@pytest.mark.parametrize("test", [False, True])
def test_private_and_loopback_targets_need_a_setting_which_the_refusal_names(url: str, test: bool) -> None:
    message = find_refusal(url, TargetRules(), test=test)

    assert message is not None
    assert "[webhooks] allow_hosts or allow_private" in message
    assert find_refusal(url, TargetRules(allow_private=True), test=test) is None


@pytest.mark.parametrize(
    "url", ["http://localhost/", "http://127.0.0.1:8099/", "https://[::1]:8443/", "http://[::1]:80/x"]
)
def test_an_installation_on_loopback_allows_the_three_spellings_of_itself(url: str) -> None:
    assert find_refusal(url, TargetRules(loopback_allowed=True)) is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2:8099/", "http://app.localhost/", "http://localhost.:8099/", "https://10.0.0.1/"]
)
def test_an_installation_on_loopback_allows_nothing_else_by_that(url: str) -> None:
    assert find_refusal(url, TargetRules(loopback_allowed=True)) is not None


def test_plain_http_is_for_test_mode_and_listed_hosts() -> None:
    assert "allow_hosts" in str(find_refusal("http://ok.test/", TargetRules()))
    assert "allow_hosts" in str(find_refusal("http://93.184.216.34/", TargetRules(allow_private=True)))
    assert find_refusal("http://ok.test/", TargetRules(), test=True) is None
    assert find_refusal("http://ok.test:80/", TargetRules(), test=True) is None
    assert find_refusal("http://ok.test/", TargetRules(["ok.test"])) is None


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("10.0.0.5", "http://10.0.0.5:9000/"),
        ("INTERN.example", "http://intern.example/"),
        ("[fd00::0001]", "http://[fd00::1]/"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
        ("localhost", "http://localhost:8000/"),
        ("169.254.1.1", "http://169.254.1.1/"),
    ],
)
def test_a_listed_host_may_be_plain_and_private(listed: str, url: str) -> None:
    assert find_refusal(url, TargetRules([listed])) is None
    assert find_refusal(url, TargetRules(["other.example"])) is not None


def test_a_listed_host_keeps_the_rules_on_spelling_and_port() -> None:
    assert find_refusal("http://ok.test:22/", TargetRules(["ok.test"])) is not None
    assert find_refusal("http://u@ok.test/", TargetRules(["ok.test"])) is not None


def test_the_address_that_is_dialled_is_the_one_that_was_checked() -> None:
    assert (
        parse_target("HTTPS://Bücher.EXAMPLE/ü?q=ä#top").url
        == "https://xn--bcher-kva.example:443/%C3%BC?q=%C3%A4"
    )
    assert parse_target("http://[2606:4700:0:0::1111]").url == "http://[2606:4700::1111]:80/"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", Zone.PUBLIC),
        ("2606:4700:4700::1111", Zone.PUBLIC),
        ("127.255.0.1", Zone.LOOPBACK),
        ("::1", Zone.LOOPBACK),
        ("172.31.255.255", Zone.PRIVATE),
        ("172.32.0.1", Zone.PUBLIC),
        ("fd00::1", Zone.PRIVATE),
        ("fd00:ec2::254", Zone.FORBIDDEN),
        ("100.64.0.1", Zone.FORBIDDEN),
        ("::ffff:8.8.8.8", Zone.FORBIDDEN),
        ("2606:4700:4700::1111%eth0", Zone.FORBIDDEN),
    ],
)
def test_every_address_belongs_to_one_zone(address: str, expected: Zone) -> None:
    assert find_zone(ip_address(address)) is expected
