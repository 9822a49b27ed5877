"""Hashes of passwords, and which passwords are taken at all (reliability.md 6.5, T22)."""

import asyncio
from typing import Any

import pytest

from esign.core import password as rules
from esign.core.errors import Problem
from esign.passwords import AT_ONCE, TOO_EASY, WAITING, Passwords

GOOD = "copper kettle under nine maples"


@pytest.fixture
def passwords() -> Passwords:
    return Passwords()


async def test_a_hash_fits_its_password_and_no_other(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await passwords.fits(stored, GOOD)
    for other in (GOOD + " ", GOOD.upper(), "", "x" * 1024):
        assert not await passwords.fits(stored, other)
    assert stored != await passwords.hash(GOOD), "each has a salt of its own"


async def test_the_same_letters_from_another_keyboard_fit(passwords: Passwords) -> None:
    stored = await passwords.hash("cafe\u0301 mit \ufb01ligranem Griff")
    assert await passwords.fits(stored, "caf\u00e9 mit filigranem Griff")


class Counted:
    """Counts the comparisons of a real hasher."""

    def __init__(self, hasher: Any) -> None:
        self.hasher = hasher
        self.compared: list[str] = []

    def hash(self, text: str) -> str:
        return str(self.hasher.hash(text))

    def verify(self, stored: str, text: str) -> bool:
        self.compared.append(stored.rpartition("$")[0].rpartition("$")[0])
        return bool(self.hasher.verify(stored, text))


async def test_nobody_is_compared_with_as_much_work_as_somebody(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD)
    counted = Counted(passwords._hasher)
    passwords._hasher = counted  # type: ignore[assignment]
    assert not await passwords.fits(None, GOOD)
    assert not await passwords.fits(None, "the password of nobody")
    assert await passwords.fits(stored, GOOD)
    assert len(counted.compared) == 3 and len(set(counted.compared)) == 1


async def test_a_damaged_hash_fits_nothing(passwords: Passwords) -> None:
    for stored in ("", "$argon2id$", "plain"):
        assert not await passwords.fits(stored or "x", GOOD)


@pytest.mark.parametrize(
    ("text", "with_totp", "said"),
    [
        ("x" * 11, False, "12 characters"),
        ("vq7!Rk2", True, "8 characters"),
        ("vq7!Rk2#w", False, "12 characters"),
        ("\u00e4" * 513, False, "1024 bytes"),
        ("password1234", False, TOO_EASY),
        ("aaaaaaaaaaaaaaaa", False, TOO_EASY),
        ("ada@example.test", False, TOO_EASY),
        ("Alder & Finch 1", False, TOO_EASY),
        ("password", True, TOO_EASY),
    ],
)
async def test_what_is_easy_to_guess_is_refused(
    passwords: Passwords, text: str, with_totp: bool, said: str
) -> None:
    about = ("ada@example.test", "Ada", "Alder & Finch")
    complaint = await passwords.complaint(text, about, with_totp=with_totp)
    assert complaint is not None and said in complaint


@pytest.mark.parametrize(
    ("text", "with_totp"), [(GOOD, False), ("vq7!Rk2#w", True), ("日本語の長い合言葉です十二文字", False)]
)
async def test_what_is_long_and_not_common_is_taken(passwords: Passwords, text: str, with_totp: bool) -> None:
    assert await passwords.complaint(text, (), with_totp=with_totp) is None


def test_a_password_is_as_long_as_it_reads() -> None:
    assert rules.complaint("x" * 12, with_totp=False) is None
    assert rules.complaint("x" * 8, with_totp=True) is None
    assert rules.complaint("x" * 1024, with_totp=False) is None
    assert rules.complaint("x" * 1025, with_totp=False) is not None


async def test_whoever_comes_after_many_others_is_asked_to_come_back(passwords: Passwords) -> None:
    stored = await passwords.hash(GOOD)
    await passwords.fits(stored, "x")
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(asyncio.wait_for(passwords._places.acquire(), 5)) for _ in range(AT_ONCE)]
        await asyncio.gather(*held)
        waiting = [group.create_task(passwords.fits(stored, GOOD)) for _ in range(WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await passwords.fits(stored, GOOD)
        assert (refused.value.code, refused.value.retry_after) == ("rate_limited", 5)
        for _ in held:
            passwords._places.release()
    assert all(task.result() for task in waiting)
