"""API keys of the organisation: list, create, rename, revoke. The form offers only what a new key may have."""

import hashlib
from dataclasses import dataclass, replace

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.people import accounts, api_keys
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Actor, Author, Mode
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.people.account import may_use_api
from esign.core.people.api_key import LIVE_ONLY, ApiKey, Scope, compose_key
from esign.core.sentence import say
from esign.system.entropy import derive_key_secret
from esign.web.office.frame import create_once, dates, paging
from esign.web.office.frame.current_organisation import MODES
from esign.web.office.frame.forms import EMPTY, FormError, check_form
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.settings import scopes
from esign.web.values.account_values import KeyName
from esign.web.values.schema import Schema

HERE = "/settings/tokens"
PURPOSE = "token-once"
PER_PAGE = 50
SPANS = (30, 90, 365)
NEVER, UNTIL = "never", "date"
SOON = 14 * DAY
LONGEST = "Your organisation limits API keys to {n} days."
LONGEST_DAY = "Your organisation limits API keys to {n} day."


class TokenName(Schema):
    name: KeyName


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A key as the list shows it. `preset` is the name of the preset that its scopes form, if they form one."""

    key: ApiKey
    state: str
    preset: str | None
    soon: bool


async def show(call: OfficeCall) -> Response:
    """Show one page of the list of API keys."""
    filters = f"tokens:{call.owner}"
    found, more = await api_keys.find_page(
        call.runtime, call.owner, PER_PAGE, paging.read_cursor(call, filters)
    )
    organisation = call.signed_in.organisation
    return call.page(
        "tokens",
        rows=[describe_token(key, call.runtime.clock.now()) for key in found],
        more=paging.link_next_page(call, more, filters),
        first=paging.AFTER not in call.request.query_params,
        active=await api_keys.count_active(call.runtime, organisation),
        most=call.runtime.config.limits.api_keys,
        unused_end=call.runtime.config.keys.revoke_unused,
        planned=may_use_api(accounts.find_plan(organisation, call.runtime.config)),
    )


def describe_token(key: ApiKey, now: Instant) -> TokenRow:
    """Return a key as the list shows it; `soon` is set in the last two weeks before it expires."""
    soon = key.expires_at is not None and now < key.expires_at <= now + SOON
    return TokenRow(key, accounts.name_state(key, now), scopes.find_preset(key.scopes), soon)


async def show_new(call: OfficeCall) -> Response:
    """Show the form for a new key, filled in with what most programs need."""
    now, organisation = call.runtime.clock.now(), call.signed_in.organisation
    usual = {
        "mode": call.signed_in.session.mode,
        "access": "all",
        "expires": choose_usual_lifetime(get_longest_lifetime(call)),
    }
    return call.page(
        "token_new",
        usual=usual,
        presets=(*scopes.PRESETS, scopes.CHOSEN),
        scopes=scopes.OFFERED,
        spans=list_lifetimes(get_longest_lifetime(call)),
        longest=get_longest_lifetime(call),
        tomorrow=dates.format_for_field(now + DAY, organisation.time_zone)[:10],
    )


def get_longest_lifetime(call: OfficeCall) -> int | None:
    """Return the longest lifetime of a key in this organisation, in days; None if it is unlimited."""
    return call.signed_in.organisation.max_key_lifetime_days


def list_lifetimes(most: int | None) -> list[int]:
    """Return the lifetimes in days that the form offers below the longest one."""
    return [days for days in SPANS if most is None or days < most]


def choose_usual_lifetime(most: int | None) -> str:
    """Return the lifetime that is selected at first: a year, or the longest one if that is shorter."""
    return str(min(most or SPANS[-1], SPANS[-1]))


async def create(call: OfficeCall) -> Response:
    """Create a key and show it. The answer is the only one that contains it.

    The secret is derived from the name of the form, so that the same form sent again shows the same key. It
    is derived from the mode too, so that a test key reveals nothing about a live one.
    """
    wish, member, name = parse_wish(call), call.signed_in.member, create_once.choose_form_name(call)
    author = Author(Actor("member", member.id, member.name, member.email), call.origin)
    macs = call.runtime.vault.compute_macs(PURPOSE, f"{member.id} {wish.mode} {name}".encode())
    secrets = [derive_key_secret(mac) for mac in macs]
    about = {"name": wish.name, "mode": wish.mode.value, "scopes": sorted(wish.scopes)}

    async def create(caller: Caller) -> ApiKey:
        by_member = replace(caller, author=author)
        key, _ = await api_keys.create(call.runtime, by_member, replace(wish, secret=secrets[0]))
        return key

    try:
        made = await create_once.create_once(
            call, hashlib.sha256(name.encode()).hexdigest(), HERE, about, create
        )
    except Problem as problem:
        if problem.code != "limit_reached":
            raise
        raise FormError({"": problem.message}) from None
    owner = replace(call.owner, mode=wish.mode)
    key = await api_keys.get(call.runtime, owner, made)
    texts = [compose_key(wish.mode, secret) for secret in secrets]
    return call.page("token_made", key=key, text=await api_keys.choose_text(call.runtime, key, texts))


def parse_wish(call: OfficeCall) -> KeyWish:
    """Return what the form asks for; raise `FormError` with a sentence at each invalid field."""
    wrong: dict[str, str] = {}
    name, given, expires_at = "", frozenset[Scope](), None
    try:
        name = check_form(TokenName, call.form).name
    except FormError as found:
        wrong |= found.sentences
    mode = MODES.get(call.form.get("mode", call.signed_in.session.mode.value))
    if mode is None or (mode is Mode.LIVE and call.runtime.config.server.environment == "test"):
        wrong["mode"] = "This installation doesn’t have this mode."
    if not (given := parse_scopes(call)):
        wrong["access"] = "Choose at least one permission."
    elif mode is Mode.TEST and given & LIVE_ONLY:
        wrong["access"] = "A test key can’t change settings, members or API keys. Choose a live key for that."
    try:
        expires_at = parse_expiry(call)
    except FormError as found:
        wrong |= found.sentences
    if wrong or mode is None:
        raise FormError(wrong)
    return KeyWish(name, mode, given, expires_at)


def parse_scopes(call: OfficeCall) -> frozenset[Scope]:
    """Return the scopes of the chosen preset, or those that are ticked."""
    access = call.form.get("access", "")
    if access in scopes.PRESETS:
        return scopes.PRESETS[access]
    return frozenset(scope for scope in scopes.OFFERED if f"scope-{scope}" in call.form)


def parse_expiry(call: OfficeCall) -> Instant | None:
    """Return when the key is to expire, or None for never; raise `FormError` for a lifetime that is not offered."""
    now, most, given = call.runtime.clock.now(), get_longest_lifetime(call), call.form.get("expires", "")
    if given == NEVER and most is None:
        return None
    if given == UNTIL:
        return parse_last_day(call, now, accounts.find_latest_end(call.signed_in.organisation, now))
    if (
        given.isascii()
        and given.isdecimal()
        and len(given) < 6
        and int(given) in (*list_lifetimes(most), most)
    ):
        return now + int(given) * DAY
    raise FormError({"expires": "Choose one of the options."})


def parse_last_day(call: OfficeCall, now: Instant, latest: Instant | None) -> Instant:
    """Return the end of the day in field `until`; raise `FormError` if it is past, or later than `latest`."""
    text = call.form.get("until", "")
    if not text:
        raise FormError({"until": EMPTY})
    try:
        at = dates.parse_day_end(text, call.signed_in.organisation.time_zone)
    except (ValueError, OverflowError):
        raise FormError({"until": "Enter the day as 2027-03-31."}) from None
    if at <= now:
        raise FormError({"until": "Choose a day in the future."})
    if latest is not None and at > latest:
        raise FormError({"until": say(LONGEST, one=LONGEST_DAY, n=get_longest_lifetime(call))})
    return at


async def show_name(call: OfficeCall) -> Response:
    """Show the form that renames a key."""
    key = await api_keys.get(call.runtime, call.owner, call.path["id"])
    return call.page("token_name", key=key)


async def rename(call: OfficeCall) -> Response:
    """Rename a key."""
    name = check_form(TokenName, call.form).name
    await api_keys.rename(call.runtime, call.caller, call.path["id"], name)
    return call.redirect_to(HERE, "token-named")


async def ask_revoke(call: OfficeCall) -> Response:
    """Ask before a key is revoked."""
    key = await api_keys.get(call.runtime, call.owner, call.path["id"])
    return call.page("token_revoke", key=key)


async def revoke(call: OfficeCall) -> Response:
    """Revoke a key."""
    await api_keys.revoke(call.runtime, call.caller, call.path["id"])
    return call.redirect_to(HERE, "token-revoked")
