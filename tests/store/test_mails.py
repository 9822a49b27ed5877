from dataclasses import replace

import pytest

from esign.core.account import Organisation
from esign.core.instant import DAY
from esign.store import mails
from esign.store.database import Database
from esign.store.mails import KeptMail
from tests.factories import NOW, an_organisation, store_organisation


def a_mail(n: int, **changes: object) -> KeptMail:
    made = KeptMail(f"mail_{n}", f"<{n}@x>", "Jo <jo@example.com>", "Süß", b"sealed", NOW + n)
    return replace(made, **changes)  # type: ignore[arg-type]


async def keep(db: Database, *kept: KeptMail) -> None:
    for mail in kept:
        await db.write(lambda tx, mail=mail: mails.keep(tx, mail))  # type: ignore[misc]


async def test_kept_mails_come_back_newest_last(db: Database) -> None:
    kept = [a_mail(n) for n in range(4)]
    await keep(db, kept[2], kept[0], kept[3], kept[1])
    assert await mails.newest(db, 9) == kept
    assert await mails.newest(db, 2) == kept[2:]
    assert await mails.get(db, "mail_1") == kept[1]
    assert await mails.get(db, "mail_9") is None


async def test_the_same_message_sent_again_after_a_crash_is_kept_once(db: Database) -> None:
    await keep(db, a_mail(1), a_mail(2, message_id="<1@x>"))
    assert await mails.newest(db, 9) == [a_mail(1)]


@pytest.mark.parametrize(("at", "day"), [(NOW, 2), (NOW + DAY - 1, 2), (NOW + DAY, 1), (NOW - 1, 0)])
async def test_mails_are_counted_by_day_in_utc_and_by_organisation(
    db: Database, organisation: Organisation, at: int, day: int
) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    for moment in (NOW, NOW + DAY - 1, NOW + DAY):
        await db.write(lambda tx, moment=moment: mails.count(tx, organisation.id, moment))  # type: ignore[misc]
    assert await mails.sent_today(db, organisation.id, at) == day
    assert await mails.sent_today(db, "org_other", at) == 0
