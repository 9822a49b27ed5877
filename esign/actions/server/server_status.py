"""What an owner sees of the work in the background: the loops, and what is set aside until somebody tries it again."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.server.server_owners import may_change_server
from esign.core.actor import Owner
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.queue import set_aside
from esign.store.queue.set_aside import AsideJob
from esign.system.supervision import Heartbeat


@dataclass(frozen=True, slots=True)
class LoopState:
    """A background loop under the name that the log has for it; `state` is `runs`, `hangs` or `fails`."""

    name: str
    state: str
    restarted_at: Instant | None


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A job that is set aside, and the path of the page about its document or webhook if the reader may open it.

    `name` is the title of the document if the reader may open it, else the id.
    """

    job: AsideJob
    path: str | None
    name: str | None
    is_cut_off: bool


def list_loops(runtime: Runtime) -> list[LoopState]:
    """Return the state of each background loop, those first that need attention."""
    return sorted(describe_loops(runtime), key=lambda loop: (loop.state == "runs", loop.name))


def describe_loops(runtime: Runtime) -> Iterator[LoopState]:
    """Yield the state of each background loop, and when it was last started again on the wall clock."""
    now, elapsed = runtime.clock.now(), asyncio.get_running_loop().time()
    for beat in runtime.loops.beats.values():
        ago = None if beat.restarted_at is None else int((elapsed - beat.restarted_at) * 1_000)
        yield LoopState(beat.name, name_state(beat), None if ago is None else now - ago)


def name_state(beat: Heartbeat) -> str:
    """Return the state of a loop in one word."""
    if beat.hung_since is not None:
        return "hangs"
    return "fails" if beat.is_failing else "runs"


async def list_set_aside(runtime: Runtime, organisation: Organisation, owner: Owner) -> list[ShownJob]:
    """Return what is set aside in the organisation; for the one that was set up first, in all."""
    scope = await find_scope(runtime, organisation)
    jobs = await set_aside.find_some(runtime.db, scope)
    return [describe_job(job, owner) for job in jobs]


def describe_job(job: AsideJob, owner: Owner) -> ShownJob:
    """Return what the owner is shown of a job."""
    path, title = find_path(job, owner), job.title
    is_shown = path is not None and isinstance(title, str)  # bytes: the text in the row is damaged
    name = title if is_shown and title else job.document_id or job.webhook_id
    return ShownJob(job, path, name, job.reason == set_aside.CUT_OFF)


def find_path(job: AsideJob, owner: Owner) -> str | None:
    """Return the path of the page about the document or webhook, if it belongs to this organisation and mode."""
    if job.organisation_id != owner.organisation_id or job.mode != owner.mode.value:
        return None
    if job.webhook_id is not None:
        return f"/settings/webhooks/{job.webhook_id}"
    return f"/documents/{job.document_id}"


async def retry(runtime: Runtime, organisation: Organisation, caller: Caller, kind: str, number: int) -> bool:
    """Try a job again that is set aside, and enter that in the log of the caller's organisation.

    Return False if it is not set aside, or not one that this organisation looks after.
    """
    scope, now = await find_scope(runtime, organisation), runtime.clock.now()

    async def write(tx: Transaction) -> bool:
        job = await set_aside.find(tx, kind, number)
        if job is None or not await set_aside.retry(tx, kind, number, scope, now):
            return False
        about = {
            "kind": job.kind,
            "mode": job.mode,
            "documentId": job.document_id,
            "webhookId": job.webhook_id,
        }
        data = {name: value for name, value in about.items() if value is not None}
        await audit_log.log_act(tx, runtime.vault, caller, AdminAct("job.retried", now, data))
        return True

    return await runtime.db.write(write)


async def find_scope(runtime: Runtime, organisation: Organisation) -> str | None:
    """Return the organisation whose jobs its owners look after, or None for those who look after the server."""
    return None if await may_change_server(runtime.db, organisation) else organisation.id
