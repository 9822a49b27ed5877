"""How people get an account: the first owner, invited members, and users who forgot their password.

A link opens a page on which the person chooses a password. Only sending that page uses up the link.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from esign.actions.base import audit_log, printable_text
from esign.actions.base.audit_log import AdminAct
from esign.actions.mail import notices
from esign.actions.mail.notices import AccountChange
from esign.actions.people.settings import make_change_entry
from esign.core.actor import Actor, Author, Mode, Origin
from esign.core.errors import Problem
from esign.core.instant import Instant
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.user import LASTS, Errand, Ticket, User
from esign.mail.message import NamedMailbox
from esign.mail.outgoing_mail import Notice
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.people import members, organisations, sessions, tickets, users
from esign.system import vault
from esign.system.entropy import make_id, make_token
from esign.system.passwords import build_known_lane

PAGES = {Errand.SETUP: "set-up", Errand.INVITATION: "invitation", Errand.RESET: "password"}
FIRST = "first owner"
SETUP_FILE = "setup-link"
RESETS = 5  # most links for a new password that one user may have at the same time


def make_link(base_url: str, errand: Errand, token: str) -> str:
    """Return the address of the page. Logs mask the token in it."""
    return f"{base_url}/{PAGES[errand]}/{token}"


async def issue_token(
    tx: Transaction, errand: Errand, subject: str, now: Instant, *, beside: bool = False
) -> str:
    """Return a new token. Earlier tokens for the same errand and subject end, unless `beside` is true."""
    token = make_token()
    await tickets.add(tx, token, Ticket(errand, subject, now + LASTS[errand]), beside=beside)
    return token


async def issue_setup_token(db: Database, now: Instant) -> str | None:
    """Return a token for setting up the first owner, or None if an organisation has an owner."""

    async def write(tx: Transaction) -> str | None:
        return None if await members.has_owner(tx) else await issue_token(tx, Errand.SETUP, FIRST, now)

    return await db.write(write)


def keep_setup_link(data: Path, address: str) -> Path:
    """Write the setup link into a file that only the owner of the data folder can read. Return its path."""
    place = data / SETUP_FILE
    vault.write_over(place, f"{address}\n".encode())
    return place


def forget_setup_link(data: Path) -> None:
    """Delete the file with the setup link, if it exists."""
    (data / SETUP_FILE).unlink(missing_ok=True)


async def invite(runtime: Runtime, tx: Transaction, member: Member, now: Instant) -> str:
    """Send a link by e-mail that lets its reader join as `member`, and return the link."""
    token = await issue_token(tx, Errand.INVITATION, member.id, now)
    to = make_link(runtime.config.server.base_url, Errand.INVITATION, token)
    organisation = await organisations.get(tx, member.organisation_id)
    facts: dict[str, str | int] = {
        "organisation": organisation.name,
        "link_until_at": now + LASTS[Errand.INVITATION],
    }
    notice = Notice(
        letter="member_invited",
        organisation=organisation,
        mode=Mode.LIVE,
        to=NamedMailbox(member.email, member.name),
        link=to,
        facts=facts,
    )
    await notices.add_notice(tx, runtime.vault, notice, f"invited:{member.id}:{now}", runtime.clock.now())
    return to


async def hand_over_link(runtime: Runtime, tx: Transaction, member: Member, now: Instant) -> str:
    """Return a link that lets its reader join as `member`. No e-mail is sent, and an earlier link ends."""
    token = await issue_token(tx, Errand.INVITATION, member.id, now)
    return make_link(runtime.config.server.base_url, Errand.INVITATION, token)


async def send_reset_link(runtime: Runtime, email: str, origin: Origin) -> None:
    """Send a link for a new password by e-mail, if a user with this address can sign in. The caller does not
    learn whether.

    Anyone may ask for it, so it must do no harm: earlier links stay valid, the e-mail does not count against
    the quota of the organisation, and a user with `RESETS` valid links gets no further e-mail until one has
    ended.
    """
    now = runtime.clock.now()
    user = await users.find(runtime.db, email)
    own = await members.find_by_user(runtime.db, user.id) if user else []
    if user is None or user.disabled_at is not None or not own:
        return

    async def write(tx: Transaction) -> None:
        if await tickets.count(tx, Errand.RESET, user.id, now) >= RESETS:
            return
        token = await issue_token(tx, Errand.RESET, user.id, now, beside=True)
        organisation = await organisations.get(tx, own[0].organisation_id)
        facts: dict[str, str | int] = {"account": user.email, "link_until_at": now + LASTS[Errand.RESET]}
        to = make_link(runtime.config.server.base_url, Errand.RESET, token)
        notice = Notice(
            letter="password_reset",
            organisation=organisation,
            mode=Mode.LIVE,
            to=NamedMailbox(user.email, user.name),
            link=to,
            facts=facts,
        )
        key = f"reset:{user.id}:{now}"
        await notices.add_unmetered_notice(tx, runtime.vault, notice, key, runtime.clock.now())
        entry = AdminAct("member.password_reset_requested", now, {})
        author = Author(Actor(audit_log.ANONYMOUS), origin)
        await audit_log.log_act_on_user(tx, runtime.vault, user, author, entry)

    await runtime.db.write(write)


@dataclass(frozen=True, slots=True)
class PendingInvitation:
    """Who is invited, and as what. `user` is the user who signs in with this address already, if any."""

    member: Member
    organisation: str
    user: User | None


async def is_open(runtime: Runtime, errand: Errand, token: str) -> bool:
    """Return whether the link can still be used."""
    return await tickets.find(runtime.db, errand, token, runtime.clock.now()) is not None


async def find_invitation(runtime: Runtime, token: str) -> PendingInvitation | None:
    """Return the invitation, or None if the link can no longer be used."""
    subject = await tickets.find(runtime.db, Errand.INVITATION, token, runtime.clock.now())
    member = await members.get(runtime.db, subject) if subject else None
    if member is None:
        return None
    organisation = await organisations.get(runtime.db, member.organisation_id)
    return PendingInvitation(member, organisation.name, await users.find(runtime.db, member.email))


@dataclass(frozen=True, slots=True)
class Newcomer:
    """What an invited person gives: a name, which only a new account takes, and a password.

    `lane` is that of their browser, if it is known, in the queue for password hashing.
    """

    name: str
    password: str = field(repr=False)
    lane: str | None = None


async def join(
    runtime: Runtime, token: str, invited: PendingInvitation, given: Newcomer, origin: Origin
) -> User | None:
    """Let an invited person join, and return the user. Raises `not_found` if the link was used meanwhile.

    A person who has an account gives its password; None is returned if it is wrong. Any other person chooses
    one.
    """
    now, known = runtime.clock.now(), invited.user
    lane = build_known_lane(given.lane or invited.member.id)
    if known is not None:
        fits = await runtime.passwords.is_password(known.password, given.password, lane)
        if not fits or known.disabled_at is not None:
            await audit_log.log_failure(runtime, known, "password", origin)
            return None
    user = known or make_user(
        invited.member.email, given.name, now, await runtime.passwords.hash(given.password, lane)
    )

    async def write(tx: Transaction) -> None:
        subject = await tickets.use(tx, Errand.INVITATION, token, now)
        member = await members.get(tx, subject) if subject else None
        if member is None:
            raise Problem("not_found")
        if known is None:
            await users.add(tx, user)
        joined = replace(member, name=user.name, status=MemberStatus.ACTIVE, user_id=user.id)
        await members.save(tx, joined)
        await log_joining(runtime, tx, joined, origin, now)

    await runtime.db.write(write)
    return user


async def log_joining(
    runtime: Runtime, tx: Transaction, member: Member, origin: Origin, now: Instant
) -> None:
    """Enter in the administrative audit log that a member has joined."""
    entry = AdminAct("member.joined", now, {"memberId": member.id, "role": member.role.value})
    await audit_log.add_entry(tx, runtime.vault, member.organisation_id, make_caller(member, origin), entry)


def make_caller(member: Member, origin: Origin) -> Author:
    """Return the member as the caller of a request."""
    return Author(Actor("member", member.id, member.name, member.email), origin)


@dataclass(frozen=True, slots=True)
class Founder:
    """The first owner, and the new name of the organisation."""

    name: str
    email: str
    password: str
    organisation: str
    time_zone: str


async def set_up_owner(runtime: Runtime, token: str, given: Founder, origin: Origin) -> User:
    """Create the owner of the first organisation, and return the user. Raises `not_found` if the link was used
    meanwhile.

    Raises `invalid_request` for a name of the organisation that cannot be printed.
    """
    now = runtime.clock.now()
    await printable_text.check_texts(runtime, {"/organisation": given.organisation})
    user = make_user(
        given.email, given.name, now, await runtime.passwords.hash(given.password, build_known_lane(FIRST))
    )

    async def write(tx: Transaction) -> None:
        first = await organisations.find_first(tx)
        assert first is not None, "made when the program starts"
        if await tickets.use(tx, Errand.SETUP, token, now) is None or await members.has_owner(tx):
            raise Problem("not_found")
        named = replace(first, name=given.organisation, time_zone=given.time_zone)
        await organisations.save(tx, named)
        await users.add(tx, user)
        owner = make_owner(first.id, user, now)
        await members.join(tx, owner)
        await log_joining(runtime, tx, owner, origin, now)
        if (entry := make_change_entry(first, named, now)) is not None:
            await audit_log.add_entry(tx, runtime.vault, first.id, make_caller(owner, origin), entry)

    await runtime.db.write(write)
    forget_setup_link(runtime.config.storage.data_dir)
    return user


def make_user(email: str, name: str, now: Instant, password: str) -> User:
    """Return a new user. `password` is the hash."""
    return User(make_id("usr", now), email, name, now, password=password, password_at=now)


def make_owner(organisation_id: str, user: User, now: Instant) -> Member:
    """Return the user as an active owner of the organisation."""
    return Member(
        id=make_id("mem", now),
        organisation_id=organisation_id,
        email=user.email,
        name=user.name,
        role=MemberRole.OWNER,
        status=MemberStatus.ACTIVE,
        created_at=now,
        user_id=user.id,
    )


async def find_reset_user(runtime: Runtime, token: str) -> User | None:
    """Return the user whose password the link can set, or None if the link can no longer be used."""
    subject = await tickets.find(runtime.db, Errand.RESET, token, runtime.clock.now())
    user = await users.get(runtime.db, subject) if subject else None
    return None if user is None or user.disabled_at is not None else user


async def choose_password(runtime: Runtime, token: str, password: str, origin: Origin) -> None:
    """Set a new password with a mailed link, and end all sessions of the user. Raises `not_found`."""
    now, hashed = runtime.clock.now(), await runtime.passwords.hash(password, build_known_lane(token))

    async def write(tx: Transaction) -> None:
        user_id = await tickets.use(tx, Errand.RESET, token, now)
        if user_id is None:
            raise Problem("not_found")
        await users.save_password(tx, user_id, hashed, now)
        await sessions.end_all(tx, user_id)
        user, entry = await users.get(tx, user_id), AdminAct("member.password_changed", now, {"by": "link"})
        await audit_log.log_own_act(tx, runtime.vault, user, origin, entry)
        change = AccountChange("password_changed", origin, now)
        await notices.tell_user_by_first_organisation(tx, runtime.vault, user, change)

    await runtime.db.write(write)
