import re
from pathlib import Path

import pytest

from esign.core.errors import CATALOGUE, Detail, Problem

STATUSES = {200, 201, 400, 401, 404, 409, 429, 500, 503}

# The codes of each status, as section 6 of the contract lists them.
CODES = {
    400: """invalid_request invalid_json unsupported_media_type request_too_large invalid_file file_too_large
        too_many_pages file_encrypted file_signed file_unsupported field_out_of_bounds invalid_cursor
        invalid_idempotency_key invalid_webhook_url unknown_event""",
    401: """missing_api_key invalid_api_key api_key_revoked api_key_expired insufficient_scope plan_required""",
    404: "not_found",
    409: """document_not_draft document_not_sent document_not_completed document_in_progress seal_not_failed
        document_not_ready recipient_not_active recipient_already_completed no_recipient_to_remind
        revision_mismatch idempotency_key_reused idempotency_in_progress limit_reached webhook_disabled
        rotation_in_progress retention_locked member_exists last_owner""",
    429: "rate_limited too_many_auth_failures reminder_too_soon quota_exceeded",
    500: "internal_error",
    503: "unavailable",
}


def test_the_catalogue_holds_exactly_the_codes_of_the_contract() -> None:
    expected = {code: status for status, codes in CODES.items() for code in codes.split()}
    assert {code: status for code, (status, _) in CATALOGUE.items()} == expected


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_says_a_whole_sentence_and_answers_a_status_of_the_contract(code: str) -> None:
    status, sentence = CATALOGUE[code]
    assert status in STATUSES
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert re.fullmatch(r"[A-Z].+\.", sentence)


def test_a_problem_has_the_words_of_the_catalogue_unless_it_brings_its_own() -> None:
    assert Problem("document_not_sent").message == CATALOGUE["document_not_sent"][1]
    assert Problem("document_not_sent", "Not now.").message == "Not now."


def test_a_problem_carries_what_the_error_body_and_its_headers_need() -> None:
    details = [Detail("/title", "Too long.", "length")]
    headers = {"X": "y"}
    problem = Problem("rate_limited", details=details, current_status="draft", retry_after=3, headers=headers)
    details.clear()
    headers.clear()
    assert problem.status == 429
    assert problem.details == (Detail("/title", "Too long.", "length"),)
    assert (problem.current_status, problem.retry_after, problem.headers) == ("draft", 3, {"X": "y"})
    assert str(problem).startswith("rate_limited: ")


def test_a_code_outside_the_catalogue_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        Problem("no_such_code")


def test_every_code_the_program_raises_is_in_the_catalogue() -> None:
    sources = Path(__file__).parents[2] / "esign"
    raised = {
        code
        for file in sources.rglob("*.py")
        for code in re.findall(r'\bProblem\(\s*"([^"]+)"', file.read_text("utf-8"))
    }
    assert raised
    assert raised <= set(CATALOGUE)
