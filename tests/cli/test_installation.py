"""What commands read of their environment: secrets once and again, and what a backup does not hold of it."""

import os
from pathlib import Path

import click
import pytest

from esign.cli.backup import list_left_out
from esign.cli.installation import KEY_PASSPHRASE, load_config, make_key_source
from esign.config.reading import ConfigError, read_variable

SECRET = "correct horse battery staple"


def test_the_passphrase_of_the_key_is_read_again_and_inherited_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(KEY_PASSPHRASE, SECRET)
    with click.Context(click.Command("backup")):
        for _ in range(2):
            assert load_config(None).storage.take_key_passphrase() == SECRET
            assert KEY_PASSPHRASE not in os.environ


def test_what_a_backup_does_not_hold_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    for name in ("app.key", "app.key.passphrase"):
        (credentials / name).write_text(SECRET)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credentials))
    with click.Context(click.Command("backup")):
        config = load_config(None)
        [line] = list_left_out(config, make_key_source(config), os.environ)
        assert f"{credentials}/app.key (a credential of systemd)" in line
        assert f"{credentials}/app.key.passphrase (a credential of systemd)" in line
        monkeypatch.setenv(KEY_PASSPHRASE, SECRET)
        config = load_config(None)
        named, variables = list_left_out(config, make_key_source(config), os.environ)
    assert "app.key.passphrase" not in named and SECRET not in named + variables
    assert variables == f"Not in it, note them down: {KEY_PASSPHRASE}."


def test_a_secret_is_read_from_a_file_without_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    name = "backup.passphrase"
    assert read_variable(name, {"ESIGN_BACKUP__PASSPHRASE": "x"}, tmp_path) == "x"
    assert read_variable(name, {"ESIGN_BACKUP__PASSPHRASE_FILE": "secret"}, tmp_path) == SECRET
    assert read_variable(name, {}, tmp_path) is None
    with pytest.raises(ConfigError, match="none cannot be read"):
        read_variable(name, {"ESIGN_BACKUP__PASSPHRASE_FILE": "none"}, tmp_path)
