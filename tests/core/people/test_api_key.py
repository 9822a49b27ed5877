import pytest

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.core.people.api_key import ApiKey, Scope

ZEROS = "0" * 30


def key(*scopes: Scope) -> ApiKey:
    return ApiKey("key_1", "org_1", Mode.LIVE, "ci", "", frozenset(scopes), 0)


@pytest.mark.parametrize(("mode", "check"), [(Mode.LIVE, "29ZqNo"), (Mode.TEST, "2s1Z4x")])
def test_the_checksum_is_that_of_the_contract(mode: Mode, check: str) -> None:
    made = api_key.compose_key(mode, ZEROS)
    assert made == f"esk_{mode.value}_{ZEROS}{check}"
    assert len(made) == 45
    assert api_key.parse_mode(made) is mode


@pytest.mark.parametrize("place", range(45))
def test_one_changed_character_is_noticed(place: int) -> None:
    made = api_key.compose_key(Mode.LIVE, "AbcdefghijklmnopqrstuvwxyZ0123")
    other = "b" if made[place] == "a" else "a"
    assert api_key.parse_mode(made[:place] + other + made[place + 1 :]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "esk_live_",
        ZEROS,
        f"esk_prod_{ZEROS}29ZqNo",
        f"esk_live_{ZEROS}29ZqNo\n",
        f"esk_live_{ZEROS}29ZqNoo",
        "٠" * 45,
    ],
)
def test_other_shapes_are_no_keys(text: str) -> None:
    assert api_key.parse_mode(text) is None


@pytest.mark.parametrize("random", ["", ZEROS + "0", "-" * 30])
def test_a_key_is_made_of_thirty_characters_of_the_alphabet(random: str) -> None:
    with pytest.raises(ValueError, match="30 characters"):
        api_key.compose_key(Mode.LIVE, random)


def test_the_hint_shows_four_characters_at_each_end_of_the_random_part() -> None:
    assert (
        api_key.make_hint(api_key.compose_key(Mode.LIVE, "ab12" + "x" * 22 + "wxyz")) == "esk_live_ab12…wxyz"
    )


def test_a_key_may_do_what_its_scopes_name() -> None:
    assert key(Scope.ALL).allows(Scope.DOCUMENTS_SEND)
    assert key(Scope.DOCUMENTS_WRITE).allows(Scope.DOCUMENTS_WRITE)
    assert not key(Scope.DOCUMENTS_WRITE).allows(Scope.DOCUMENTS_READ)
    assert not key().allows(Scope.ACCOUNT_READ)
