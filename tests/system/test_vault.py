import hashlib
import hmac
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esign.system.app_key import KeySource, open_vault
from esign.system.vault import DamagedCiphertext, UnusableKey, Vault, write_once

KEY = bytes(range(32))


def sub_key(purpose: bytes) -> bytes:
    """HKDF-SHA256 with an empty salt and one block of output (RFC 5869)."""
    extracted = hmac.digest(bytes(32), KEY, "sha256")
    return hmac.digest(extracted, purpose + b"\x01", "sha256")


@given(plain=st.binary(max_size=200), bound=st.binary(max_size=20))
def test_what_was_encrypted_comes_back(plain: bytes, bound: bytes) -> None:
    vault = Vault(KEY)
    sealed = vault.encrypt("mail", plain, bound)
    assert vault.decrypt("mail", sealed, bound) == plain
    assert Vault(KEY).decrypt("mail", sealed, bound) == plain


def test_the_same_text_never_looks_the_same_twice() -> None:
    vault = Vault(KEY)
    assert len({vault.encrypt("mail", b"text") for _ in range(50)}) == 50
    assert b"text" not in vault.encrypt("mail", b"text")


def test_a_ciphertext_opens_only_with_its_key_purpose_and_place() -> None:
    sealed = Vault(KEY).encrypt("mail", b"text", b"mail_1")
    for vault, purpose, bound in (
        (Vault(bytes(32)), "mail", b"mail_1"),
        (Vault(KEY), "outbox", b"mail_1"),
        (Vault(KEY), "mail", b"mail_2"),
        (Vault(KEY), "mail", b""),
    ):
        with pytest.raises(DamagedCiphertext):
            vault.decrypt(purpose, sealed, bound)


def test_any_changed_cut_or_added_byte_is_noticed() -> None:
    vault = Vault(KEY)
    sealed = vault.encrypt("mail", b"text")
    changed = [sealed[:n] + bytes([sealed[n] ^ 1]) + sealed[n + 1 :] for n in range(len(sealed))]
    for damaged in (*changed, *(sealed[:n] for n in range(len(sealed))), sealed + b"\x00"):
        with pytest.raises(DamagedCiphertext):
            vault.decrypt("mail", damaged)


def test_a_mac_is_hmac_under_a_sub_key_of_its_purpose() -> None:
    vault = Vault(KEY)
    expected = hmac.new(sub_key(b"cursor"), b"message", hashlib.sha256).digest()
    assert vault.compute_mac("cursor", b"message") == expected
    assert vault.compute_mac("download", b"message") != expected
    assert vault.compute_mac("cursor", b"message2") != expected


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_the_application_key_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Vault(bytes(size))


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.key"
    sealed = open_vault(KeySource(tmp_path / "esign.db")).encrypt("mail", b"text")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_bytes()) == 32
    assert open_vault(KeySource(tmp_path / "esign.db")).decrypt("mail", sealed) == b"text"
    assert [file.name for file in tmp_path.iterdir()] == ["app.key"]


def test_no_key_is_made_for_a_database_that_has_one(tmp_path: Path) -> None:
    (tmp_path / "esign.db").touch()
    with pytest.raises(UnusableKey, match=r"app\.key is missing.* restore it from a backup"):
        open_vault(KeySource(tmp_path / "esign.db"))
    assert [file.name for file in tmp_path.iterdir()] == ["esign.db"]


def test_two_folders_get_different_keys(tmp_path: Path) -> None:
    open_vault(KeySource(tmp_path / "one.db", tmp_path / "one"))
    open_vault(KeySource(tmp_path / "two.db", tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() != (tmp_path / "two").read_bytes()


def test_a_secret_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_once(path, b"first")
    write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]


def test_what_a_crash_left_half_written_is_written_over(tmp_path: Path) -> None:
    import os

    (tmp_path / f".secret.{os.getpid()}.part").write_bytes(b"half of a much longer secret")
    write_once(tmp_path / "secret", b"whole")
    assert (tmp_path / "secret").read_bytes() == b"whole"
