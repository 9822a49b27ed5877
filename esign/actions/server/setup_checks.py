"""Checks whether an installation is ready to send: the mail server takes e-mails, and the seal holds."""

from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from esign.actions.base import logo_pictures
from esign.actions.mail import deliver_mail
from esign.actions.mail.mailer import make_smtp_server
from esign.actions.sealing import seal_levels
from esign.actions.sealing.practice_seal import make_practice_order
from esign.config import MailSettings
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.people.account import Organisation
from esign.core.seal_credential import Credential
from esign.core.sentence import join, say
from esign.mail.failure import MailFailure
from esign.mail.failure_cause import FailureCause, find_cause
from esign.mail.message import MessageAddresses, NamedMailbox, compose_message
from esign.mail.outgoing_mail import Notice
from esign.mail.write_letter import write_letter
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.verdict_sentences import read_reason
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import WorkerFailed
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.server import tsa_answers
from esign.system.entropy import make_id
from esign.tsa import NoTimeStamp

ANSWERS = frozenset(
    {
        FailureCause.LOGIN,
        FailureCause.LOGIN_NEEDED,
        FailureCause.TLS_NEEDED,
        FailureCause.SENDER,
        FailureCause.RECIPIENT,
        FailureCause.OTHER,
    }
)
PATIENCE = 10.0  # seconds for each step of a test mail, for which a person waits


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `words` are the mail server's own, or a sentence. `cause` says why a mail failed."""

    fine: bool
    words: str
    cause: FailureCause | None = None

    @property
    def is_answer(self) -> bool:
        """Return whether the words are those of the mail server."""
        return self.fine or self.cause in ANSWERS


async def send_mail(
    runtime: Runtime, organisation: Organisation, to: NamedMailbox, mail: MailSettings
) -> CheckResult:
    """Send one e-mail at once by these settings, which need not be in force, and return the mail server's answer."""
    server = make_smtp_server(mail, runtime.config.public_host, keep=0.0, step=PATIENCE)
    now = runtime.clock.now()
    facts = {"organisation": organisation.name}
    own = await logo_pictures.make_inline_logo(runtime.db, organisation)
    notice = Notice(
        letter="mail_checked", organisation=organisation, mode=Mode.LIVE, to=to, logo=own, facts=facts
    )
    host = (runtime.config.public_host or "localhost").replace(":", ".")
    try:
        message = compose_message(
            write_letter(notice),
            MessageAddresses(deliver_mail.find_sender(mail, organisation), to),
            message_id=f"{make_id('eml', now)}@{host}",
            at=now,
        )
        return CheckResult(True, (await server.send(message)).reply)
    except MailFailure as failure:
        return CheckResult(False, failure.reason, find_cause(failure))
    finally:
        await server.close()


@dataclass(frozen=True, slots=True)
class SealState:
    """The certificate that documents of a mode are sealed with. `origin` says how it came here.

    `fingerprint` is its SHA-256, as other programs show it. `days` is the whole length of its validity.
    """

    subject: str
    issuer: str
    begins_at: Instant
    ends_at: Instant
    days: int
    days_left: int
    made_here: bool
    origin: str
    key: str
    fingerprint: str


def read_seal_state(runtime: Runtime, mode: Mode = Mode.LIVE) -> SealState:
    """Return the certificate that documents of a mode are sealed with."""
    certificate = x509.load_der_x509_certificate(runtime.credentials[mode].certificate_der)
    begins_at = int(certificate.not_valid_before_utc.timestamp() * 1000)
    ends_at = int(certificate.not_valid_after_utc.timestamp() * 1000)
    origin = "made" if mode is Mode.TEST else runtime.keyring.authority.origin
    return SealState(
        subject=find_common_name(certificate.subject),
        issuer=find_common_name(certificate.issuer),
        begins_at=begins_at,
        ends_at=ends_at,
        days=(ends_at - begins_at) // DAY,
        days_left=max(0, (ends_at - runtime.clock.now()) // DAY),
        made_here=origin == "made",
        origin=origin,
        key=name_key_kind(certificate.public_key()),
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(":"),
    )


def name_key_kind(key: object) -> str:
    """Return the kind and strength of a public key, in names that every language has: `RSA 3072`."""
    if isinstance(key, ec.EllipticCurvePublicKey):
        return f"ECDSA {key.curve.name}"
    if isinstance(key, rsa.RSAPublicKey):
        return f"RSA {key.key_size}"
    return type(key).__name__.removesuffix("PublicKey").strip("_")


def find_common_name(name: x509.Name) -> str:
    """Return the common name, or the whole name if it has none."""
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()


async def try_seal(runtime: Runtime, organisation: Organisation) -> CheckResult:
    """Seal a practice page as live documents are sealed, and verify it. Nothing of it is stored."""
    order = await make_practice_order(runtime, organisation)
    now, turn = order.now, QueueTurn(PdfJobKind.ACT, organisation.id)
    roots = (*runtime.trusted, *runtime.roots)
    try:
        made = await seal_levels.make_seal(runtime, order, Mode.LIVE, turn)
        verdict = await runtime.pdf.verify(made.sealed.sealed, VerificationCase(roots, now), turn)
    except (WorkerFailed, NoTimeStamp) as failure:
        return CheckResult(False, seal_levels.explain_error(failure.reason))
    except Problem as problem:
        return CheckResult(False, problem.message)
    finally:
        await note_authorities(runtime)
    return judge_verdict(verdict, describe_level(made, verdict))


async def try_certificate(runtime: Runtime, organisation: Organisation, candidate: Credential) -> CheckResult:
    """Seal a practice page with a certificate that is not in use yet, and verify it. It gets no time stamp."""
    order = await make_practice_order(runtime, organisation)
    turn = QueueTurn(PdfJobKind.ACT, organisation.id)
    try:
        sealed = await runtime.pdf.seal(order, candidate, turn)
        verdict = await runtime.pdf.verify(
            sealed.sealed, VerificationCase((candidate.anchor_der,), order.now), turn
        )
    except WorkerFailed as failure:
        return CheckResult(False, seal_levels.explain_error(failure.reason))
    finally:
        await runtime.pdf.signer.forget_keys()
    return judge_verdict(verdict, say("Level {level}.", level=sealed.level))


def judge_verdict(verdict: Verification, words: str) -> CheckResult:
    """Return the result of the verification, with its reasons, or with `words` if there are none."""
    reasons = [read_reason(reason) for signature in verdict["signatures"] for reason in signature["reasons"]]
    return CheckResult(verdict["result"] == "valid", join(reasons) or words)


def describe_level(made: seal_levels.SealResult, verdict: Verification) -> str:
    """Return a sentence on the level of the seal, and on what is wrong with its time stamp."""
    (signature,) = verdict["signatures"]
    level, stamp = made.sealed.level, signature["timestamp"]
    if made.asked != level:
        return say(
            "Level {level}: {asked} was requested, but no authority issued a time stamp.",
            level=level,
            asked=made.asked,
        )
    if stamp is not None and not stamp["trusted"]:
        return say(
            "Level {level}; its time stamp is by {authority}, an authority that [seal] trust does not name.",
            level=level,
            authority=stamp["authority"],
        )
    return say("Level {level}.", level=level)


async def note_authorities(runtime: Runtime) -> None:
    """Store how the time-stamp authorities answered."""

    async def write(tx: Transaction) -> None:
        await tsa_answers.note(tx, runtime.tsa.authorities)

    if runtime.tsa.authorities:
        await runtime.db.write(write)
