import pytest

from esign.core.document.completion import find_completion
from esign.core.document.document import Role
from tests.factories import a_document, a_recipient


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("signer", ("signed_one", 0)),
        ("signer signer", ("signed", None)),
        ("approver", ("approved_one", 0)),
        ("approver approver", ("approved", None)),
        ("signer approver", ("signed_and_approved", None)),
        ("approver signer signer", ("signed_and_approved", None)),
        ("viewer signer cc", ("signed_one", 1)),
        ("cc approver", ("approved_one", 1)),
    ],
)
def test_a_completion_is_what_the_acting_recipients_did(roles: str, expected: tuple[str, int | None]) -> None:
    recipients = tuple(a_recipient(id=f"rcp_{n}", role=Role(role)) for n, role in enumerate(roles.split()))
    completion, only = find_completion(a_document(*recipients))
    assert (completion, recipients.index(only) if only else None) == expected
