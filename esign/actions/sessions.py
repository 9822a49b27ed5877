"""Signing in and out, and who a browser is meanwhile (reliability.md 2, rows 6 and 7).

A session of a person with a second factor is half until its code was given. Each time a session gains something its
cookie is a new one, so that nobody gains it who knew the old.
"""

from dataclasses import dataclass, replace

from esign.actions import factors
from esign.core.account import Organisation
from esign.core.document import Mode, Origin
from esign.core.instant import Instant
from esign.core.member import Member
from esign.core.user import SEEN, Session, Stage, User
from esign.entropy import new_id, new_token
from esign.runtime import Runtime
from esign.store import accounts, members, sessions, users
from esign.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Signed:
    """Who is at the browser, in which organisation and as what; `elsewhere`: their other organisations."""

    user: User
    member: Member
    organisation: Organisation
    session: Session
    elsewhere: tuple[Organisation, ...]


async def sign_in(runtime: Runtime, email: str, password: str, origin: Origin) -> tuple[str, Session] | None:
    """A cookie and its session; None, and as slowly, where address and password do not belong together."""
    user = await users.find(runtime.db, email)
    fits = await runtime.passwords.fits(user.password if user else None, password)
    if user is None or not fits or user.disabled_at is not None:
        return None
    own = await members.of_user(runtime.db, user.id)
    if not own:
        return None
    stage = Stage.WHOLE if user.totp is None else Stage.HALF
    return await begin(runtime, user, own[0].organisation_id, stage, origin)


async def begin(
    runtime: Runtime, user: User, organisation_id: str, stage: Stage, origin: Origin
) -> tuple[str, Session]:
    """A new session of somebody who has just shown who they are."""
    now, token = runtime.clock.now(), new_token()
    mode = Mode.LIVE if allows(runtime, Mode.LIVE) else Mode.TEST
    session = Session(
        id=new_id("ses", now),
        user_id=user.id,
        organisation_id=organisation_id,
        stage=stage,
        mode=mode,
        created_at=now,
        seen_at=now,
        proved_at=now,
        ip=origin.ip,
        user_agent=origin.user_agent,
    )

    async def write(tx: Transaction) -> None:
        await sessions.add(tx, token, session)
        if stage is Stage.WHOLE:
            await users.save_seen(tx, user.id, now)

    await runtime.db.write(write)
    return token, session


async def known(runtime: Runtime, token: str) -> Session | None:
    """The session of a cookie, whole or half."""
    return await sessions.get(runtime.db, token, runtime.clock.now())


async def give_factor(runtime: Runtime, token: str, code: str) -> str | None:
    """The cookie of the whole session for that of the half one; None where the code is not right."""
    now = runtime.clock.now()
    half = await sessions.get(runtime.db, token, now)
    if half is None or half.stage is not Stage.HALF:
        return None
    user = await users.get(runtime.db, half.user_id)
    after = new_token()

    async def write(tx: Transaction) -> bool:
        if not await factors.use(tx, runtime, user, code, now):
            return False
        await renew(tx, half, replace(half, stage=Stage.WHOLE, seen_at=now, proved_at=now), after)
        await users.save_seen(tx, user.id, now)
        return True

    return after if await runtime.db.write(write) else None


async def confirm(runtime: Runtime, signed: Signed, password: str) -> str | None:
    """A new cookie of a session that is fresh again; None where the password is not right."""
    if not await runtime.passwords.fits(signed.user.password, password):
        return None
    now, after = runtime.clock.now(), new_token()

    async def write(tx: Transaction) -> None:
        await renew(tx, signed.session, replace(signed.session, seen_at=now, proved_at=now), after)

    await runtime.db.write(write)
    return after


def allows(runtime: Runtime, mode: Mode) -> bool:
    """Whether the installation has this mode: a test environment has one alone."""
    return mode is Mode.TEST or runtime.config.server.environment != "test"


async def renew(tx: Transaction, before: Session, after: Session, token: str) -> None:
    await sessions.end(tx, before.user_id, before.id)
    await sessions.add(tx, token, after)


async def signed(runtime: Runtime, token: str) -> Signed | None:
    """Whoever the cookie belongs to, while the session is whole and the person still of the organisation."""
    now = runtime.clock.now()
    session = await sessions.get(runtime.db, token, now)
    if session is None or session.stage is not Stage.WHOLE:
        return None
    user = await users.get(runtime.db, session.user_id)
    own = {one.organisation_id: one for one in await members.of_user(runtime.db, user.id)}
    theirs = {one.id: one for one in await accounts.of_user(runtime.db, user.id)}
    member, organisation = own.get(session.organisation_id), theirs.pop(session.organisation_id, None)
    if member is None or organisation is None or user.disabled_at is not None:
        return None
    if now - session.seen_at >= SEEN:
        await touch(runtime, session, now)
    return Signed(user, member, organisation, session, tuple(theirs.values()))


async def touch(runtime: Runtime, session: Session, now: Instant) -> None:
    async def write(tx: Transaction) -> None:
        await sessions.touch(tx, session.id, now)
        await users.save_seen(tx, session.user_id, now)

    await runtime.db.write(write)


async def go(runtime: Runtime, signed: Signed, organisation_id: str, mode: Mode) -> bool:
    """Whether the session is now there: the person must be of that organisation."""
    own = await members.of_user(runtime.db, signed.user.id)
    if organisation_id not in {member.organisation_id for member in own} or not allows(runtime, mode):
        return False

    async def write(tx: Transaction) -> None:
        await sessions.move(tx, signed.session.id, organisation_id, mode)

    await runtime.db.write(write)
    return True


async def organisations(runtime: Runtime, user: User) -> list[Organisation]:
    """Those that the person is of, the oldest membership first."""
    return await accounts.of_user(runtime.db, user.id)


async def find(runtime: Runtime, signed: Signed) -> list[Session]:
    """Where the person is signed in, newest first."""
    return await sessions.find(runtime.db, signed.user.id, runtime.clock.now())


async def end(runtime: Runtime, user_id: str, session_id: str) -> bool:
    """Whether the person had such a session; it is over now."""

    async def write(tx: Transaction) -> bool:
        return await sessions.end(tx, user_id, session_id)

    return await runtime.db.write(write)


async def end_others(runtime: Runtime, signed: Signed) -> int:
    """How many other browsers were signed out."""

    async def write(tx: Transaction) -> int:
        return await sessions.end_all(tx, signed.user.id, signed.session.id)

    return await runtime.db.write(write)
