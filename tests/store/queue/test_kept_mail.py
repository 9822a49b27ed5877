from dataclasses import replace

import pytest

from esign.core.instant import DAY
from esign.store.engine.database import Database
from esign.store.engine.paging import PageStart
from esign.store.queue import kept_mail
from esign.store.queue.kept_mail import KeptMail, KeptMailFilter, MailWords
from tests.factories import NOW
from tests.store.plans import steps


def a_mail(n: int, **changes: object) -> KeptMail:
    made = KeptMail(f"mail_{n}", f"<{n}@x>", "Jo <jo@example.com>", "Süß", b"sealed", NOW + n)
    return replace(made, **changes)  # type: ignore[arg-type]


async def keep(db: Database, *kept: KeptMail) -> None:
    for mail in kept:
        await db.write(lambda tx, mail=mail: kept_mail.keep(tx, mail))  # type: ignore[misc]


async def test_kept_mails_come_back_newest_last(db: Database) -> None:
    kept = [a_mail(n) for n in range(4)]
    await keep(db, kept[2], kept[0], kept[3], kept[1])
    assert await kept_mail.find_newest(db, 9) == kept
    assert await kept_mail.find_newest(db, 2) == kept[2:]
    assert await kept_mail.get(db, "mail_1") == kept[1]
    assert await kept_mail.get(db, "mail_9") is None


async def test_the_same_message_sent_again_after_a_crash_is_kept_once(db: Database) -> None:
    await keep(db, a_mail(1), a_mail(2, message_id="<1@x>"))
    assert await kept_mail.find_newest(db, 9) == [a_mail(1)]


def a_test_mail(n: int, **changes: object) -> KeptMail:
    whose = {"organisation_id": "org_1", "document_id": "doc_1", "recipient_id": "rcp_1", "words": b"words"}
    return a_mail(n, **whose | changes)


async def test_the_first_id_is_the_one_that_counts(db: Database) -> None:
    assert await db.write(lambda tx: kept_mail.keep(tx, a_mail(1))) == "mail_1"
    assert await db.write(lambda tx: kept_mail.keep(tx, a_mail(2, message_id="<1@x>"))) == "mail_1"


async def test_mails_of_test_mode_are_found_by_whose_they_are_newest_first(db: Database) -> None:
    other = {"document_id": "doc_2", "recipient_id": "rcp_2"}
    kept = [a_test_mail(0), a_test_mail(1, **other), a_test_mail(2, recipient_id="rcp_3"), a_test_mail(3)]
    await keep(db, a_mail(4), *kept, a_test_mail(5, organisation_id="org_2"))

    async def find_subjects(after: PageStart | None = None, **filters: str) -> list[str]:
        return [
            mail.id
            for mail in await kept_mail.find_test_mails(db, KeptMailFilter("org_1", **filters), 9, after)
        ]

    assert await find_subjects() == ["mail_3", "mail_2", "mail_1", "mail_0"]
    assert await find_subjects(document_id="doc_1") == ["mail_3", "mail_2", "mail_0"]
    assert await find_subjects(recipient_id="rcp_1") == ["mail_3", "mail_0"]
    assert await find_subjects(document_id="doc_2", recipient_id="rcp_1") == []
    assert await find_subjects(PageStart(NOW + 2, "mail_2"), document_id="doc_1") == ["mail_0"]
    assert await kept_mail.find_test_mails(db, KeptMailFilter("org_1"), 1) == [
        MailWords("mail_3", "Süß", b"words", NOW + 3)
    ]


async def test_mails_of_a_document_go_with_it_and_those_of_none_after_a_while(db: Database) -> None:
    about_nothing = a_test_mail(1, document_id=None, recipient_id=None)
    await keep(db, a_mail(0), about_nothing, a_test_mail(2), a_test_mail(3, document_id="doc_2"))
    await db.write(lambda tx: kept_mail.forget_document(tx, "org_1", "doc_1"))
    assert [mail.id for mail in await kept_mail.find_newest(db, 9)] == ["mail_0", "mail_1", "mail_3"]
    assert await db.write(lambda tx: kept_mail.prune(tx, NOW + DAY, 9)) == 1
    assert [mail.id for mail in await kept_mail.find_newest(db, 9)] == ["mail_0", "mail_3"]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "kept_mail_of_tests"),
        ({"document_id": "doc_1"}, "kept_mail_of_document"),
        ({"recipient_id": "rcp_1"}, "kept_mail_of_recipient"),
        ({"document_id": "doc_1", "recipient_id": "rcp_1"}, "kept_mail_of_"),
    ],
)
async def test_mails_of_test_mode_are_read_along_an_index(
    db: Database, filters: dict[str, str], index: str
) -> None:
    [step] = await steps(
        db,
        lambda tx: kept_mail.find_test_mails(
            tx, KeptMailFilter("org_1", **filters), 25, PageStart(NOW, "mail_1")
        ),
    )
    assert step.startswith("SEARCH kept_mail USING INDEX") and index in step, step


async def test_what_goes_is_found_along_an_index(db: Database) -> None:
    plan = await steps(db, lambda tx: kept_mail.prune(tx, NOW, 500))
    plan += await steps(db, lambda tx: kept_mail.forget_document(tx, "org_1", "doc_1"))
    assert plan and all("SCAN" not in step for step in plan), plan
    assert any("kept_mail_of_nothing" in step for step in plan), plan
