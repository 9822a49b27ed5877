"""The words that people agree to."""

import hashlib

import pytest

from esign.core.document import consent
from esign.core.document.document import Role


def test_the_sentence_names_the_document_whatever_it_is_called() -> None:
    assert (
        consent.write_agreement("en", "A {organisation}")
        == "I agree to sign “A {organisation}” electronically."
    )


def test_what_is_recorded_is_said_with_whom_to_ask() -> None:
    assert consent.write_disclosure("en", "Northlight").endswith("You can ask Northlight for a paper copy.")


@pytest.mark.parametrize("locale", ["en", "en-GB", "EN", "xx", "zh-Hant-TW"])
def test_a_language_without_words_of_its_own_gets_the_english_ones(locale: str) -> None:
    assert consent.find_wording(locale) is consent.WORDINGS["en"]


@pytest.mark.parametrize("locale", consent.WORDINGS)
def test_the_hash_is_that_of_the_words_before_anything_is_filled_in(locale: str) -> None:
    shown = consent.WORDINGS[locale]
    words = f"{shown.agreement}\n{shown.disclosure}".encode()
    assert consent.hash_wording(locale) == hashlib.sha256(words).hexdigest()


def test_words_cannot_change_without_their_version() -> None:
    assert (consent.VERSION, consent.hash_wording("en")) == ("2026-11", HASH)


HASH = "6a69d9541c9db83ef72da48e0b215f6f229c3f4f940dac933befa6402eac367e"


def test_an_approver_agrees_to_words_of_their_own() -> None:
    assert consent.write_agreement("en-GB", "Offer", Role.APPROVER) == "I have read “Offer” and approve it."
    assert "paper" not in consent.write_disclosure("en", "Northlight", Role.APPROVER)
    assert consent.hash_wording("en", Role.APPROVER) != consent.hash_wording("en")
    assert consent.APPROVALS.keys() == consent.WORDINGS.keys()
