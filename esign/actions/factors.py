"""The second factor: codes of an authenticator (RFC 6238) and, in its stead, recovery codes."""

import hmac

import pyotp

from esign.actions.codes import digits
from esign.core.instant import SECOND, Instant
from esign.core.user import User
from esign.entropy import new_recovery_code
from esign.runtime import Runtime
from esign.store import sessions, users
from esign.store.database import Transaction

STEP = 30  # seconds; the step before and after count as well, each once
RECOVERY = 10


def new_secret() -> str:
    """160 random bits in base32."""
    return pyotp.random_base32(32)


def address(secret: str, user: User, issuer: str) -> str:
    """What an authenticator reads from the QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=issuer)


def matching(secret: str, code: str, now: Instant) -> int | None:
    """The step whose code it is, None where it is that of none."""
    totp, step, given = pyotp.TOTP(secret), now // (STEP * SECOND), digits(code)
    fitting = [
        n for n in (step - 1, step, step + 1) if hmac.compare_digest(totp.at(n * STEP).encode(), given)
    ]
    return fitting[0] if fitting else None


async def enable(runtime: Runtime, user: User, secret: str, code: str, keep: str) -> list[str] | None:
    """The recovery codes, shown this once; every session but `keep` ends, which gave no code.

    None where the code is not that of the secret.
    """
    now = runtime.clock.now()
    step = matching(secret, code, now)
    if step is None:
        return None
    sealed = runtime.vault.encrypt("totp", secret.encode(), user.id.encode())
    codes = [new_recovery_code() for _ in range(RECOVERY)]

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_factor(tx, user.id, sealed, step)
        await users.replace_recovery(tx, user.id, [mac(runtime, user.id, one) for one in codes])
        await sessions.end_all(tx, user.id, keep)

    await runtime.db.write(write)
    return codes


async def disable(runtime: Runtime, user: User, keep: str) -> None:
    """The password alone signs in again; every session but `keep` ends."""

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.save_factor(tx, user.id, None, 0)
        await users.replace_recovery(tx, user.id, [])
        await sessions.end_all(tx, user.id, keep)

    await runtime.db.write(write)


async def renew_recovery(runtime: Runtime, user: User) -> list[str]:
    """New codes, shown this once; those before no longer count."""
    codes = [new_recovery_code() for _ in range(RECOVERY)]

    async def write(tx: Transaction) -> None:
        await users.require_same(tx, user)
        await users.replace_recovery(tx, user.id, [mac(runtime, user.id, one) for one in codes])

    await runtime.db.write(write)
    return codes


async def use(tx: Transaction, runtime: Runtime, user: User, code: str, now: Instant) -> bool:
    """Whether the code signs in, which it does once."""
    if user.totp is None:
        return False
    secret = runtime.vault.decrypt("totp", user.totp, user.id.encode()).decode()
    step = matching(secret, code, now)
    if step is not None:
        return await users.use_step(tx, user.id, step)
    return await users.use_recovery(tx, user.id, mac(runtime, user.id, code))


def mac(runtime: Runtime, user_id: str, code: str) -> bytes:
    """What is stored of a recovery code, however its groups were typed."""
    letters = "".join(c for c in code.lower() if c.isalnum())
    return runtime.vault.mac("recovery", f"{user_id}:{letters}".encode())
