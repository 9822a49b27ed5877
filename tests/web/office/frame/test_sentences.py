"""Every sentence that is raised has its form in the English catalogue, and no form is there for nothing."""

import re
from collections.abc import Mapping
from functools import cache

from esign.core.errors import CATALOGUE
from esign.core.sentence import PLACE, TOGETHER
from esign.pdf import verdict_sentences
from esign.pdf.fields.form_fields import NAMELESS_DROPDOWN, NAMELESS_FIELD
from esign.pdf.inspection import WORKER_FORMS
from esign.pdf.signer import signing_key
from esign.pdf.verdict_sentences import AGAINST, UNCHECKED, UNSIGNED, WITH_VALUES
from esign.system import passwords
from esign.tsa import client
from esign.web.http.validation import LENGTHS
from esign.web.office.frame.words import load_words
from tests.house.sentences import find_clauses, find_sentences

CODE = re.compile("^[a-z_]+: ")
WORDS = load_words("en").sentences

# Sentences that no page of the web application shows: pages for recipients have sentences of their own, and the
# command line and the API are English.
ELSEWHERE = frozenset(
    {
        *("esign.actions.signing.phone_handoff", "esign.actions.signing.recipient_auth"),
        *("esign.actions.signing.signing", "esign.actions.signing.signing_drafts"),
        *("esign.authority.trusted", "esign.core.document.signing_draft", "esign.web.http.request_guard"),
        *("esign.authority.standing", "esign.web.http.plain_http"),
    }
)
COMMAND_LINE = re.compile("; see esign [a-z]+ list\\.$")
API = frozenset(
    {
        "The limit of {limit} requests in {window} seconds (policy {policy}) is used up; try again in {wait} seconds.",
        *("The query is not text in UTF-8, or too long.", "Given more than once."),
    }
)
# What is wrong with the seal of an anchor, which commands alone check, and what nobody is left to read.
UNSEEN = frozenset(
    {
        *("its seal is over something else", "its seal names another certificate", "its seal is wrong"),
        *("its seal cannot be checked here", "its seal cannot be read"),
        "The server ended during the seal.",
    }
)
# What is not passed to anything that raises or says a sentence where the source can be followed.
LISTED = frozenset(
    {
        *(message for _, message in CATALOGUE.values()),
        *(*AGAINST, *UNCHECKED, *UNSIGNED, *WITH_VALUES, verdict_sentences.STRIPPED),
        *(verdict_sentences.UNRECOGNISED, verdict_sentences.NOT_COMPARED, verdict_sentences.FORM_FILLED),
        *(verdict_sentences.UNJUDGED_ARCHIVE, verdict_sentences.REVOCATION_UNKNOWN),
        *(verdict_sentences.OTHER_PURPOSE, passwords.TOO_EASY),
        *(TOGETHER, NAMELESS_FIELD, NAMELESS_DROPDOWN),
        *(signing_key.UNREADABLE, signing_key.UNMATCHED),  # which the signer process answers
    }
)


def write_sentence(clause: str) -> str:
    """Return a clause as pages show it: `timeout: no answer` is `No answer.`"""
    bare = CODE.sub("", clause)
    return f"{bare[0].upper()}{bare[1:]}."


@cache
def list_shown() -> Mapping[str, str | None]:
    """Return the forms that pages may show, each with its text for one."""
    found = [
        (module, one)
        for module, sentences in find_sentences().items()
        if module not in ELSEWHERE
        for one in sentences
        if one.form and not one.glued and not COMMAND_LINE.search(one.form) and one.form not in API | UNSEEN
    ]
    clauses = {one.form for sentences in find_clauses().values() for one in sentences if one.form}
    clauses = {one for one in clauses - UNSEEN if re.search("[a-z]", PLACE.sub("", CODE.sub("", one)))}
    clauses |= {client.REFUSED, client.ASKED}
    shown: dict[str, str | None] = dict.fromkeys((*LISTED, *map(write_sentence, clauses)))
    shown |= {rule.sentence: rule.one for rule in LENGTHS.values()}
    for module, one in found:
        is_clause = one.form in clauses or (module == client.__name__ and one.form[0].islower())
        form = write_sentence(one.form) if is_clause else one.form
        shown[form] = one.one or shown.get(form)
    return shown


def test_no_sentence_is_put_together_from_pieces() -> None:
    glued = {
        one.glued for found in (find_sentences(), find_clauses()) for each in found.values() for one in each
    }
    assert glued == {None}


def test_no_sentence_is_missing() -> None:
    assert list_shown().keys() - WORDS.keys() == set()


def test_no_sentence_is_left_over() -> None:
    assert WORDS.keys() - list_shown().keys() == set()


def test_the_catalogue_says_in_english_what_is_raised() -> None:
    for form, said in WORDS.items():
        if "{n}" not in form:
            assert said == form
            continue
        assert said.keys() == {"one", "other"} and said["other"] == form
        assert said["one"] != form or list_shown()[form] == form
        assert list_shown()[form] in (None, said["one"])


def test_what_a_worker_says_about_a_file_is_found_again_by_its_form() -> None:
    workers = ("esign.pdf.intake", "esign.pdf.page", "esign.pdf.fields", "esign.pdf.drawing.logo")
    said = {
        one.form for module, found in find_sentences().items() if module.startswith(workers) for one in found
    }
    assert {form for form in said if PLACE.search(form) and "{{" not in form} == set(WORKER_FORMS)
