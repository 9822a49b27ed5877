from dataclasses import replace

from esign.store import mails
from esign.store.database import Database
from esign.store.mails import KeptMail
from tests.factories import NOW


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
