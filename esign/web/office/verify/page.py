"""The verification page: ask for a file, then show what verification found."""

from collections.abc import Mapping
from functools import partial

from starlette.responses import Response

from esign.actions.verification import verify_file
from esign.actions.verification.verify_file import VerifiedFile
from esign.core.errors import Problem
from esign.core.rate_network import find_network
from esign.core.sentence import say
from esign.pdf.inspection import NOT_CHECKED
from esign.store.document import public_records
from esign.web.http.multipart import SentFile
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.verify import known_file
from esign.web.office.verify.seals import check_archive_stamps, describe_seal
from esign.web.office.verify.signers import list_signers
from esign.web.office.verify.untrusted_text import format_time, make_printable
from esign.web.office.verify.verdict import reach_verdict

NOTHING = "Choose the PDF you want to check."
REFUSED: Mapping[str, str] = {
    "invalid_file": "We can’t read this file as a PDF. Choose the sealed PDF itself, not a picture of it."
    " If this is the PDF, it was damaged on the way. Ask for it again.",
    "file_encrypted": "This PDF is protected with a password, so its seal can’t be checked here."
    " Check it in a PDF reader, or choose a copy without the password.",
}
TOO_LARGE = (
    "This file is too large. You can check files of up to {mib} MB here. Check it in a PDF reader instead."
)
TOO_MANY_PAGES = (
    "This file has too many pages. You can check up to {pages} pages here. Check it in a PDF reader instead."
)
ID_LENGTH = 64


async def show(call: OfficeCall) -> Response:
    """Show the form. With the id of a document, also say what is known about that document."""
    asked = call.path.get("id") or call.form.get("document", "")
    asked = asked[:ID_LENGTH]
    record = await public_records.find(call.runtime.db, asked) if asked else None
    about = known_file.describe_record(record, call.words) if asked else None
    limits = call.runtime.config.limits
    return call.page("verify", asked=make_printable(asked), about=about, limits=limits)


async def check_file(call: OfficeCall) -> Response:
    """Verify the uploaded file. It is kept in memory only, until the answer is sent."""
    if len(call.files) != 1:
        raise FormError({"file": NOTHING})
    [file] = call.files
    asked = call.form.get("document", "")[:ID_LENGTH]
    try:
        verified = await verify_file.verify_for_anybody(
            call.runtime,
            file.content,
            asked or None,
            source=find_network(call.origin.ip or "local"),
            owner=call.owner if call.person else None,
        )
    except Problem as problem:
        raise FormError({"file": explain_refusal(call, problem)}) from None
    return show_result(call, file, verified, asked)


def explain_refusal(call: OfficeCall, problem: Problem) -> str:
    """Return the sentence for a file that cannot be checked; raise every other problem again."""
    limits = call.runtime.config.limits
    known = {
        **REFUSED,
        "file_too_large": say(TOO_LARGE, mib=limits.file_mib),
        "too_many_pages": say(TOO_MANY_PAGES, pages=limits.pages),
    }
    if problem.code not in known:
        raise problem
    if problem.message == NOT_CHECKED:
        return NOT_CHECKED
    return known[problem.code]


def show_result(call: OfficeCall, file: SentFile, verified: VerifiedFile, asked: str) -> Response:
    """Render what verification found."""
    found, t = verified.verification, call.words
    seals = [describe_seal(signature, t) for signature in found["signatures"]]
    return call.page(
        "verify_result",
        asked=make_printable(asked),
        note=known_file.compare_with_record(verified, t) if asked else None,
        known=None if asked else known_file.find_known_file(verified, t),
        name=make_printable(file.name) or t("verify.your_file"),
        size=t.size(len(file.content)),
        found=found,
        verdict=reach_verdict(found, seals, verified.record, t),
        seals=seals,
        signers=list_signers(found, t),
        present=[
            known_file.find_present_name(verified, seal.name) if seal.issued_here else None for seal in seals
        ],
        archived=list(check_archive_stamps(found["documentTimestamps"], t)),
        moment=partial(format_time, t=t),
    )
