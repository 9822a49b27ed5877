"""English sentences of errors that remember their parts, so that a page can say them in another language.

What is raised is English, and programs that call the API read it as it is. A page looks its form up in a catalogue
of the reader's language and fills the values in again.
"""

from collections.abc import Mapping


class Sentence(str):
    """An English sentence with the form that it was filled in from, such as `At most {n} recipients.`"""

    form: str
    values: Mapping[str, object]


def say(form: str, *, one: str | None = None, **values: object) -> Sentence:
    """Return `form` with its values filled in. `one` is said instead where the value `n` is 1.

    The sentence remembers `form` also where `one` is said: catalogues are asked for the form.
    """
    said = Sentence((one if one is not None and values.get("n") == 1 else form).format(**values))
    said.form, said.values = form, values
    return said


def read_parts(sentence: str) -> tuple[str, Mapping[str, object]]:
    """Return the form and the values of a sentence. A plain text is a form without values."""
    if isinstance(sentence, Sentence):
        return sentence.form, sentence.values
    return sentence, {}
