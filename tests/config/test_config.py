"""The configuration: what a person may write, and what is said when it is wrong."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from esign.config import Config, ConfigError, is_loopback, load_config
from esign.config.reading import KEYS, SECRETS, VARIABLES, describe_allowed
from esign.config.tables import TABLES


def write_config(folder: Path, text: str) -> Path:
    file = folder / "esign.toml"
    file.write_text(text, "utf-8")
    return file


def refusal(folder: Path, text: str = "", **environ: str) -> str:
    with pytest.raises(ConfigError) as error:
        load_config(write_config(folder, text), environ)
    return str(error.value)


def test_nothing_at_all_gives_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(None, {})
    assert config == Config()
    assert (config.server.host, config.server.port) == ("127.0.0.1", 8080)
    assert config.server.base_url == "http://127.0.0.1:8080"
    assert config.storage.data_dir == tmp_path / "esign-data"
    assert config.mail.host is None
    assert config.seal.pkcs12 is None
    assert (config.organisation.name, config.organisation.plan) == ("esign", "business")
    assert config.reminders.model_dump() == {
        "enabled": True,
        "first_after_days": 3,
        "every_days": 4,
        "max": 5,
        "before_expiry_hours": 24,
    }
    assert config.limits.model_dump() == {
        "requests_per_minute": 600,
        "creates_per_minute": 0,
        "sends_per_minute": 0,
        "verifies_per_minute": 30,
        "auth_failures_per_minute": 20,
        "emails_per_day": 2000,
        "documents_per_month": 0,
        "file_mib": 25,
        "body_mib": 36,
        "pages": 500,
        "recipients": 50,
        "fields": 500,
        "webhooks": 20,
        "templates": 1000,
        "api_keys": 50,
        "event_days": 30,
        "rotation_hours": 24,
        "idempotency_hours": 24,
        "link_days": 30,
        "attachment_mib": 5,
        "download_seconds": 300,
    }


def test_the_file_of_the_working_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_config(tmp_path, "[server]\nport = 9000\n")
    monkeypatch.chdir(tmp_path)
    assert load_config(None, {}).server.port == 9000


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    file = write_config(tmp_path, "[server]\nport = 9000\n")
    assert load_config(file, {"ESIGN_SERVER__PORT": "9001"}).server.port == 9001


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("ESIGN_ORGANISATION__NAME", "Fernhill Gardens", "Fernhill Gardens"),
        ("ESIGN_ORGANISATION__NAME", '"Fernhill Gardens"', "Fernhill Gardens"),
        ("ESIGN_ORGANISATION__NAME", "1984", "1984"),
        ("ESIGN_ORGANISATION__NAME", "true", "true"),
        ("ESIGN_WEBHOOKS__ALLOW_PRIVATE", "true", True),
        ("ESIGN_WEBHOOKS__ALLOW_HOSTS", '["LocalHost", "10.0.0.5", "::1"]', ("localhost", "10.0.0.5", "::1")),
        ("ESIGN_EXPIRY__DAYS", "7", 7),
        ("ESIGN_SERVER__TRUSTED_PROXIES", '["10.0.0.0/8"]', (ip_network("10.0.0.0/8"),)),
        ("ESIGN_MAIL__FROM", "Fern <sign@fern.example>", "Fern <sign@fern.example>"),
        ("ESIGN_MAIL__HOST", "", None),
    ],
)
def test_a_variable_is_a_toml_value_or_else_a_text(
    tmp_path: Path, variable: str, text: str, expected: object
) -> None:
    config = load_config(write_config(tmp_path, ""), {variable: text})
    table, _, attribute = variable.removeprefix("ESIGN_").lower().partition("__")
    assert getattr(getattr(config, table), attribute.replace("from", "sender")) == expected


def test_relative_paths_start_at_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "seal.p12").write_bytes(b"")
    (tmp_path / "fonts").mkdir()
    text = '[storage]\ndata_dir = "data"\n[seal]\npkcs12 = "keys/seal.p12"\nfont_paths = ["fonts"]\n'
    text += 'trust = ["keys", "system"]\n'
    config = load_config(write_config(tmp_path, text), {})
    assert config.storage.data_dir == tmp_path / "data"
    assert config.seal.pkcs12 == tmp_path / "keys" / "seal.p12"
    assert config.seal.font_paths == (tmp_path / "fonts",)
    assert config.seal.trust == (tmp_path / "keys", "system")


def test_a_secret_can_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mail-password").write_text("correct horse\n", "utf-8")
    environ = {"ESIGN_MAIL__USERNAME": "esign", "ESIGN_MAIL__PASSWORD_FILE": "mail-password"}
    password = load_config(write_config(tmp_path, ""), environ).mail.password
    assert password is not None
    assert password.get_secret_value() == "correct horse"


def test_an_address_for_anchors_has_no_password(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[audit]\nanchor_to = ["https://name:hunter2@anchors.example.com/in"]\n')
    assert "an address without user name and password" in said and "hunter2" not in said


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    (tmp_path / "seal.p12").write_bytes(b"")
    text = (
        '[mail]\nusername = "u"\npassword = "hunter2-mail"\n'
        '[seal]\npkcs12 = "seal.p12"\npassphrase = "hunter2-seal"\n'
    )
    config = load_config(write_config(tmp_path, text), {})
    assert "hunter2" not in f"{config!r} {config} {config.model_dump_json()}"
    assert "hunter2" not in refusal(tmp_path, '[mail]\npassword = ["hunter2"]\npasword = "hunter2"\n')
    assert sorted(SECRETS) == [
        "backup.passphrase",
        "backup.s3_secret_key",
        "mail.password",
        "metrics.token",
        "seal.passphrase",
        "storage.key_passphrase",
    ]


@pytest.mark.parametrize(
    ("written_as", "url", "login"),
    [
        ("https://jo:s3cret@tsa.example:8443/tsr?x=1", "https://tsa.example:8443/tsr?x=1", "jo:s3cret"),
        ("https://jo%40acme:s%2F3%3Ac:ret%C3%A9@tsa.example", "https://tsa.example", "jo@acme:s/3:c:reté"),
        ("http://jo:s3cret@[::1]:8080/", "http://[::1]:8080/", "jo:s3cret"),
        ("http://tsa.example/", "http://tsa.example/", None),
    ],
)
def test_a_time_stamp_authority_is_apart_from_its_user_name_and_password(
    tmp_path: Path, written_as: str, url: str, login: str | None
) -> None:
    config = load_config(write_config(tmp_path, f"[seal]\ntsa_urls = ['{written_as}']\n"), {})
    (remote,) = config.seal.tsa_urls
    assert (remote.url, remote.login and remote.login.get_secret_value()) == (url, login)
    assert "s3cret" not in f"{config!r} {config} {config.model_dump_json()}"


@pytest.mark.parametrize(
    "mistaken",
    [
        "tsa_urls = ['http://jo:hunter2@tsa.example/']",
        "tsa_urls = ['jo:hunter2@tsa.example/']",
        "tsa_urls = ['https://jo:hun/ter2@tsa.example/', 'https://jo:hunter 2@tsa.example']",
        "tsa_urls = 'https://jo:hunter2@tsa.example/'",
        "tsa_url = ['https://jo:hunter2@tsa.example/']",
        f"tsa_urls = ['https://jo:hunter{'2' * 90}@tsa.example/ ']",
    ],
)
def test_the_password_of_an_authority_is_not_told_with_its_mistake(tmp_path: Path, mistaken: str) -> None:
    message = refusal(tmp_path, f"[seal]\n{mistaken}\n")
    assert "seal.tsa_url" in message and "…@tsa.example" in message and "hun" not in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[server]\nprot = 1\n", ["server.prot (esign.toml)", "found 1", "nearest is server.port"]),
        ("[sever]\nport = 1\n", ["sever.port", "nearest is server.port"]),
        ("[sever]\n", ["sever ", "nearest is server."]),
        ("port = 1\n", ["port (esign.toml)", "found 1", ".port"]),
        ("server = 5\n", ["server (esign.toml)", "found 5", "[server]"]),
        ("[server.tls]\nport = 1\n", ["server.tls", "found a table"]),
        ('[mail]\nsender = "a@b.example"\n', ["mail.sender", "nearest is mail."]),
        ('[server]\nport = "80"\n', ["server.port", 'found "80"', "a whole number from 1 to 65535"]),
        ("[server]\nport = true\n", ["server.port", "found true", "a whole number"]),
        ("[server]\nport = 0\n", ["found 0", "a whole number from 1 to 65535"]),
        ("[server]\nport = 80.0\n", ["found 80.0", "a whole number"]),
        ("[server]\nport = 1979-05-27\n", ["found 1979-05-27"]),
        ("[server]\nhost = 'http://x'\n", ["server.host", "a host name or an address"]),
        ("[server]\nhost = 'a b'\n", ["server.host", 'found "a b"', "a host name or an address"]),
        ("[server]\nbase_url = 'https://a.example/x'\n", ["server.base_url", "without a path"]),
        ("[server]\nbase_url = 'https://a.example?x'\n", ["server.base_url", "without a path"]),
        ("[server]\nbase_url = 'https://u@a.example'\n", ["server.base_url", "without a path"]),
        ("[server]\nbase_url = 'https://a.example:99999'\n", ["server.base_url", "without a path"]),
        ("[server]\nbase_url = 'ftp://a.example'\n", ["server.base_url", "https://sign.example.com"]),
        ("[server]\nbase_url = 'a.example'\n", ["server.base_url", "https://sign.example.com"]),
        ("[server]\nbase_url = 'http://a.example'\n", ["server.base_url", "an https:// address"]),
        (
            "[server]\nhost = '0.0.0.0'\n",
            ["server.base_url: found http://0.0.0.0:8080", "an https:// address"],
        ),
        ("[server]\ntrusted_proxies = ['*']\n", ["server.trusted_proxies", 'found "*"', "10.0.0.0/8"]),
        ("[server]\ntrusted_proxies = ['0.0.0.0/0']\n", ["server.trusted_proxies", 'found "0.0.0.0/0"']),
        ("[server]\ntrusted_proxies = ['10.0.0.1/8']\n", ["server.trusted_proxies", "10.0.0.1/8"]),
        ("[server]\ntrusted_proxies = '10.0.0.1'\n", ["server.trusted_proxies", "a list of texts"]),
        ("[server]\ntrusted_proxies = [5]\n", ["server.trusted_proxies", "found 5"]),
        ("[server]\nenvironment = 'prod'\n", ["server.environment", '"production" or "test"']),
        ("[storage]\ndata_dir = 5\n", ["storage.data_dir", "found 5", "a text in quotes"]),
        ("[mail]\nhost = 'mail.example'\n", ["mail.from: not set", "mail.host"]),
        ("[mail]\npassword = 'x'\n", ["mail.username: not set"]),
        ("[mail]\nusername = 'x'\n", ["mail.password: not set"]),
        ("[mail]\nsecurity = 'ssl'\n", ["mail.security", '"starttls" or "tls" or "none"']),
        ("[mail]\nfrom = 'nobody'\n", ["mail.from", 'found "nobody"', "sign@example.com"]),
        ("[mail]\nfrom = 'A <a@b.example'\n", ["mail.from", "sign@example.com"]),
        ("[mail]\nfrom = 'a@b.example, c@d.example'\n", ["mail.from", "one address"]),
        (
            '[mail]\nfrom = "a@b.example\\r\\nBcc: c@d.example"\n',
            ["mail.from", "\\u000d\\u000a", "one address"],
        ),
        ("[seal]\npassphrase = 'x'\n", ["seal.pkcs12: not set", "seal.passphrase"]),
        ("[seal]\ncertificate = 'esign.toml'\n", ["seal.key: not set", "because seal.certificate is set"]),
        ("[seal]\nkey = 'esign.toml'\n", ["seal.certificate: not set", "because seal.key is set"]),
        (
            "[seal]\npkcs12 = 'esign.toml'\nkey = 'esign.toml'\n",
            ["seal.pkcs12: found together with seal.key; allowed is one of them"],
        ),
        (
            "[seal]\npkcs12 = 'esign.toml'\ncertificate = 'esign.toml'\n",
            ["seal.pkcs12: found together with seal.certificate; allowed is one of them"],
        ),
        ("[seal]\npkcs12 = 'none.p12'\n", ["seal.pkcs12", "a file that exists"]),
        ("[seal]\nfont_paths = ['none']\n", ["seal.font_paths", "a folder that exists"]),
        ("[seal]\nlevel = 'B-LT'\n", ["seal.level", '"B-B" or "B-T"']),
        ("[seal]\nlevel = 'B-T'\n", ["seal.tsa_urls: not set", 'because seal.level is "B-T"']),
        ("[seal]\ntsa_urls = ['ftp://tsa']\n", ["seal.tsa_urls", "http:// or https://"]),
        (
            "[seal]\ntsa_urls = ['http://a:b@tsa.example/']\n",
            ["seal.tsa_urls", "https:// address where it has"],
        ),
        ("[seal]\ntsa_urls = ['https://a@tsa.example/']\n", ["seal.tsa_urls", "name:password@"]),
        ("[seal]\ntsa_urls = ['https://:b@tsa.example/']\n", ["seal.tsa_urls", "name:password@"]),
        ("[seal]\ntsa_urls = ['https://a%3Ac:b@tsa.example/']\n", ["seal.tsa_urls", "name:password@"]),
        ("[seal]\ntsa_urls = ['https://a:b%0A@tsa.example/']\n", ["seal.tsa_urls", "name:password@"]),
        ("[seal]\ntsa_urls = [5]\n", ["seal.tsa_urls", "found 5", "http:// or https://"]),
        ("[seal]\ntsa_urls = ['http://tsa example/']\n", ["seal.tsa_urls", "http:// or https://"]),
        ("[seal]\ntsa_outage = 'fake'\n", ["seal.tsa_outage", '"wait" or "complete"']),
        ("[seal]\ntrust = ['none']\n", ["seal.trust", 'files or folders that exist, or "system"']),
        ("[seal]\ntrust = 5\n", ["seal.trust"]),
        ("[organisation]\nname = ' '\n", ["organisation.name", "1 to 200 characters"]),
        ('[organisation]\nname = "a\\nb"\n', ["organisation.name", "without control characters"]),
        ("[organisation]\nlocale = 'xx'\n", ["organisation.locale", 'allowed is "ar" or "de" or "en"']),
        ("[organisation]\ntime_zone = 'Mars/Base'\n", ["organisation.time_zone", "Europe/Berlin"]),
        ("[organisation]\ntime_zone = '../UTC'\n", ["organisation.time_zone", "Europe/Berlin"]),
        ("[organisation]\nplan = 'gold'\n", ["organisation.plan", '"business" or "enterprise"']),
        ("[webhooks]\nallow_hosts = ['http://x']\n", ["webhooks.allow_hosts", "without scheme"]),
        ("[webhooks]\nallow_private = 1\n", ["webhooks.allow_private", "true or false"]),
        ("[reminders]\nmax = 11\n", ["reminders.max", "a whole number from 0 to 10"]),
        ("[expiry]\ndays = 366\n", ["expiry.days", "from 1 to 365"]),
        ("[limits]\nfile_mib = 101\n", ["limits.file_mib", "from 1 to 100"]),
        ("[limits]\nfile_mib = 50\n", ["limits.body_mib: found 36", "68 or more"]),
        ("[server\n", ["esign.toml: is not TOML", "line 1"]),
        ("[server]\nport = 1\nport = 2\n", ["esign.toml: is not TOML"]),
    ],
)
def test_a_mistake_is_named_with_its_key_what_was_found_and_what_is_allowed(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    message = refusal(tmp_path, text)
    for part in expected:
        assert part in message


def test_all_mistakes_are_told_at_once_and_nothing_else(tmp_path: Path) -> None:
    message = refusal(
        tmp_path, "[server]\nhost = 'a b'\nport = 0\n[expiry]\ndayz = 3\n", ESIGN_LIMITS__PAGE="1"
    )
    assert [line.split(" ")[0] for line in message.splitlines()] == [
        "expiry.dayz",
        "ESIGN_LIMITS__PAGE",
        "server.host",
        "server.port",
    ]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"ESIGN_SERVER__PROT": "1"}, ["ESIGN_SERVER__PROT", "nearest is ESIGN_SERVER__PORT"]),
        ({"ESIGN_PORT": "1"}, ["ESIGN_PORT", "__PORT"]),
        ({"ESIGN_SERVER__PORT": "x"}, ["server.port (ESIGN_SERVER__PORT)", 'found "x"']),
        ({"ESIGN_SERVER__PORT_FILE": "x"}, ["ESIGN_SERVER__PORT_FILE", "nearest is ESIGN_SERVER__PORT"]),
        ({"ESIGN_MAIL__PASSWORD_FILE": "none"}, ["ESIGN_MAIL__PASSWORD_FILE", "cannot be read"]),
        ({"ESIGN_MAIL__PASSWORD_FILE": "empty"}, ["ESIGN_MAIL__PASSWORD_FILE", "is empty"]),
        ({"ESIGN_MAIL__PASSWORD_FILE": "a", "ESIGN_MAIL__PASSWORD": "b"}, ["mail.password", "found both"]),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, environ: dict[str, str], expected: list[str]) -> None:
    (tmp_path / "empty").touch()
    message = refusal(tmp_path, **environ)
    for part in expected:
        assert part in message


def test_foreign_and_reserved_variables_are_left_alone(tmp_path: Path) -> None:
    environ = {"HOME": "/root", "ESIGNAL": "1", "esign_x": "1", "ESIGN_KEY": "esk_", "ESIGN_URL": "http://x"}
    assert load_config(write_config(tmp_path, ""), environ).server.port == 8080


def test_a_file_that_was_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read: .*; put it there"):
        load_config(tmp_path / "none.toml", {})


def test_bytes_that_are_no_text_are_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "esign.toml"
    file.write_bytes(b"\xff\xfe[server]")
    with pytest.raises(ConfigError, match="is not TOML in UTF-8"):
        load_config(file, {})


@pytest.mark.parametrize(
    ("given", "kept", "host"),
    [
        ("https://Sign.Example.com/", "https://sign.example.com", "sign.example.com"),
        ("https://sign.example.com:8443", "https://sign.example.com:8443", "sign.example.com"),
        ("http://localhost:8080", "http://localhost:8080", "localhost"),
        ("http://[::1]:8080", "http://[::1]:8080", "::1"),
    ],
)
def test_the_base_address_is_kept_bare(tmp_path: Path, given: str, kept: str, host: str) -> None:
    config = load_config(write_config(tmp_path, f'[server]\nbase_url = "{given}"\n'), {})
    assert config.server.base_url == kept
    assert config.public_host == host
    assert config.is_loopback is kept.startswith("http:")


def test_plain_http_is_allowed_anywhere_where_nothing_has_legal_effect(tmp_path: Path) -> None:
    text = '[server]\nhost = "0.0.0.0"\nbase_url = "http://sign.test.example"\nenvironment = "test"\n'
    assert load_config(write_config(tmp_path, text), {}).server.base_url == "http://sign.test.example"


@pytest.mark.parametrize("host", ["localhost", "esign.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_a_loopback_host_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "0.0.0.0", "localhost.example.com", "::"])
def test_any_other_host_is_no_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_an_ipv6_host_gives_a_bracketed_address(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, '[server]\nhost = "::1"\n'), {})
    assert config.server.base_url == "http://[::1]:8080"


def test_the_configuration_cannot_be_changed() -> None:
    config = Config()
    with pytest.raises(ValueError, match="frozen"):
        config.server.port = 1
    with pytest.raises(ValueError, match="frozen"):
        config.server = config.server


def test_every_key_has_one_line_a_variable_and_says_what_it_takes() -> None:
    assert sum(len(model.model_fields) for model in TABLES.values()) == len(KEYS) == len(VARIABLES)
    assert set(TABLES) == set(Config.model_fields)
    for path, field in KEYS.items():
        assert field.description, path
        assert field.description.endswith("."), path
        assert describe_allowed(field), path


def test_a_token_of_the_metrics_that_could_be_guessed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metrics\.token: found a short one; allowed is a secret of 16"):
        load_config(None, {"ESIGN_METRICS__TOKEN": "short"})
    assert load_config(None, {"ESIGN_METRICS__TOKEN": "x" * 16}).metrics.is_on
    assert not load_config(None, {}).metrics.is_on
