"""Where the application key is read from, who may read it, and its passphrase."""

import logging
import os
import pty
from pathlib import Path

import pytest

from esign.system import app_key
from esign.system.app_key import KeySource, open_vault, protect, read_or_make_key, unlock
from esign.system.vault import UnusableKey, Vault

KEY = bytes(range(32))
PHRASE = "a long passphrase"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A key outside the data folder."""
    path = tmp_path / "keys" / "app.key"
    path.parent.mkdir()
    path.write_bytes(KEY)
    path.chmod(0o600)
    (tmp_path / "data").mkdir()
    return path


def source(outside: Path, **more: object) -> KeySource:
    return KeySource(outside.parents[1] / "data" / "esign.db", outside, **more)  # type: ignore[arg-type]


def test_the_key_is_read_from_where_the_setting_says(outside: Path) -> None:
    assert read_or_make_key(source(outside)) == KEY
    assert not source(outside).inside.exists()


def test_a_new_key_is_made_where_the_setting_says(outside: Path) -> None:
    outside.unlink()
    made = read_or_make_key(source(outside))
    assert outside.read_bytes() == made and outside.stat().st_mode & 0o777 == 0o600
    assert not source(outside).inside.exists()


def test_a_folder_that_is_missing_is_said(outside: Path) -> None:
    with pytest.raises(UnusableKey, match=r"the folder of storage\.key_file, .* is missing"):
        read_or_make_key(KeySource(source(outside).database, outside.parent / "none" / "app.key"))


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o622])
def test_a_key_that_others_can_read_is_refused(outside: Path, mode: int) -> None:
    outside.chmod(mode)
    with pytest.raises(UnusableKey, match=f"is open to other users; close it with: chmod 600 {outside}"):
        read_or_make_key(source(outside))
    outside.chmod(0o400)
    assert read_or_make_key(source(outside)) == KEY


def test_a_credential_is_used_and_never_made(outside: Path) -> None:
    environ = {"CREDENTIALS_DIRECTORY": str(outside.parent)}
    database = outside.parents[1] / "data" / "esign.db"
    assert read_or_make_key(KeySource(database, environ=environ)) == KEY
    outside.unlink()
    with pytest.raises(UnusableKey, match="is missing; let systemd load it"):
        read_or_make_key(KeySource(database, outside, environ=environ))
    with pytest.raises(UnusableKey, match="is missing; let systemd load it"):
        read_or_make_key(KeySource(database, Path("/run/credentials/esign.service/app.key")))
    assert list(database.parent.iterdir()) == []


def test_a_second_key_in_the_data_folder_is_told(outside: Path, caplog: pytest.LogCaptureFixture) -> None:
    inside = source(outside).inside
    inside.write_bytes(KEY)
    with caplog.at_level(logging.WARNING):
        assert read_or_make_key(source(outside)) == KEY
    assert "delete that copy" in caplog.text
    inside.write_bytes(bytes(32))
    with pytest.raises(UnusableKey, match="are different keys"):
        read_or_make_key(source(outside))
    outside.unlink()
    with pytest.raises(UnusableKey, match="is missing, and the key is in"):
        read_or_make_key(source(outside))


def test_only_its_passphrase_opens_a_protected_key(outside: Path) -> None:
    outside.write_bytes(protect(KEY, PHRASE))
    assert read_or_make_key(source(outside, passphrase=PHRASE)) == KEY
    with pytest.raises(UnusableKey, match="the passphrase does not open"):
        read_or_make_key(source(outside, passphrase="another"))
    with pytest.raises(UnusableKey, match="is protected by a passphrase, and none is given"):
        read_or_make_key(source(outside))
    (outside.parent / "app.key.passphrase").write_text(f"{PHRASE}\n")
    environ = {"CREDENTIALS_DIRECTORY": str(outside.parent)}
    assert read_or_make_key(source(outside, environ=environ)) == KEY


def test_a_protected_key_that_was_changed_is_refused_at_once(outside: Path) -> None:
    sound = protect(KEY, PHRASE)
    at = len(app_key.MAGIC)
    for changed in (
        sound[:-1],
        sound[:at] + bytes(12) + sound[at + 12 :],
        sound[:at] + b"\xff" * 12 + sound[at + 12 :],
        sound[:-1] + bytes([sound[-1] ^ 1]),
    ):
        with pytest.raises(UnusableKey):
            unlock(changed, PHRASE, outside)


def test_a_passphrase_is_typed_up_to_three_times(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside.write_bytes(protect(KEY, PHRASE))
    main, side = pty.openpty()
    with os.fdopen(side, "r") as terminal, os.fdopen(main, "wb", buffering=0):
        monkeypatch.setattr("sys.stdin", terminal)
        typed = iter(["wrong", "wrong again", PHRASE, "1", "2", "3"])
        monkeypatch.setattr(app_key, "type_passphrase", lambda prompt: next(typed))
        assert open_vault(source(outside, may_ask=True)).compute_mac("a", b"") == Vault(KEY).compute_mac(
            "a", b""
        )
        with pytest.raises(UnusableKey, match="none of 3 passphrases opens"):
            read_or_make_key(source(outside, may_ask=True))


def test_what_replaces_a_key_overwrites_the_old_unless_it_has_another_name(outside: Path) -> None:
    other = outside.with_name("other")
    with outside.open("rb") as held:
        assert app_key.replace_file(source(outside), bytes(32))
        assert held.read() == bytes(32)
    outside.write_bytes(KEY)
    os.link(outside, other)
    assert not app_key.replace_file(source(outside), bytes(32))
    assert other.read_bytes() == KEY and outside.read_bytes() == bytes(32)
