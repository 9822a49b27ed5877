"""The settings of https: two lines are enough, and what does not go together is said."""

from pathlib import Path

import pytest

from esign.config import Config, load_config
from tests.config.test_config import refusal, write_config

AUTO = '[server]\nhttps = "auto"\nbase_url = "https://sign.example.com"\n'
FILES = (
    '[server]\nhttps = "files"\nbase_url = "https://sign.example.com"\n'
    'https_certificate = "a.pem"\nhttps_key = "a.key"\n'
)


def test_two_lines_are_enough(tmp_path: Path) -> None:
    server = load_config(write_config(tmp_path, AUTO), {}).server
    assert (server.host, server.port, server.http_port) == ("::", 443, 80)
    assert server.acme_directory == "https://acme-v02.api.letsencrypt.org/directory"


def test_the_ports_can_be_others_and_files_lie_beside_the_configuration(tmp_path: Path) -> None:
    text = f'{FILES}host = "127.0.0.1"\nport = 8443\nhttp_port = 0\n'
    server = load_config(write_config(tmp_path, text), {}).server
    assert (server.host, server.port, server.http_port) == ("127.0.0.1", 8443, 0)
    assert server.https_certificate == tmp_path / "a.pem"


def test_without_https_nothing_has_changed() -> None:
    server = Config().server
    assert (server.https, server.host, server.port) == ("off", "127.0.0.1", 8080)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[server]\nhttps = "auto"\n', "server.base_url: not set; an address such as"),
        (AUTO.replace("https://sign", "http://sign"), "server.base_url: found http://sign.example.com;"),
        (
            AUTO.replace("https://sign", "http://sign") + 'environment = "test"\n',
            "server.base_url: found http://sign.example.com; an address such as https://sign.example.com is needed",
        ),
        (AUTO.replace("sign.example.com", "192.0.2.1"), "a name of the DNS is needed"),
        (AUTO.replace("sign.example.com", "localhost"), "a name of the DNS is needed"),
        (AUTO + "http_port = 0\n", "server.http_port: found 0; a port is needed"),
        (AUTO + "http_port = 443\n", "server.http_port: found 443, which is server.port"),
        (AUTO + 'https_key = "a.key"\n', 'server.https_key: set, but server.https is "auto"'),
        (AUTO + 'acme_directory = "http://acme.example.com/dir"\n', "allowed is an https:// address"),
        (AUTO + 'acme_trust = "none.pem"\n', "allowed is a file that exists"),
        (FILES.replace('https_key = "a.key"\n', ""), "server.https_key: not set; a file is needed"),
        ('[server]\nhttps_certificate = "a.pem"\n', 'set, but server.https is "off"'),
        ('[server]\nhttps = "on"\n', 'server.https (esign.toml): found "on"'),
    ],
)
def test_what_does_not_go_together_is_said(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)
