"""What the file and the environment set comes before what owners set in the browser."""

from pathlib import Path

import pytest

from esign.config import (
    NOTHING_CHOSEN,
    BrowserSettings,
    Config,
    EffectiveSettings,
    UnfitSettings,
    decode_browser_settings,
    load_config,
)

SERVER: dict[str, str | int] = {
    "host": "smtp.example.com",
    "port": 465,
    "security": "tls",
    "username": "sign",
    "password": "secret word",
    "from": "sign@example.com",
}
CHOSEN = BrowserSettings("https://sign.example.com", "http://127.0.0.1:8080", SERVER)


def load(folder: Path, text: str = "", **variables: str) -> Config:
    file = folder / "esign.toml"
    file.write_text(text, "utf-8")
    return load_config(file, variables)


def test_what_the_browser_says_is_in_force_where_nothing_else_says_it(tmp_path: Path) -> None:
    settings = EffectiveSettings(load(tmp_path), CHOSEN)
    config = settings.config
    assert config.server.base_url == "https://sign.example.com"
    assert (config.mail.host, config.mail.port, config.mail.security) == ("smtp.example.com", 465, "tls")
    assert (config.mail.username, config.mail.secret, config.mail.sender) == (
        "sign",
        "secret word",
        "sign@example.com",
    )
    assert config.mail.connections == 8
    assert not settings.is_address_unset and EffectiveSettings(load(tmp_path)).is_address_unset
    settings.replace(NOTHING_CHOSEN)
    assert settings.config == settings.given and settings.config.mail.host is None


def test_the_file_comes_before_the_browser_and_a_variable_before_the_file(tmp_path: Path) -> None:
    text = '[server]\nbase_url = "https://file.example.com"\n[mail]\nhost = "file.example.com"\nfrom = "f@example.com"'
    settings = EffectiveSettings(load(tmp_path, text, ESIGN_MAIL__HOST="variable.example.com"), CHOSEN)
    assert settings.config.server.base_url == "https://file.example.com"
    assert settings.config.mail.host == "variable.example.com"
    assert settings.find_source("server.base_url") == "esign.toml"
    assert settings.find_source("mail.host") == "ESIGN_MAIL__HOST"
    assert settings.find_source("mail.from") == "esign.toml"
    assert settings.find_source("mail.connections") is None


def test_a_server_of_the_file_is_taken_whole(tmp_path: Path) -> None:
    """Its password must not be sent to a server that the browser names, and half of a server is none."""
    text = '[mail]\nusername = "sign"\npassword = "of the file"'
    settings = EffectiveSettings(load(tmp_path, text), CHOSEN)
    assert settings.config.mail.host is None and settings.config.mail.secret == "of the file"
    assert settings.config.mail.port == 587 and settings.find_source("mail.port") == "esign.toml"
    assert settings.find_source("mail.from") is None and settings.config.mail.sender == "sign@example.com"


def test_single_keys_of_the_file_are_fixed_alone(tmp_path: Path) -> None:
    settings = EffectiveSettings(load(tmp_path, "[mail]\nport = 2525"), CHOSEN)
    assert (settings.config.mail.host, settings.config.mail.port) == ("smtp.example.com", 2525)
    assert settings.find_source("mail.port") == "esign.toml" and settings.find_source("mail.host") is None


def test_an_empty_text_in_the_file_fixes_nothing(tmp_path: Path) -> None:
    settings = EffectiveSettings(load(tmp_path, '[mail]\nhost = ""'), CHOSEN)
    assert settings.find_source("mail.host") is None and settings.config.mail.host == "smtp.example.com"


def test_a_secret_in_a_file_is_named_by_its_variable(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("of a file\n")
    config = load(tmp_path, ESIGN_MAIL__USERNAME="sign", ESIGN_MAIL__PASSWORD_FILE="word")
    assert EffectiveSettings(config).find_source("mail.password") == "ESIGN_MAIL__PASSWORD_FILE"


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (BrowserSettings("http://sign.example.com"), "https://"),
        (BrowserSettings(mail={"host": "smtp.example.com"}), "mail.from"),
        (BrowserSettings(mail={**SERVER, "port": 0}), "port"),
    ],
)
def test_what_does_not_go_together_changes_nothing(
    tmp_path: Path, chosen: BrowserSettings, reason: str
) -> None:
    settings = EffectiveSettings(load(tmp_path), CHOSEN)
    before = settings.config
    with pytest.raises(UnfitSettings, match=reason):
        settings.replace(chosen)
    assert settings.config is before and settings.chosen == CHOSEN


def test_the_server_answers_at_the_address_before_unless_the_file_names_one(tmp_path: Path) -> None:
    chosen = BrowserSettings("https://new.example.com", "https://old.example.com")
    settings = EffectiveSettings(load(tmp_path), chosen)
    assert settings.is_own_host("new.example.com") and settings.is_own_host("old.example.com")
    assert not settings.is_own_host("other.example.com") and not settings.is_own_host("")
    fixed = EffectiveSettings(load(tmp_path, ESIGN_SERVER__BASE_URL="https://fixed.example.com"), chosen)
    assert fixed.is_own_host("fixed.example.com") and not fixed.is_own_host("old.example.com")


def test_choices_are_stored_and_read_whole_and_never_print_the_password() -> None:
    assert decode_browser_settings(CHOSEN.encode()) == CHOSEN
    assert "secret word" not in repr(CHOSEN)
