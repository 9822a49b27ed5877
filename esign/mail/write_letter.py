"""Write a mail as a letter."""

from collections.abc import Callable, Mapping

from esign.mail import endings, letters
from esign.mail.notices import write_notice
from esign.mail.outgoing_mail import DocumentMail, Notice
from esign.mail.sheet import Letter, LetterSheet, draw_letter
from esign.mail.words import LetterWords, LoadWords, load_words

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


def write_letter(mail: Notice | DocumentMail, load: LoadWords = load_words) -> Letter:
    """Return the letter that the mail brings, in the phrases that `load` returns."""

    def write(words: LetterWords) -> LetterSheet:
        if isinstance(mail, Notice):
            return write_notice(mail, words)
        return LETTERS[mail.letter](mail, words)

    return draw_letter(mail.head, write, load)
