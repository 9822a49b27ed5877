import base64
import re
import uuid
from collections.abc import Callable

import pytest

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.system import entropy
from tests.factories import NOW

PREFIXES = ["doc", "rcp", "fld", "tpl", "rol", "wh", "evt", "dlv", "key", "mem", "org", "req"]
MAKERS: list[Callable[[], object]] = [
    lambda: entropy.make_id("doc", NOW),
    entropy.make_token,
    entropy.make_webhook_secret,
    entropy.make_salt,
    entropy.make_key_secret,
]


def as_uuid(made: str) -> uuid.UUID:
    """The UUID in an id, read with an alphabet written down here a second time (Crockford, without i l o u)."""
    number = 0
    for character in made.rpartition("_")[2]:
        number = number * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(character)
    return uuid.UUID(int=number)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_an_id_is_its_prefix_and_26_characters_of_a_uuid_version_7(prefix: str) -> None:
    made = entropy.make_id(prefix, NOW)
    assert re.fullmatch(prefix + r"_[0-7][0-9a-hjkmnp-tv-z]{25}", made)
    found = as_uuid(made)
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == NOW


def test_ids_of_one_millisecond_sort_as_they_were_made() -> None:
    made = [entropy.make_id("doc", NOW) for _ in range(2000)]
    assert made == sorted(set(made))


def test_ids_sort_by_the_time_they_were_made() -> None:
    made = [entropy.make_id("doc", NOW + n) for n in (0, 1, 2, 1000, 10**9, 10**12)]
    assert sorted(made) == made


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_random_comes_twice(make: Callable[[], object]) -> None:
    assert len({make() for _ in range(2000)}) == 2000


def test_a_token_is_256_bits_that_fit_into_an_address() -> None:
    token = entropy.make_token()
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert len(base64.urlsafe_b64decode(token + "=")) == 32


def test_a_webhook_secret_is_written_as_standard_webhooks_does() -> None:
    secret = entropy.make_webhook_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


def test_a_salt_has_16_bytes() -> None:
    assert len(entropy.make_salt()) == 16


def test_the_random_part_of_a_key_makes_a_key() -> None:
    made = {character for _ in range(200) for character in entropy.make_key_secret()}
    assert made == set(api_key.ALPHABET)
    assert api_key.parse_mode(api_key.compose_key(Mode.TEST, entropy.make_key_secret())) is Mode.TEST


def test_the_jitter_spreads_over_a_tenth_to_either_side_and_no_further() -> None:
    made = [entropy.draw_jitter() for _ in range(3000)]
    assert min(made) >= 0.9
    assert max(made) <= 1.1
    assert min(made) < 0.92
    assert max(made) > 1.08
