"""The text a recipient agrees to before signing or approving, in each language, with its version and hash.

The text is evidence: change it only together with `VERSION`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from esign.core.document.document import Role
from esign.core.language import choose_language, isolate_text

VERSION = "2026-11"


@dataclass(frozen=True, slots=True)
class Wording:
    """`agreement` stands beside the box to tick, `disclosure` above it. `{…}` are placeholders."""

    agreement: str
    disclosure: str


WORDINGS: Mapping[str, Wording] = {
    "en": Wording(
        "I agree to sign “{title}” electronically.",
        "Your name, your email address, the time and your network address are recorded with the signature. "
        "You can ask {organisation} for a paper copy.",
    ),
    "ar": Wording(
        "أوافق على توقيع «{title}» إلكترونيًا.",
        "يُسجَّل مع التوقيع اسمكم وعنوان بريدكم الإلكتروني والوقت وعنوان شبكتكم. يمكنكم أن تطلبوا "
        "نسخة ورقية من {organisation}.",
    ),
    "de": Wording(
        "Ich stimme zu, „{title}“ elektronisch zu unterschreiben.",
        "Ihr Name, Ihre E-Mail-Adresse, die Zeit und Ihre Netzwerkadresse werden mit der Unterschrift "
        "aufgezeichnet. Sie können {organisation} um eine Kopie auf Papier bitten.",
    ),
    "es": Wording(
        "Acepto firmar «{title}» de forma electrónica.",
        "Con la firma se registran su nombre, su dirección de correo electrónico, la hora y su "
        "dirección de red. Puede pedir a {organisation} una copia en papel.",
    ),
    "fr": Wording(
        "J’accepte de signer « {title} » par voie électronique.",
        "Votre nom, votre adresse e-mail, l’heure et votre adresse réseau sont enregistrés avec la "
        "signature. Vous pouvez demander une copie papier à {organisation}.",
    ),
    "it": Wording(
        "Accetto di firmare «{title}» in forma elettronica.",
        "Con la firma vengono registrati il Suo nome, il Suo indirizzo email, l’ora e il Suo "
        "indirizzo di rete. Può chiedere una copia cartacea a {organisation}.",
    ),
    "ja": Wording(
        "「{title}」に電子的に署名することに同意します。",
        "お名前、メールアドレス、時刻、ネットワークアドレスが署名とともに記録されます。紙の控えは{organisation}に請求できます。",
    ),
    "nl": Wording(
        "Ik ga ermee akkoord “{title}” elektronisch te ondertekenen.",
        "Uw naam, uw e-mailadres, de tijd en uw netwerkadres worden bij de handtekening vastgelegd. U "
        "kunt {organisation} om een kopie op papier vragen.",
    ),
    "pl": Wording(
        "Wyrażam zgodę na podpisanie „{title}” w formie elektronicznej.",
        "Wraz z podpisem zapisywane są: imię i nazwisko, adres e-mail, czas oraz adres sieciowy. O "
        "kopię papierową można poprosić: {organisation}.",
    ),
    "pt": Wording(
        "Aceito assinar «{title}» por via eletrónica.",
        "O seu nome, o seu endereço de e-mail, a hora e o seu endereço de rede são registados com a "
        "assinatura. Pode pedir uma cópia em papel a {organisation}.",
    ),
}


APPROVALS: Mapping[str, Wording] = {
    "en": Wording(
        "I have read “{title}” and approve it.",
        "Your name, your email address, the time and your network address are recorded with the approval.",
    ),
    "ar": Wording(
        "لقد قرأت «{title}» وأعتمده.",
        "يُسجَّل مع الاعتماد اسمكم وعنوان بريدكم الإلكتروني والوقت وعنوان شبكتكم.",
    ),
    "de": Wording(
        "Ich habe „{title}“ gelesen und genehmige es.",
        "Ihr Name, Ihre E-Mail-Adresse, die Zeit und Ihre Netzwerkadresse werden mit der Genehmigung "
        "aufgezeichnet.",
    ),
    "es": Wording(
        "He leído «{title}» y lo apruebo.",
        "Con la aprobación se registran su nombre, su dirección de correo electrónico, la hora y su "
        "dirección de red.",
    ),
    "fr": Wording(
        "J’ai lu « {title} » et je l’approuve.",
        "Votre nom, votre adresse e-mail, l’heure et votre adresse réseau sont enregistrés avec "
        "l’approbation.",
    ),
    "it": Wording(
        "Ho letto «{title}» e lo approvo.",
        "Con l’approvazione vengono registrati il Suo nome, il Suo indirizzo email, l’ora e il Suo "
        "indirizzo di rete.",
    ),
    "ja": Wording(
        "「{title}」を読み、承認します。",
        "お名前、メールアドレス、時刻、ネットワークアドレスが承認とともに記録されます。",
    ),
    "nl": Wording(
        "Ik heb “{title}” gelezen en keur het goed.",
        "Uw naam, uw e-mailadres, de tijd en uw netwerkadres worden bij de goedkeuring vastgelegd.",
    ),
    "pl": Wording(
        "Znam treść „{title}” i zatwierdzam ją.",
        "Wraz z zatwierdzeniem zapisywane są: imię i nazwisko, adres e-mail, czas oraz adres sieciowy.",
    ),
    "pt": Wording(
        "Li «{title}» e aprovo.",
        "O seu nome, o seu endereço de e-mail, a hora e o seu endereço de rede são registados com a "
        "aprovação.",
    ),
}


def write_agreement(locale: str, title: str, role: Role = Role.SIGNER) -> str:
    """Return the sentence that the recipient ticks, with the document's title filled in."""
    return find_wording(locale, role).agreement.replace(
        "{title}", isolate_text(title, choose_language(locale).direction)
    )


def write_disclosure(locale: str, organisation: str, role: Role = Role.SIGNER) -> str:
    """Return the text about what is recorded and, for a signer, about the right to a paper copy."""
    return find_wording(locale, role).disclosure.replace(
        "{organisation}", isolate_text(organisation, choose_language(locale).direction)
    )


def hash_wording(locale: str, role: Role = Role.SIGNER) -> str:
    """Return the SHA-256 in hex of the agreement, a line feed and the disclosure, before anything is filled in."""
    shown = find_wording(locale, role)
    return hashlib.sha256(f"{shown.agreement}\n{shown.disclosure}".encode()).hexdigest()


def find_wording(locale: str, role: Role = Role.SIGNER) -> Wording:
    """Return the text of the locale or of its language, else the English one."""
    words = APPROVALS if role is Role.APPROVER else WORDINGS
    return words[choose_language(locale).tag]
