"""Order a certificate of an authority by ACME (RFC 8555), with the proof over plain http (HTTP-01, section 8.3).

Everything here blocks, so it runs in a thread of its own. It knows no file and no state.
"""

from datetime import datetime
from typing import Any

import requests
from acme import challenges, crypto_util, errors, messages
from acme.client import ClientNetwork, ClientV2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from josepy.errors import Error as JoseError
from josepy.jwa import ES256
from josepy.jwk import JWKEC
from josepy.util import ComparableECKey

from esign import __version__
from esign.core.instant import SECOND
from esign.https.acme_order import AcmeAuthority, AcmeOrder, OrderFailed, OrderStopped

TIMEOUT = 30  # seconds for one answer of the authority
PAUSE = 1.0  # seconds between two questions about an authorization
POLLS = 90
NONCES = 3
FINISH = 90 * SECOND
EXPECTED = (errors.Error, JoseError)
CHALLENGE_TOO_LONG = "the authority has not asked for the proof in 90 seconds"


def order_certificate(authority: AcmeAuthority, order: AcmeOrder) -> bytes:
    """Return the certificate and its issuers in PEM. Raise `OrderFailed` or `OrderStopped`."""
    network = NotingNetwork(authority, order.account_key)
    try:
        return place_order(authority, order, network)
    except messages.Error as error:
        raise make_failure(error, network.retry_after) from error
    except errors.IssuanceError as error:
        raise make_failure(error.error, network.retry_after) from error
    except errors.TimeoutError as error:
        raise OrderFailed("late", CHALLENGE_TOO_LONG, network.retry_after) from error
    except requests.RequestException as error:
        raise OrderFailed("unreachable", describe_connection_error(error)) from error
    except (OrderFailed, OrderStopped):
        raise
    except Exception as error:  # the libraries trust the shape of answers: an odd one may raise anything
        detail = str(error) if isinstance(error, EXPECTED) else f"{type(error).__name__}: {error}"
        raise OrderFailed("invalid_answer", detail[:300], network.retry_after) from error
    finally:
        network.session.close()


class NotingNetwork(ClientNetwork):
    """The connection to the authority, which remembers after how many seconds the authority wants to be asked again."""

    def __init__(self, authority: AcmeAuthority, account_key: bytes) -> None:
        key = load_pem_private_key(account_key, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise OrderFailed("invalid_key", "the key of the account is not the one that was made here")
        super().__init__(
            JWKEC(key=ComparableECKey(key)),
            alg=ES256,
            verify_ssl=authority.trust or True,  # type: ignore[arg-type]  # it is handed to requests as it is
            user_agent=f"esign/{__version__}",
            timeout=TIMEOUT,
        )
        self.retry_after = 0
        self.session.hooks["response"].append(self._note_wish)

    def post(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a signed request, again with a new nonce where the authority refuses the one it gave (RFC 8555, 6.5).

        The library tries twice. Authorities that lose nonces at a restart, and those that refuse some to test their
        clients, need more.
        """
        for _ in range(NONCES):
            try:
                return super().post(*args, **kwargs)
            except messages.Error as error:
                if error.code != "badNonce":
                    raise
        return super().post(*args, **kwargs)

    def _note_wish(self, response: requests.Response, *_: Any, **__: Any) -> None:
        """Remember the wish of an answer that refuses; one that says "not yet" is heeded by the polling."""
        if response.status_code >= 400:
            wish = response.headers.get("Retry-After", "")
            self.retry_after = int(wish) if wish.isdecimal() else 0


def place_order(authority: AcmeAuthority, order: AcmeOrder, network: ClientNetwork) -> bytes:
    """Return the certificate of an order that goes well; errors are those of the library."""
    client = ClientV2(ClientV2.get_directory(authority.directory, network), network)
    sign_in(client, authority, order)
    csr = crypto_util.make_csr(order.key, [order.host])
    try:
        placed = client.new_order(csr)
    except messages.Error as error:
        if error.code not in ("accountDoesNotExist", "unauthorized") or not order.account:
            raise
        order.account = ""  # the authority has forgotten the account
        sign_in(client, authority, order)
        placed = client.new_order(csr)
    for authorization in placed.authorizations:
        if authorization.body.status != messages.STATUS_VALID:
            prove(client, authorization, order)
    deadline = datetime.fromtimestamp((order.read_wall_clock() + FINISH) / SECOND)  # noqa: DTZ006  (the library compares local times)
    finished = client.finalize_order(placed, deadline)
    return finished.fullchain_pem.encode("ascii")


def sign_in(client: ClientV2, authority: AcmeAuthority, order: AcmeOrder) -> None:
    """Use the account of the order, or make one."""
    client.net.account = None
    if order.account:
        client.net.account = messages.RegistrationResource(uri=order.account, body=messages.Registration())
        return
    wish = messages.NewRegistration.from_data(email=authority.email, terms_of_service_agreed=True)
    try:
        made = client.new_account(wish)
    except errors.ConflictError as known:  # the key has an account already
        made = messages.RegistrationResource(uri=known.location, body=messages.Registration())
    client.net.account = made
    order.account = made.uri


def prove(client: ClientV2, authorization: messages.AuthorizationResource, order: AcmeOrder) -> None:
    """Let the authority ask port 80 whether the host leads here. Raise messages.Error if it found that it does not."""
    offered = [one for one in authorization.body.challenges if isinstance(one.chall, challenges.HTTP01)]
    if not offered:
        raise OrderFailed("no_http_proof", "the authority does not offer http-01")
    response, validation = offered[0].chall.response_and_validation(client.net.key)
    token = offered[0].chall.encode("token")
    order.proofs[token] = validation.encode("ascii")
    try:
        client.answer_challenge(offered[0], response)
        for _ in range(POLLS):
            if order.stop.wait(PAUSE):
                raise OrderStopped
            authorization, _answer = client.poll(authorization)
            status = authorization.body.status
            if status == messages.STATUS_VALID:
                return
            if status != messages.STATUS_PENDING:
                found = [one.error for one in authorization.body.challenges if one.error is not None]
                raise found[0] if found else OrderFailed("unauthorized", str(status))
        raise OrderFailed("late", CHALLENGE_TOO_LONG)
    finally:
        order.proofs.pop(token, None)


def make_failure(error: messages.Error, retry_after: int) -> OrderFailed:
    """Return an error of the authority as a failure of the order."""
    first = error.subproblems[0] if error.subproblems else error
    code = error.code or first.code or str(error.typ).rpartition(":")[2]
    return OrderFailed(code, " ".join(str(first.detail or first.title or "").split())[:300], retry_after)


def describe_connection_error(error: requests.RequestException) -> str:
    """Return a few words on why the authority gave no answer: the innermost reason, without addresses of objects."""
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    return str(getattr(cause, "strerror", None) or getattr(cause, "verify_message", None) or cause)[:200]
