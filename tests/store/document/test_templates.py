import json
from dataclasses import replace

import pytest

from esign.core.actor import Mode, Owner
from esign.core.document.document import FieldType
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.core.people.account import Organisation, Reminders
from esign.core.webhook.webhook import make_template_payload
from esign.store.document import blobs, outcomes, templates
from esign.store.document.blobs import MissingBlob
from esign.store.engine.database import Database, Transaction
from esign.store.engine.paging import PageStart
from esign.store.queue import webhooks
from esign.system.vault import Vault
from tests.factories import (
    NOW,
    PREPARED,
    UPLOADED,
    a_document,
    a_field,
    a_file,
    a_role,
    a_template,
    a_webhook,
    an_organisation,
    sha256,
    store,
    store_organisation,
)
from tests.store.plans import steps, walks

FULL = a_template(
    a_role("buyer", fields=(a_field(FieldType.RADIO, key="k", value="red"), a_field(FieldType.SIGNATURE))),
    a_role("seller", order=7),
    title="Größe %_!",
    subject="Sign",
    message="Now\nplease",
    expires_in_days=7,
    reminders=Reminders(False, 1, 2, 3, 0),
    file=a_file(3, repaired=True, removed=("scripts",)),
    revision=4,
    mode=Mode.TEST,
)


async def add(db: Database, *made: Template) -> None:
    async def write(tx: Transaction) -> None:
        for content in (UPLOADED, PREPARED):
            await blobs.add(tx, content, NOW - 1)
        for template in made:
            await templates.add(tx, template)

    await db.write(write)


@pytest.mark.parametrize("template", [a_template(), FULL])
async def test_a_template_comes_back_as_it_was_added(
    db: Database, organisation: Organisation, template: Template
) -> None:
    await add(db, template)
    assert await templates.get_own(db, Owner(organisation.id, template.mode), template.id) == template


async def test_only_the_own_template_of_the_mode_is_found_and_counted(
    db: Database, organisation: Organisation
) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    template = a_template()
    await add(db, template, a_template(mode=Mode.TEST), a_template(organisation_id="org_other"))
    for own, mode in (("org_other", Mode.LIVE), (organisation.id, Mode.TEST)):
        with pytest.raises(Problem, match="not_found"):
            await templates.get_own(db, Owner(own, mode), template.id)
        assert template not in await templates.find_page(db, Owner(own, mode), 10)
        assert await templates.count(db, Owner(own, mode)) == 1
    assert await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 10) == [template]


async def test_a_list_is_newest_first_and_goes_on_after_its_place(
    db: Database, organisation: Organisation
) -> None:
    made = [a_template(id=f"tpl_{n}", created_at=NOW + n // 2) for n in range(5)]
    await add(db, *made)
    found = await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 3)
    assert found == made[:1:-1]
    after = PageStart(found[-1].created_at, found[-1].id)
    assert await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 3, after) == [made[1], made[0]]


SEARCHES = [
    ("größe", "Größe"),
    ("GRÖSSE", "Größe"),
    ("ΣΊΣΥΦΟΣ", "Ο Σίσυφος"),
    ("ｌｅａｓｅ", "Lease"),
    ("o\u0308", "Öl"),
    ("100%", "100% sure"),
    ("a_b", "a_b"),
    ("!", "Now!"),
]


@pytest.mark.parametrize(("q", "title"), SEARCHES)
async def test_a_part_of_the_title_finds_it_in_any_case_and_nothing_else(
    db: Database, organisation: Organisation, q: str, title: str
) -> None:
    wanted, other = a_template(title=title), a_template(title="1000 of axb")
    await add(db, wanted, other)
    assert await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 10, q=q) == [wanted]


@pytest.mark.parametrize(
    "text", ["jo@example.test", "JO@Example.test", "Ömer@example.test", "ÖMER@EXAMPLE.TEST"]
)
async def test_a_person_is_found_in_the_words_of_a_template(
    db: Database, organisation: Organisation, text: str
) -> None:
    wanted = a_template(message="Ask jo@example.test, ÖMER@example.test or Ömer@example.test")
    await add(db, wanted, a_template(message="Ask bo@example.test"))
    found = await templates.find_containing(db, organisation.id, text)
    assert found == [(wanted.id, wanted.title)]


