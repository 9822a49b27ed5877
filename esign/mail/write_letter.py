"""Write a mail as a letter."""

from collections.abc import Callable, Mapping

from esign.mail import endings, letters
from esign.mail.notices import write_notice
from esign.mail.outgoing_mail import DocumentMail, Notice
from esign.mail.sheet import Letter, LetterSheet, draw_letter
from esign.mail.words import LetterWords

LETTERS: Mapping[str, Callable[[DocumentMail, LetterWords], LetterSheet]] = {
    "invitation": letters.write_invitation,
    "reminder": letters.write_reminder,
    "completed": letters.write_completed,
    "corrected": letters.write_corrected,
    "code": letters.write_code,
    "declined": endings.write_declined,
    "expired": endings.write_expired,
    "renewal": endings.write_renewal,
    "cancelled": endings.write_cancelled,
}


def write_letter(mail: Notice | DocumentMail) -> Letter:
    """Return the letter that the mail brings."""

    def write(words: LetterWords) -> LetterSheet:
        if isinstance(mail, Notice):
            return write_notice(mail, words)
        return LETTERS[mail.letter](mail, words)

    return draw_letter(mail.head, write)
