"""What a duplicate takes over and what begins anew."""

from itertools import count

import pytest

from esign.core.document.document import FieldType, RecipientStatus, Status
from esign.core.document.duplicate import duplicate
from tests.factories import NOW, SENDER, TYPED, a_document, a_field, a_recipient

LATER = NOW + 5


@pytest.mark.parametrize("status", Status)
def test_every_document_can_be_duplicated_and_nothing_has_happened_to_the_copy(status: Status) -> None:
    filled = a_field(value="theirs", filled_at=NOW)
    prefilled, fixed = a_field(value="ours"), a_field(value="fixed", read_only=True, filled_at=NOW)
    signed = a_field(FieldType.SIGNATURE, value=TYPED, filled_at=NOW)
    person = a_recipient(
        status=RecipientStatus.COMPLETED, order=3, fields=(filled, prefilled, fixed, signed), ink=TYPED
    )
    document = a_document(
        person, status=status, message="Dear", metadata={"a": "b"}, external_id="o-1", revision=7
    )
    numbers = count()
    copy = duplicate(document, None, SENDER, lambda prefix, now: f"{prefix}_{next(numbers)}", LATER)
    (new,) = copy.recipients
    assert (copy.status, copy.revision, copy.sent_at, copy.seal) == (Status.DRAFT, 1, None, None)
    assert (copy.title, copy.file, copy.message) == (document.title, document.file, "Dear")
    assert (copy.metadata, copy.external_id, copy.created_at) == ({"a": "b"}, None, LATER)
    assert (new.email, new.name, new.order) == (person.email, person.name, 3)
    assert (new.status, new.ink, new.consent, new.sent_at) == (RecipientStatus.CREATED, None, None, None)
    assert [field.value for field in new.fields] == [None, "ours", "fixed", None]
    assert not any(field.filled_at for field in new.fields)
    assert len({copy.id, new.id, *(field.id for field in new.fields)}) == 6


def test_a_title_may_be_given() -> None:
    assert duplicate(a_document(), "Other", SENDER, lambda p, n: p, LATER).title == "Other"