async def test_a_changed_title_is_found_and_the_old_one_is_not(
    db: Database, organisation: Organisation
) -> None:
    before = a_template()
    await add(db, before)
    after = replace(before, title="Loan", revision=2, updated_at=NOW + 1)
    await db.write(lambda tx: templates.save(tx, after, before))
    assert await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 10, q="loan") == [after]
    assert await templates.find_page(db, Owner(organisation.id, Mode.LIVE), 10, q="lease") == []


async def test_of_two_changes_of_the_same_revision_the_second_is_refused(
    db: Database, organisation: Organisation
) -> None:
    before = a_template()
    await add(db, before)
    after = replace(before, title="Loan", revision=2)
    await db.write(lambda tx: templates.save(tx, after, before))
    with pytest.raises(Problem, match="revision_mismatch"):
        await db.write(lambda tx: templates.save(tx, replace(after, title="Late"), before))
    assert await templates.get_own(db, Owner(organisation.id, Mode.LIVE), before.id) == after


async def test_reading_walks_through_no_table(db: Database) -> None:
    async def everything(tx: Transaction) -> None:
        await templates.find_page(tx, Owner("org", Mode.LIVE), 10, PageStart(NOW, "tpl_1"), "q")
        await templates.count(tx, Owner("org", Mode.LIVE))
        await blobs.attach_to_template(tx, "tpl", "5e" * 32)

    assert await walks(db, everything) == []
    [plan] = await steps(db, lambda tx: templates.find_page(tx, Owner("org", Mode.LIVE), 10, q="q"))
    assert "template_newest" in plan and "SEARCH" in plan


# ---------- file content ----------


async def prune(db: Database) -> int:
    return await db.write(lambda tx: blobs.prune(tx, NOW + 1, 16))


async def test_file_content_stays_while_a_template_or_a_document_refers_to_it(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    template, document = a_template(), a_document()
    await add(db, template)
    assert await prune(db) == 0
    await store(db, vault, document)
    await db.write(lambda tx: templates.delete(tx, template.id))
    assert await prune(db) == 0
    assert await blobs.get(db, sha256(PREPARED)) == PREPARED
    await db.write(lambda tx: tx.run("DELETE FROM document"))
    assert await prune(db) == 2
    with pytest.raises(MissingBlob):
        await blobs.get(db, sha256(UPLOADED))


async def test_a_template_outlives_the_document_it_was_made_from(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    await store(db, vault, a_document())
    template = a_template()
    await add(db, template)
    await db.write(lambda tx: tx.run("DELETE FROM document"))
    assert await prune(db) == 0
    assert await blobs.get(db, template.file.uploaded) == UPLOADED


async def test_finding_what_nothing_refers_to_uses_both_indexes(db: Database) -> None:
    plan = await steps(db, lambda tx: blobs.prune(tx, NOW, 16))
    assert any("document_of_blob" in step for step in plan)
    assert any("template_of_blob" in step for step in plan)


# ---------- events ----------


async def test_an_event_about_a_template_is_kept_and_queued_for_whoever_wants_it(
    db: Database, organisation: Organisation
) -> None:
    wants, other = a_webhook(events=("template.deleted",)), a_webhook(events=("document.sent",))
    test = a_webhook(mode=Mode.TEST)
    body = make_template_payload("template.deleted", NOW, "evt_1", a_template())

    async def write(tx: Transaction) -> None:
        for webhook in (wants, other, test):
            await webhooks.add(tx, webhook)
        await outcomes.announce(tx, body, organisation.id, Mode.LIVE, NOW)

    await db.write(write)
    [event] = await db.all("SELECT * FROM event")
    assert (event["document_id"], event["sequence"], event["type"]) == (None, None, "template.deleted")
    assert json.loads(event["body"]) == body
    [made] = await db.all("SELECT * FROM delivery")
    assert (made["webhook_id"], made["event_id"], made["status"]) == (wants.id, "evt_1", "pending")
