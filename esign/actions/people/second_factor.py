"""The second factor: codes of an authenticator app (RFC 6238) and recovery codes."""

import hmac

import pyotp

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import UserCaller
from esign.actions.base.stored_codes import normalise_digits
from esign.actions.mail import notices
from esign.actions.mail.notices import AccountChange
from esign.core.instant import SECOND, Instant
from esign.core.people.user import User
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import sessions, users
from esign.system.entropy import make_recovery_code

STEP = 30  # seconds; codes of the step before and after are accepted too, each once
RECOVERY = 10  # recovery codes of a user


def new_secret() -> str:
    """Return 160 random bits in base32."""
    return pyotp.random_base32(32)


def make_provisioning_uri(secret: str, user: User, issuer: str) -> str:
    """Return the URI that an authenticator app reads from the QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=issuer)


def find_step(secret: str, code: str, now: Instant) -> int | None:
    """Return the time step to which the code belongs, or None."""
    totp, step, given = pyotp.TOTP(secret), now // (STEP * SECOND), normalise_digits(code)
    fitting = [
        n for n in (step - 1, step, step + 1) if hmac.compare_digest(totp.at(n * STEP).encode(), given)
    ]
    return fitting[0] if fitting else None


async def enable(runtime: Runtime, caller: UserCaller, secret: str, code: str) -> list[str] | None:
    """Enable the second factor, and return the recovery codes, which are shown only this once.

    The other sessions end, because they gave no code. Return None if the code does not belong to the secret.
    """
    user, now = caller.user, runtime.clock.now()
    step = find_step(secret, code, now)
    if step is None:
        return None
    sealed = runtime.vault.encrypt("totp", secret.encode(), user.id.encode())
    codes = [make_recovery_code() for _ in range(RECOVERY)]

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_factor(tx, user.id, sealed, step)
        await users.replace_recovery(tx, user.id, [mac_recovery_code(runtime, user.id, one) for one in codes])
        await sessions.end_all(tx, user.id, caller.session_id)
        await report_change(runtime, tx, caller, "member.factor_enabled", "factor_on")

    await runtime.db.write(write)
    return codes


async def disable(runtime: Runtime, caller: UserCaller) -> None:
    """Disable the second factor, so that the password alone signs in. The other sessions end."""
    user = caller.user

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_factor(tx, user.id, None, 0)
        await users.replace_recovery(tx, user.id, [])
        await sessions.end_all(tx, user.id, caller.session_id)
        await report_change(runtime, tx, caller, "member.factor_disabled", "factor_off")

    await runtime.db.write(write)


async def report_change(runtime: Runtime, tx: Transaction, caller: UserCaller, act: str, letter: str) -> None:
    """Enter a change of the second factor in the administrative audit log, and notify the user by e-mail."""
    user, origin, now = caller.user, caller.origin, runtime.clock.now()
    await audit_log.log_own_act(tx, runtime.vault, user, origin, AdminAct(act, now, {}))
    change = AccountChange(letter, origin, now)
    await notices.tell_user_by_first_organisation(tx, runtime.vault, user, change)


async def renew_recovery(runtime: Runtime, caller: UserCaller) -> list[str]:
    """Replace the recovery codes, and return the new ones, which are shown only this once."""
    user = caller.user
    codes = [make_recovery_code() for _ in range(RECOVERY)]

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.replace_recovery(tx, user.id, [mac_recovery_code(runtime, user.id, one) for one in codes])
        await report_change(runtime, tx, caller, "member.recovery_codes_renewed", "codes_new")

    await runtime.db.write(write)
    return codes


async def use_code(tx: Transaction, runtime: Runtime, user: User, code: str, now: Instant) -> str | None:
    """Use up the code. Return `code` or `recovery` for a right one, otherwise None."""
    if user.totp is None:
        return None
    secret = runtime.vault.decrypt("totp", user.totp, user.id.encode()).decode()
    step = find_step(secret, code, now)
    if step is None and runtime.clock.doubt:  # the app may go by the wall clock, which is not trusted now
        step = find_step(secret, code, runtime.clock.read_wall_clock())
    if step is not None:
        return "code" if await users.use_step(tx, user.id, step) else None
    message = bind_recovery_code(user.id, code)
    for kept in await users.list_recovery(tx, user.id):
        if runtime.vault.is_stored_mac("recovery", message, kept):
            return "recovery" if await users.use_recovery(tx, user.id, kept) else None
    return None


def mac_recovery_code(runtime: Runtime, user_id: str, code: str) -> bytes:
    """Return the MAC that is stored of a recovery code."""
    return runtime.vault.compute_mac("recovery", bind_recovery_code(user_id, code))


def bind_recovery_code(user_id: str, code: str) -> bytes:
    """Return the message of a recovery code's MAC. Blanks, hyphens and case do not matter."""
    letters = "".join(c for c in code.lower() if c.isalnum())
    return f"{user_id}:{letters}".encode()
