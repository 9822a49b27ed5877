"""The owner who signs in to the server of the demonstration."""

from esign.actions.people import one_time_links
from esign.core.actor import NOWHERE
from esign.demo.steps import StepFailed
from esign.runtime import Runtime
from esign.system.entropy import make_recovery_code

NAME, EMAIL = "Orla Byrne", "owner@fernhill.example"


async def create_owner(runtime: Runtime) -> str:
    """Create the organisation and its owner, as the link of a first start does. Return the owner's password."""
    token = await one_time_links.issue_setup_token(runtime.db, runtime.clock.now())
    if token is None:
        raise StepFailed("a new folder has an owner already")
    organisation, password = runtime.config.organisation, make_recovery_code()
    given = one_time_links.Founder(NAME, EMAIL, password, organisation.name, organisation.time_zone)
    await one_time_links.set_up_owner(runtime, token, given, NOWHERE)
    return password
