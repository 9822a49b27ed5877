"""Signs users in and out, confirms the password or code before sensitive changes, and finds the user of a cookie.

The session of a user with a second factor stays half until its code was given. Whenever a session gains rights
it gets a new cookie, so that knowing the old cookie gains nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.mail import notices
from esign.actions.mail.notices import AccountChange
from esign.actions.people import second_factor
from esign.actions.people.known_browsers import Browser
from esign.core.actor import Mode, Origin
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.core.people.member import Member
from esign.core.people.user import SEEN, Session, Stage, User
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import known_browsers, members, organisations, sessions, users
from esign.system.entropy import make_id, make_token
from esign.system.passwords import build_known_lane, build_stranger_lane


@dataclass(frozen=True, slots=True)
class SignedInUser:
    """A signed-in user, with the organisation and membership of the session.

    `elsewhere` are their other organisations.
    """

    user: User
    member: Member
    organisation: Organisation
    session: Session
    elsewhere: tuple[Organisation, ...]


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """Where a sign-in comes from: its origin, and the token by which the browser is known, if it has one.

    It is `expected` if the user could not do without it, as after joining: then they get no notice.
    """

    origin: Origin
    browser: str | None = None
    expected: bool = False


async def sign_in(
    runtime: Runtime, email: str, password: str, origin: Origin, browser: Browser
) -> tuple[str, Session] | None:
    """Begin a session, and return its cookie with it. Return None, after the same time, if address or password
    is wrong.

    Both are entered in the administrative audit log, failures in limited number. A known browser has a lane of
    its own in the queue for password hashing.
    """
    user = await users.find(runtime.db, email)
    lane = build_known_lane(browser.lane) if browser.lane else build_stranger_lane(origin.ip)
    fits = await runtime.passwords.is_password(user.password if user else None, password, lane)
    own = await members.find_by_user(runtime.db, user.id) if user else []
    if user is None or not fits or user.disabled_at is not None or not own:
        await audit_log.log_failure(runtime, user, "password", origin)
        return None
    stage = Stage.WHOLE if user.totp is None else Stage.HALF
    request = SignInRequest(origin, browser.token)
    return await begin_session(runtime, user, own[0].organisation_id, stage, request)


async def begin_session(
    runtime: Runtime, user: User, organisation_id: str, stage: Stage, request: SignInRequest
) -> tuple[str, Session]:
    """Begin a session of a user who has just authenticated, and return its cookie with it.

    The user is notified by e-mail if they have not used the browser before, unless the sign-in is expected.
    Without a browser (programs that sign in) nothing is remembered and no notice is sent.

    Raises `revision_mismatch` if the password, the second factor or the account has changed meanwhile: a client
    that keeps signing in with the old password must not end up with a session.
    """
    now, token = runtime.clock.now(), make_token()
    mode = Mode.LIVE if has_mode(runtime, Mode.LIVE) else Mode.TEST
    session = Session(
        id=make_id("ses", now),
        user_id=user.id,
        organisation_id=organisation_id,
        stage=stage,
        mode=mode,
        created_at=now,
        seen_at=now,
        proved_at=now,
        ip=request.origin.ip,
        user_agent=request.origin.user_agent,
    )

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await sessions.add(tx, token, session)
        if stage is Stage.WHOLE:
            await users.save_seen(tx, user.id, now)
            await log_sign_in(runtime, tx, session, request, "none")

    await runtime.db.write(write)
    return token, session


async def log_sign_in(
    runtime: Runtime, tx: Transaction, session: Session, request: SignInRequest, factor: str
) -> None:
    """Enter a completed sign-in in the administrative audit log, and notify the user if the browser is new."""
    user, now = await users.get(tx, session.user_id), runtime.clock.now()
    browser, origin = request.browser, request.origin
    known = browser is not None and await known_browsers.is_known(tx, user.id, browser, now)
    if browser is not None:
        await known_browsers.add(tx, user.id, browser, now)
        if not known and not request.expected:
            change = AccountChange("sign_in_new", origin, now)
            await notices.tell_user(tx, runtime.vault, user, session.organisation_id, change)
    data = {"sessionId": session.id, "factor": factor, "knownBrowser": known}
    await audit_log.log_own_act(tx, runtime.vault, user, origin, AdminAct("member.signed_in", now, data))


async def refresh_session(runtime: Runtime, session: Session) -> Session | None:
    """Return the session as it is now, also if it has another cookie, or None if it has ended."""
    return await sessions.get_own(runtime.db, session, runtime.clock.now())


async def find_session(runtime: Runtime, token: str) -> Session | None:
    """Return the session of a cookie, whole or half, or None."""
    return await sessions.get(runtime.db, token, runtime.clock.now())


async def give_factor(
    runtime: Runtime, token: str, code: str, origin: Origin, browser: str | None = None
) -> str | None:
    """Complete a half session with a code, and return its new cookie.

    Return None if the code is wrong or the session ended.
    """
    now = runtime.clock.now()
    half = await sessions.get(runtime.db, token, now)
    if half is None or half.stage is not Stage.HALF:
        return None
    user = await users.get(runtime.db, half.user_id)
    after = make_token()

    async def write(tx: Transaction) -> bool:
        factor = await second_factor.use_code(tx, runtime, user, code, now)
        if factor is None:
            return False
        await users.save_seen(tx, user.id, now)
        whole = replace(half, stage=Stage.WHOLE, seen_at=now, proved_at=now)
        if not await sessions.renew(tx, whole, after):
            return False
        await log_sign_in(runtime, tx, whole, SignInRequest(origin, browser), factor)
        return True

    if await runtime.db.write(write):
        return after
    await audit_log.log_failure(runtime, user, "code", origin)
    return None


class WrongProof(Exception):
    """Raised if the proof given for a sensitive change is wrong. `what` says which of the two it is."""

    def __init__(self, what: Literal["password", "code"]) -> None:
        self.what = what
        super().__init__(what)


async def confirm(
    runtime: Runtime,
    signed: SignedInUser,
    origin: Origin,
    *,
    password: str | None = None,
    code: str | None = None,
) -> str:
    """Confirm password or code of a session before a sensitive change, and return its new cookie. None is not checked.

    A code of the app or a recovery code is accepted once. Raises `WrongProof` if the proof is wrong or the
    session has ended. The failure is entered in the administrative audit log.
    """
    try:
        return await _check_proof(runtime, signed, password, code)
    except WrongProof:
        await audit_log.log_failure(runtime, signed.user, "confirmation", origin)
        raise


async def _check_proof(runtime: Runtime, signed: SignedInUser, password: str | None, code: str | None) -> str:
    """Check the proof and give the session a new cookie. Raises `WrongProof`."""
    if password is not None and not await runtime.passwords.is_password(
        signed.user.password, password, build_known_lane(signed.user.id)
    ):
        raise WrongProof("password")
    now, after = runtime.clock.now(), make_token()

    async def write(tx: Transaction) -> None:
        session = replace(signed.session, seen_at=now)
        if password is not None:
            await users.require_same(tx, signed.user)
            session = replace(session, proved_at=now)
        if code is not None:
            if not await second_factor.use_code(tx, runtime, await users.get(tx, signed.user.id), code, now):
                raise WrongProof("code")
            session = replace(session, factor_at=now)
        if not await sessions.renew(tx, session, after):
            raise WrongProof("password" if password is not None else "code")

    await runtime.db.write(write)
    return after


def has_mode(runtime: Runtime, mode: Mode) -> bool:
    """Return whether the installation has this mode. A test environment has only test mode."""
    return mode is Mode.TEST or runtime.config.server.environment != "test"


async def find_signed_in(runtime: Runtime, session: Session) -> SignedInUser | None:
    """Return the user of a session, or None if the session is half or the user is not a member any more."""
    if session.stage is not Stage.WHOLE:
        return None
    user = await users.get(runtime.db, session.user_id)
    own = await members.find_by_user(runtime.db, user.id)
    member = next((one for one in own if one.organisation_id == session.organisation_id), None)
    every = {one.id: one for one in await organisations.find_by_user(runtime.db, user.id)}
    organisation = every.pop(session.organisation_id, None)
    if member is None or organisation is None or user.disabled_at is not None:
        return None
    now = runtime.clock.now()
    if now - session.seen_at >= SEEN:
        await touch(runtime, session, now)
    return SignedInUser(user, member, organisation, session, tuple(every.values()))


async def touch(runtime: Runtime, session: Session, now: Instant) -> None:
    """Record that the session and its user were seen now."""

    async def write(tx: Transaction) -> None:
        await sessions.touch(tx, session.id, now)
        await users.save_seen(tx, session.user_id, now)

    await runtime.db.write(write)


async def switch_organisation(
    runtime: Runtime, signed: SignedInUser, organisation_id: str, mode: Mode
) -> bool:
    """Move the session to an organisation and mode.

    Return False if the user is not a member, or the mode does not exist.
    """
    own = await members.find_by_user(runtime.db, signed.user.id)
    if organisation_id not in {member.organisation_id for member in own} or not has_mode(runtime, mode):
        return False

    async def write(tx: Transaction) -> None:
        await sessions.move(tx, signed.session.id, organisation_id, mode)

    await runtime.db.write(write)
    return True


async def find_others(runtime: Runtime, signed: SignedInUser, limit: int) -> tuple[list[Session], bool]:
    """Return up to `limit` other sessions of the user, newest first, and whether there are more."""
    found = await sessions.find(runtime.db, signed.user.id, runtime.clock.now(), limit + 2)
    others = [one for one in found if one.id != signed.session.id]
    return others[:limit], len(others) > limit


async def end_session(runtime: Runtime, user_id: str, session_id: str, origin: Origin) -> bool:
    """End a session of the user. Return whether there was one."""

    async def write(tx: Transaction) -> bool:
        stage = await sessions.end(tx, user_id, session_id)
        if stage is Stage.WHOLE:  # a half session was never signed in, so it is not signed out either
            await log_sign_out(runtime, tx, await users.get(tx, user_id), origin, {"sessionId": session_id})
        return stage is not None

    ended = await runtime.db.write(write)
    return ended


async def end_others(runtime: Runtime, signed: SignedInUser, origin: Origin) -> int:
    """End all other sessions of the user, and return their number."""

    async def write(tx: Transaction) -> int:
        ended = await sessions.count_others(tx, signed.session, runtime.clock.now())
        await sessions.end_all(tx, signed.user.id, signed.session.id)
        if ended:
            await log_sign_out(runtime, tx, signed.user, origin, {"otherSessions": ended})
        return ended

    ended = await runtime.db.write(write)
    return ended


async def log_sign_out(
    runtime: Runtime, tx: Transaction, user: User, origin: Origin, data: Mapping[str, object]
) -> None:
    """Enter the end of sessions in the administrative audit log."""
    now = runtime.clock.now()
    await audit_log.log_own_act(tx, runtime.vault, user, origin, AdminAct("member.signed_out", now, data))
