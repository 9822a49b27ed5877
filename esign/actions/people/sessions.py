"""Signing in and out, and who a browser is meanwhile (docs/dev/security.md 1).

A session of a person with a second factor is half until its code was given. Each time a session gains something its
cookie is a new one, so that nobody gains it who knew the old.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from esign.actions.base import audit_log
from esign.actions.base.audit_log import Act
from esign.actions.mail import notices
from esign.actions.people import second_factor
from esign.actions.people.known_browsers import Browser
from esign.core.actor import Mode, Origin
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.core.people.member import Member
from esign.core.people.user import SEEN, Session, Stage, User
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import accounts, known_browsers, members, sessions, users
from esign.system.entropy import new_id, new_token
from esign.system.passwords import lane_of_known, lane_of_stranger


@dataclass(frozen=True, slots=True)
class Signed:
    """Who is at the browser, in which organisation and as what; `elsewhere`: their other organisations."""

    user: User
    member: Member
    organisation: Organisation
    session: Session
    elsewhere: tuple[Organisation, ...]


async def sign_in(
    runtime: Runtime, email: str, password: str, origin: Origin, browser: Browser
) -> tuple[str, Session] | None:
    """A cookie and its session; None, and as slowly, where address and password do not belong together.

    Either way it is entered in the administrative log, failures in bounded number. A browser that the account knows
    has a lane of its own before the hashing.
    """
    user = await users.find(runtime.db, email)
    lane = lane_of_known(browser.lane) if browser.lane else lane_of_stranger(origin.ip)
    fits = await runtime.passwords.fits(user.password if user else None, password, lane)
    own = await members.of_user(runtime.db, user.id) if user else []
    if user is None or not fits or user.disabled_at is not None or not own:
        await audit_log.log_failure(runtime, user, "password", origin)
        return None
    stage = Stage.WHOLE if user.totp is None else Stage.HALF
    return await begin(runtime, user, own[0].organisation_id, stage, origin, browser.token)


async def begin(
    runtime: Runtime,
    user: User,
    organisation_id: str,
    stage: Stage,
    origin: Origin,
    browser: str | None = None,
    *,
    expected: bool = False,
) -> tuple[str, Session]:
    """A new session of somebody who has just shown who they are.

    They are told by mail where the `browser` was not used by them before, unless it is `expected`: whoever has just
    joined needs no warning of it. Without a `browser` (programs that sign in) nothing is remembered or told.
    Raises `revision_mismatch` where a new password, a second factor or the end of the account came between: whoever
    signs in with the old one without end must not be left with a session.
    """
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
        await users.require_same(tx, user)
        await sessions.add(tx, token, session)
        if stage is Stage.WHOLE:
            await users.save_seen(tx, user.id, now)
            await enter(runtime, tx, user, session, origin, browser, "none", expected=expected)

    await runtime.db.write(write)
    runtime.bell.ring()
    return token, session


async def enter(
    runtime: Runtime,
    tx: Transaction,
    user: User,
    session: Session,
    origin: Origin,
    browser: str | None,
    factor: str,
    *,
    expected: bool = False,
) -> None:
    """Enter a sign-in that is complete in the administrative log; tell the person where the browser is a new one."""
    now = runtime.clock.now()
    known = browser is not None and await known_browsers.is_known(tx, user.id, browser, now)
    if browser is not None:
        await known_browsers.add(tx, user.id, browser, now)
        if not known and not expected:
            await notices.tell_user(
                tx, runtime.vault, user, session.organisation_id, "sign_in_new", origin, now
            )
    data = {"sessionId": session.id, "factor": factor, "knownBrowser": known}
    await audit_log.log_of_user(tx, runtime.vault, user, origin, now, Act("member.signed_in", data))


async def look_again(runtime: Runtime, session: Session) -> Session | None:
    """The session as it is by now, also under another cookie; None where it has ended."""
    return await sessions.get_own(runtime.db, session, runtime.clock.now())


async def known(runtime: Runtime, token: str) -> Session | None:
    """The session of a cookie, whole or half."""
    return await sessions.get(runtime.db, token, runtime.clock.now())


async def give_factor(
    runtime: Runtime, token: str, code: str, origin: Origin, browser: str | None = None
) -> str | None:
    """The cookie of the whole session for that of the half one; None where the code is not right, or it has ended."""
    now = runtime.clock.now()
    half = await sessions.get(runtime.db, token, now)
    if half is None or half.stage is not Stage.HALF:
        return None
    user = await users.get(runtime.db, half.user_id)
    after = new_token()

    async def write(tx: Transaction) -> bool:
        factor = await second_factor.use(tx, runtime, user, code, now)
        if factor is None:
            return False
        await users.save_seen(tx, user.id, now)
        whole = replace(half, stage=Stage.WHOLE, seen_at=now, proved_at=now)
        if not await sessions.renew(tx, whole, after):
            return False
        await enter(runtime, tx, user, whole, origin, browser, factor)
        return True

    if await runtime.db.write(write):
        runtime.bell.ring()
        return after
    await audit_log.log_failure(runtime, user, "code", origin)
    return None


class WrongProof(Exception):
    """What was given to confirm a sensitive act is not right; `what` says which of the two it is."""

    def __init__(self, what: Literal["password", "code"]) -> None:
        self.what = what
        super().__init__(what)


async def confirm(
    runtime: Runtime,
    signed: Signed,
    origin: Origin,
    *,
    password: str | None = None,
    code: str | None = None,
) -> str:
    """Return a new cookie of the session, in which what was given counts from now on; None is not looked at.

    A code counts once, whether of the authenticator or for recovery. Raises `WrongProof`, also of a session that has
    ended; the failure is entered in the administrative log.
    """
    try:
        return await _renew(runtime, signed, password, code)
    except WrongProof:
        await audit_log.log_failure(runtime, signed.user, "confirmation", origin)
        raise


async def _renew(runtime: Runtime, signed: Signed, password: str | None, code: str | None) -> str:
    if password is not None and not await runtime.passwords.fits(
        signed.user.password, password, lane_of_known(signed.user.id)
    ):
        raise WrongProof("password")
    now, after = runtime.clock.now(), new_token()

    async def write(tx: Transaction) -> None:
        session = replace(signed.session, seen_at=now)
        if password is not None:
            await users.require_same(tx, signed.user)
            session = replace(session, proved_at=now)
        if code is not None:
            if not await second_factor.use(tx, runtime, await users.get(tx, signed.user.id), code, now):
                raise WrongProof("code")
            session = replace(session, factor_at=now)
        if not await sessions.renew(tx, session, after):
            raise WrongProof("password" if password is not None else "code")

    await runtime.db.write(write)
    return after


def allows(runtime: Runtime, mode: Mode) -> bool:
    """Whether the installation has this mode: a test environment has one alone."""
    return mode is Mode.TEST or runtime.config.server.environment != "test"


async def signed(runtime: Runtime, session: Session) -> Signed | None:
    """Whose session it is, while it is whole and the person still of the organisation."""
    if session.stage is not Stage.WHOLE:
        return None
    user = await users.get(runtime.db, session.user_id)
    own = await members.of_user(runtime.db, user.id)
    member = next((one for one in own if one.organisation_id == session.organisation_id), None)
    every = {one.id: one for one in await accounts.organisations_of(runtime.db, user.id)}
    organisation = every.pop(session.organisation_id, None)
    if member is None or organisation is None or user.disabled_at is not None:
        return None
    now = runtime.clock.now()
    if now - session.seen_at >= SEEN:
        await touch(runtime, session, now)
    return Signed(user, member, organisation, session, tuple(every.values()))


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


async def find_others(runtime: Runtime, signed: Signed, limit: int) -> tuple[list[Session], bool]:
    """Where else the person is signed in, newest first, and whether there are more than `limit`."""
    found = await sessions.find(runtime.db, signed.user.id, runtime.clock.now(), limit + 2)
    others = [one for one in found if one.id != signed.session.id]
    return others[:limit], len(others) > limit


async def end(runtime: Runtime, user_id: str, session_id: str, origin: Origin) -> bool:
    """Whether the person had such a session; it is over now."""

    async def write(tx: Transaction) -> bool:
        stage = await sessions.end(tx, user_id, session_id)
        if stage is Stage.WHOLE:  # whose code was never given was not signed in
            await leave(runtime, tx, await users.get(tx, user_id), origin, {"sessionId": session_id})
        return stage is not None

    ended = await runtime.db.write(write)
    runtime.bell.ring()
    return ended


async def end_others(runtime: Runtime, signed: Signed, origin: Origin) -> int:
    """How many other browsers were signed out."""

    async def write(tx: Transaction) -> int:
        ended = await sessions.count_others(tx, signed.session, runtime.clock.now())
        await sessions.end_all(tx, signed.user.id, signed.session.id)
        if ended:
            await leave(runtime, tx, signed.user, origin, {"otherSessions": ended})
        return ended

    ended = await runtime.db.write(write)
    runtime.bell.ring()
    return ended


async def leave(
    runtime: Runtime, tx: Transaction, user: User, origin: Origin, data: Mapping[str, Any]
) -> None:
    now = runtime.clock.now()
    await audit_log.log_of_user(tx, runtime.vault, user, origin, now, Act("member.signed_out", data))
