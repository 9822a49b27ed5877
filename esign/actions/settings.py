"""What an organisation has set for itself, and what the installation says where it has not (contract 3.5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from esign.actions.documents import Owner
from esign.actions.transition import Keep
from esign.core.account import COLOUR, Organisation
from esign.core.document import Reminders
from esign.runtime import Runtime
from esign.store import accounts
from esign.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Settings:
    """As they count now: `organisation` with its gaps, and the two defaults of new documents without any."""

    organisation: Organisation
    expires_in_days: int
    reminders: Reminders


async def read(runtime: Runtime, owner: Owner) -> Settings:
    return settings_of(runtime, await accounts.get_organisation(runtime.db, owner.organisation_id))


def settings_of(runtime: Runtime, organisation: Organisation) -> Settings:
    config = runtime.config
    installed = Reminders(**config.reminders.model_dump())
    own = organisation.reminders
    return Settings(
        organisation=organisation,
        expires_in_days=organisation.expires_in_days or config.expiry.days,
        reminders=replace(own, before_expiry_hours=installed.before_expiry_hours) if own else installed,
    )


async def change(
    runtime: Runtime, owner: Owner, changes: Mapping[str, Any], keep: Keep | None = None
) -> Settings:
    """`changes` by the names of `Organisation`; None is as the installation has it.

    `reminders` are members of `Reminders`; what they leave out is as the installation has it.
    """
    config = runtime.config
    cleared = {
        "colour": COLOUR,
        "locale": config.organisation.locale,
        "time_zone": config.organisation.time_zone,
    }
    wanted: dict[str, Any] = {n: cleared.get(n) if value is None else value for n, value in changes.items()}
    if wanted.get("reminders") is not None:
        wanted["reminders"] = replace(Reminders(**config.reminders.model_dump()), **wanted["reminders"])

    async def write(tx: Transaction) -> Settings:
        before = await accounts.get_organisation(tx, owner.organisation_id)
        after = settings_of(runtime, replace(before, **wanted))
        await accounts.save_organisation(tx, after.organisation)
        if keep is not None:
            await keep(tx, after)
        return after

    return await runtime.db.write(write)
