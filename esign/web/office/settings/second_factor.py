"""Turn the second factor of a user on and off: an authenticator app, and recovery codes in case it is lost."""

import base64

from starlette.responses import Response

from esign.actions.people import second_factor
from esign.core.errors import Problem
from esign.store.people import users
from esign.system.vault import Damaged
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import EMPTY, Wrong

PURPOSE = "totp-offer"  # the form carries an offered secret, encrypted, until it is confirmed
WRONG_CODE = "This code is not right. Take the newest one; the clock of your phone must be right as well."


async def show(call: Call) -> Response:
    """Show a new secret to scan or, once the second factor is on, its state."""
    user = call.signed.user
    if user.totp is not None:
        left = await users.count_recovery(call.runtime.db, user.id)
        return call.page("factor_on", left=left)
    secret = offered(call) or second_factor.new_secret()
    import segno  # imported here: 0.5 MB of memory, for a page that is rarely opened

    about = second_factor.address(secret, user, call.signed.organisation.name)
    return call.page(
        "factor",
        secret=" ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        offer=offer(call, secret),
        picture=segno.make(about, micro=False).svg_data_uri(border=3, light="#fff", scale=5),
    )


async def enable(call: Call) -> Response:
    """Turn the second factor on, if the code proves that the authenticator has the secret.

    The recovery codes are shown on this answer only. Raise `Wrong` for an incorrect code, and `invalid_request`
    if the second factor is on already or the secret was not offered to this session.
    """
    secret, code = offered(call), call.form.get("code", "")
    if secret is None or call.signed.user.totp is not None:
        raise Problem("invalid_request")
    if not code.strip():
        raise Wrong({"code": EMPTY})
    codes = await second_factor.enable(
        call.runtime, call.signed.user, secret, code, keep=call.signed.session.id, origin=call.origin
    )
    if codes is None:
        raise Wrong({"code": WRONG_CODE})
    return call.page("codes", codes=codes, new=True)


async def renew(call: Call) -> Response:
    """Replace the recovery codes and show the new ones once; raise `not_found` if the second factor is off."""
    if call.signed.user.totp is None:
        raise Problem("not_found")
    return call.page(
        "codes",
        codes=await second_factor.renew_recovery(call.runtime, call.signed.user, origin=call.origin),
        new=False,
    )


async def disable(call: Call) -> Response:
    """Turn the second factor off; every other browser is signed out."""
    await second_factor.disable(
        call.runtime, call.signed.user, keep=call.signed.session.id, origin=call.origin
    )
    return call.go("/account", "factor-off")


def offer(call: Call, secret: str) -> str:
    """Return the secret encrypted for this session, as the form carries it."""
    sealed = call.runtime.vault.encrypt(PURPOSE, secret.encode(), call.signed.session.id.encode())
    return base64.urlsafe_b64encode(sealed).decode()


def offered(call: Call) -> str | None:
    """Return the secret that was offered to this session, from the form; None if it is missing or damaged."""
    try:
        sealed = base64.urlsafe_b64decode(call.form.get("offer", "").encode("ascii"))
        return call.runtime.vault.decrypt(PURPOSE, sealed, call.signed.session.id.encode()).decode()
    except (ValueError, Damaged):
        return None
