import fcntl
import hashlib
import hmac
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esign.system.app_key import KeySource, open_vault
from esign.system.vault import DamagedCiphertext, UnusableKey, Vault, remove_leftovers, write_once, write_over

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

    (tmp_path / f".secret.{os.getpid()}.part").write_bytes(b"half of a much longer secret")
    write_once(tmp_path / "secret", b"whole")
    assert (tmp_path / "secret").read_bytes() == b"whole"


async def test_what_is_encrypted_aside_is_encrypted_again_by_a_key_that_was_adopted_meanwhile() -> None:
    vault, made = Vault(bytes(32)), list[bytes]()

    def encrypt() -> bytes:
        made.append(vault.encrypt("mail", b"text"))
        return made[-1]

    encrypted = await vault.encrypt_aside(encrypt)
    assert encrypted() == made[0] and len(made) == 1
    vault.adopt_key(b"n" * 32)
    assert Vault(b"n" * 32).decrypt("mail", encrypted()) == b"text"


def leave_part(path: Path, pid: int, content: bytes = b"s" * 32) -> Path:
    part = path.with_name(f".{path.name}.{pid}.part")
    part.write_bytes(content)
    part.chmod(0o600)
    return part


def test_what_a_kill_left_of_a_secret_is_overwritten_and_removed(tmp_path: Path) -> None:
    part = leave_part(tmp_path / "app.key", 4_000_000)
    with part.open("rb") as held:
        remove_leftovers(tmp_path, "app.key")
        assert held.read() == bytes(32)
    assert not part.exists()
    write_over(tmp_path / "app.key", b"k" * 32)
    other = leave_part(tmp_path / "app.key", 4_000_001)
    write_over(tmp_path / "app.key", b"l" * 32)
    assert not other.exists()


def test_a_leftover_with_another_name_is_removed_and_not_overwritten(tmp_path: Path) -> None:
    key = tmp_path / "app.key"
    part = leave_part(key, 4_000_000)
    os.link(part, key)  # killed between the two names
    remove_leftovers(tmp_path, "app.key")
    assert not part.exists() and key.read_bytes() == b"s" * 32


def test_what_is_no_leftover_stays(tmp_path: Path) -> None:
    key, aim = tmp_path / "app.key", tmp_path / "aim"
    aim.write_bytes(b"a" * 32)
    linked = tmp_path / ".app.key.4000000.part"
    linked.symlink_to(aim)
    others = [tmp_path / name for name in (".app.key.part", ".app.key.1x.part", ".other.4000000.part")]
    for other in others:
        other.write_bytes(b"o")
    writing = leave_part(key, 4_000_001)
    with writing.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # as whoever writes it does
        remove_leftovers(tmp_path, "app.key")
    assert writing.exists() and linked.is_symlink() and aim.read_bytes() == b"a" * 32
    assert all(other.exists() for other in others)
    if os.geteuid() == 0:
        os.chown(writing, 12345, 12345)
        remove_leftovers(tmp_path, "app.key")
        assert writing.exists()
