from esign.core.actor import Mode, Owner
from esign.core.people.account import Organisation
from esign.core.webhook.webhook import Webhook
from esign.store.engine.database import Database
from esign.store.queue import webhooks
from tests.factories import NOW, a_webhook, an_organisation, store_organisation


async def add(db: Database, *made: Webhook) -> None:
    for webhook in made:
        await db.write(lambda tx, webhook=webhook: webhooks.add(tx, webhook))  # type: ignore[misc]


async def test_a_webhook_comes_back_as_it_was_added(db: Database, organisation: Organisation) -> None:
    plain = a_webhook()
    full = a_webhook(
        events=("document.sent", "recipient.sent"),
        enabled=False,
        description="Ünï",
        disabled_at=NOW,
        disabled_reason="manual",
        failing_since=NOW,
        last_success_at=NOW,
        mode=Mode.TEST,
    )
    await add(db, plain, full)
    assert await webhooks.get(db, plain.id) == plain
    assert await webhooks.get(db, full.id) == full
    assert await webhooks.get(db, "wh_other") is None


async def test_webhooks_are_listed_oldest_first_for_one_organisation_and_mode(
    db: Database, organisation: Organisation
) -> None:
    await store_organisation(db, an_organisation(id="org_other"))
    newer, older = a_webhook(created_at=NOW + 1), a_webhook()
    await add(db, newer, older, a_webhook(mode=Mode.TEST), a_webhook(organisation_id="org_other"))
    assert await webhooks.find(db, Owner(organisation.id, Mode.LIVE)) == [older, newer]


async def test_only_the_own_webhook_of_the_mode_can_be_deleted(
    db: Database, organisation: Organisation
) -> None:
    webhook = a_webhook()
    await add(db, webhook)
    for own, mode in (("org_other", Mode.LIVE), (organisation.id, Mode.TEST)):
        assert not await db.write(lambda tx, o=own, m=mode: webhooks.delete(tx, Owner(o, m), webhook.id))  # type: ignore[misc]
    assert await webhooks.get(db, webhook.id) == webhook
    assert await db.write(lambda tx: webhooks.delete(tx, Owner(organisation.id, Mode.LIVE), webhook.id))
    assert not await db.write(lambda tx: webhooks.delete(tx, Owner(organisation.id, Mode.LIVE), webhook.id))
