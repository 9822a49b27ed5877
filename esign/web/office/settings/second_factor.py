"""Turn the second factor of a user on and off: an authenticator app, and recovery codes in case it is lost."""

import base64

from starlette.responses import Response

from esign.actions.people import second_factor
from esign.core.errors import Problem
from esign.store.people import users
from esign.system.vault import DamagedCiphertext
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall

PURPOSE = "totp-offer"  # the form carries an offered secret, encrypted, until it is confirmed
WRONG_CODE = "That code isn’t right. Use the newest one, and check that your phone’s clock is right."


async def show(call: OfficeCall) -> Response:
    """Show a new secret to scan or, once the second factor is on, its state."""
    user = call.signed_in.user
    if user.totp is not None:
        left = await users.count_recovery(call.runtime.db, user.id)
        return call.page("factor_on", left=left)
    secret = decrypt_offer(call) or second_factor.new_secret()
    import segno  # imported here: 0.5 MB of memory, for a page that is rarely opened

    about = second_factor.make_provisioning_uri(secret, user, call.signed_in.organisation.name)
    return call.page(
        "factor",
        secret=" ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        offer=encrypt_offer(call, secret),
        picture=segno.make(about, micro=False).svg_data_uri(border=3, light="#fff", scale=5),
    )


async def enable(call: OfficeCall) -> Response:
    """Turn the second factor on, if the code proves that the authenticator has the secret.

    The recovery codes are shown on this answer only. Raise `FormError` for an incorrect code, and `invalid_request`
    if the second factor is on already or the secret was not offered to this session.
    """
    secret, code = decrypt_offer(call), call.form.get("code", "")
    if secret is None or call.signed_in.user.totp is not None:
        raise Problem("invalid_request")
    if not code.strip():
        raise FormError({"code": EMPTY})
    codes = await second_factor.enable(call.runtime, call.user_caller, secret, code)
    if codes is None:
        raise FormError({"code": WRONG_CODE})
    return call.page("codes", codes=codes, new=True)


async def renew(call: OfficeCall) -> Response:
    """Replace the recovery codes and show the new ones once; raise `not_found` if the second factor is off."""
    if call.signed_in.user.totp is None:
        raise Problem("not_found")
    return call.page(
        "codes",
        codes=await second_factor.renew_recovery(call.runtime, call.user_caller),
        new=False,
    )


async def disable(call: OfficeCall) -> Response:
    """Turn the second factor off; every other browser is signed out."""
    await second_factor.disable(call.runtime, call.user_caller)
    return call.redirect_to("/account", "factor-off")


def encrypt_offer(call: OfficeCall, secret: str) -> str:
    """Return the secret encrypted for this session, as the form carries it."""
    sealed = call.runtime.vault.encrypt(PURPOSE, secret.encode(), call.signed_in.session.id.encode())
    return base64.urlsafe_b64encode(sealed).decode()


def decrypt_offer(call: OfficeCall) -> str | None:
    """Return the secret that was offered to this session, from the form; None if it is missing or damaged."""
    try:
        sealed = base64.urlsafe_b64decode(call.form.get("offer", "").encode("ascii"))
        return call.runtime.vault.decrypt(PURPOSE, sealed, call.signed_in.session.id.encode()).decode()
    except (ValueError, DamagedCiphertext):
        return None
