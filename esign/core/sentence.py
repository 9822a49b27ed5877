"""English sentences of errors that remember their parts, so that a page can say them in another language.

What is raised is English, and programs that call the API read it as it is. A page looks its form up in a catalogue
of the reader's language and fills the values in again. A value can be a sentence itself.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

TOGETHER = "{first} {second}"  # the form of two sentences, one after the other

PLACE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class Sentence(str):
    """An English sentence with the form that it was filled in from, such as `At most {n} recipients.`"""

    form: str
    values: Mapping[str, object]


def say(form: str, *, one: str | None = None, **values: object) -> Sentence:
    """Return `form` with its values filled in. `one` is said instead where the value `n` is 1.

    The sentence remembers `form` also where `one` is said: catalogues are asked for the form.
    """
    text = (one if one is not None and values.get("n") == 1 else form).format(**values)
    return remember_form(text, form, values)


def remember_form(text: str, form: str, values: Mapping[str, object]) -> Sentence:
    """Return the text as a sentence that was filled in from `form`."""
    said = Sentence(text)
    said.form, said.values = form, values
    return said


def join(sentences: Iterable[str]) -> Sentence:
    """Return whole sentences one after the other. Each keeps its form."""
    first, *others = [mark(one) for one in sentences if one] or [mark("")]
    for second in others:
        first = say(TOGETHER, first=first, second=second)
    return first


def mark(text: str) -> Sentence:
    """Return a text as a sentence, so that it is said in the reader's language where it is a value of another."""
    return text if isinstance(text, Sentence) else remember_form(text, text, {})


def read_parts(sentence: str) -> tuple[str, Mapping[str, object]]:
    """Return the form and the values of a sentence. A plain text is a form without values."""
    if isinstance(sentence, Sentence):
        return sentence.form, sentence.values
    return sentence, {}


def list_forms(*forms: str) -> Mapping[str, str]:
    """Return forms as `read_back` takes them."""
    return dict(zip(forms, forms, strict=True))


def read_back(text: str, forms: Mapping[str, str]) -> str:
    """Return a text as the sentence that it was before it was stored or sent.

    `forms` maps English texts with places to the forms that they are kept under: a singular has a text of its own. A
    text that fits none of them is returned as it is. Where two fit, the one with more words of its own counts.
    """
    if isinstance(text, Sentence):
        return text
    fitting = [(each, found) for each in forms if (found := make_pattern(each).fullmatch(text))]
    if not fitting:
        return text
    each, found = max(fitting, key=lambda one: len(PLACE.sub("", one[0])))
    formats = dict(PLACE.findall(each))
    values = {name: read_value(given, name, formats[name]) for name, given in found.groupdict().items()}
    counted = {"n": 1} if "{n}" in forms[each] else {}
    return remember_form(text, forms[each], {**counted, **values})


def read_value(text: str, name: str, spec: str) -> object:
    """Return a value: a whole number in the place `{n}` and with `:,`, a number with `:g`, and else a text."""
    if name == "n" or spec == ",":
        return int(text.replace(",", ""))
    return float(text) if spec == "g" else text


@cache
def make_pattern(form: str) -> re.Pattern[str]:
    """Return a pattern of the sentences that were made from `form`."""
    parts = PLACE.split(form)
    texts, names, specs = map(re.escape, parts[::3]), parts[1::3], parts[2::3]
    places = [f"(?P<{name}>{find_shape(name, spec)})" for name, spec in zip(names, specs, strict=True)]
    return re.compile(
        "".join(text + place for text, place in zip(texts, [*places, ""], strict=True)), re.DOTALL
    )


def find_shape(name: str, spec: str | None) -> str:
    """Return the pattern of what can stand in a place."""
    return {
        ",": r"-?[0-9]{1,3}(?:,[0-9]{3}){0,5}",
        "g": r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:e[+-]?[0-9]{1,3})?",
    }.get(spec or "", "[0-9]{1,15}" if name == "n" else ".+")
