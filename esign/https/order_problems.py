"""What a failed order means, as a sentence with the remedy."""

from collections.abc import Sequence
from typing import NamedTuple

from esign.core.sentence import join, say
from esign.https.https_certificate import HttpsProblem

NO_ADDRESS = (
    "The authority finds no address of {host} in the DNS. Enter this name there with the address of this"
    " server."
)
CLOSED = (
    "The authority can’t reach {host} on port 80. Open port 80 of this server in every firewall, and check the address"
    " in the DNS."
)
ELSEWHERE = (
    "Something else answers at http://{host}. Point this name to this server in the DNS, and forward its port 80 to"
    " esign."
)
LIMIT = "The authority gives no more certificates for {host} at present, because its limit is reached."
UNREACHABLE = "The authority at {authority} can’t be reached. Check the network of this server."
CAA = "A CAA record of {host} in the DNS forbids this authority. Allow it there, or use another one."
TROUBLE = "The authority has trouble at present."
OTHER = "The authority issues no certificate for {host}."
LEADS_TO = "At present {host} leads to {addresses}."
SHOWN_ADDRESSES = 4


class Meaning(NamedTuple):
    """What a code of the authority means: a short form, a form of a sentence, and whether addresses help to see it."""

    brief: str
    form: str
    is_about_address: bool = False


MEANINGS = {
    "dns": Meaning("the name has no address in the DNS", NO_ADDRESS),
    "connection": Meaning("the authority cannot reach port 80", CLOSED, True),
    "unauthorized": Meaning("something else answers at this name", ELSEWHERE, True),
    "incorrectResponse": Meaning("something else answers at this name", ELSEWHERE, True),
    "rateLimited": Meaning("a limit of the authority is reached", LIMIT),
    "unreachable": Meaning("the authority cannot be reached", UNREACHABLE),
    "caa": Meaning("a CAA record forbids this authority", CAA),
    "late": Meaning("the authority has trouble", TROUBLE),
    "serverInternal": Meaning("the authority has trouble", TROUBLE),
    "badNonce": Meaning("the authority has trouble", TROUBLE),
    "invalid_answer": Meaning("the authority has trouble", TROUBLE),
}
REFUSED = Meaning("the authority issues no certificate", OTHER)


def find_meaning(code: str) -> Meaning:
    """Return what an error of an order means. Codes are those of `OrderFailed`."""
    return MEANINGS.get(code, REFUSED)


def explain_failure(
    code: str, detail: str, host: str, authority: str, addresses: Sequence[str]
) -> HttpsProblem:
    """Return the problem behind a failed order. `authority` is its host name; `addresses` are those of our host."""
    meaning = find_meaning(code)
    sentence = say(meaning.form, host=host, authority=authority)
    if meaning.is_about_address and addresses:
        shown = ", ".join(addresses[:SHOWN_ADDRESSES])
        sentence = join([sentence, say(LEADS_TO, host=host, addresses=shown)])
    return HttpsProblem(meaning.brief, sentence, detail)
