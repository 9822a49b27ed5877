"""Rules for what a later revision may change without changing the signed document, stricter than pyHanko's own.

pyHanko lets a later revision change how the fields of a form are shown (`/DR`, `/DA`, `/Q`,
`/NeedAppearances`). A viewer then draws or computes a value that nobody signed. Here only `/Fields` and
`/SigFlags` of the form may change. A form of signature fields alone has no such values, so there such a change
counts as form filling: PDFBox 2 adds `/DR` and `/DA` to each form that it signs.

In turn, pyHanko counts a document time stamp as form filling if its invisible field has an appearance. EU DSS
and PDFBox add one (ISO 32000-2, 12.8.5, recommends none). Here it is proof if the appearance paints nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko.sign.diff_analysis import (
    DEFAULT_DIFF_POLICY,
    DiffResult,
    FieldComparisonContext,
    FieldMDPRule,
    FormUpdate,
    FormUpdatingRule,
    GenericFieldModificationRule,
    ModificationLevel,
    SigFieldCreationRule,
    SigFieldModificationRule,
    StandardDiffPolicy,
    SuspiciousModification,
)
from pyhanko.sign.diff_analysis.rules.form_field_rules import is_field_visible
from pyhanko.sign.fields import FieldMDPSpec, MDPPerm

from esign.pdf.verify.certificate_evidence import BROKEN
from esign.pdf.verify.proof_writers import BLANK_LOOK

DICTIONARY = generic.DictionaryObject
CHANGEABLE = frozenset({"/Fields", "/SigFlags"})
STATES = ("/N", "/R", "/D")  # appearances of an annotation: normal, under the pointer, pressed
LARGEST_BLANK = 1024  # bytes of an appearance that may count as empty; those seen in practice have at most 20

Update = tuple[ModificationLevel, FormUpdate]


class FormRule(FormUpdatingRule):
    """Allows changes of the list of fields and of `/SigFlags`, and refuses changes of the form's other entries."""

    def __init__(self, rules: list[FieldMDPRule]) -> None:
        super().__init__(rules, ignored_acroform_keys=CHANGEABLE)
        self._for_signatures = FormUpdatingRule(rules)

    def apply(self, old: HistoricalResolver, new: HistoricalResolver) -> Iterator[Update]:
        if _has_signatures_only(old) and _has_signatures_only(new):
            yield from self._for_signatures.apply(old, new)
            return
        held = _list_raw_entries(old).get("/DR")
        resources = held.reference if isinstance(held, generic.IndirectObject) else None
        for level, update in super().apply(old, new):
            # pyHanko approves an overwritten resource dictionary; without its approval the policy refuses it.
            if update.updated_ref != resources:
                yield level, update


class StampRule(FieldMDPRule):
    """Applies another rule, and counts the empty appearance of an invisible document time stamp as proof."""

    def __init__(self, rule: FieldMDPRule) -> None:
        self.rule = rule

    def apply(self, context: FieldComparisonContext) -> Iterable[Update]:
        blank = set(_find_blank_appearances(context))
        for level, update in self.rule.apply(context):
            if update.updated_ref in blank:
                yield ModificationLevel.LTA_UPDATES, replace(update, valid_when_locked=True)
            else:
                yield level, update


class ChangePolicy(StandardDiffPolicy):
    """Compares two revisions; a change that pyHanko fails to judge is not allowed."""

    def apply(
        self,
        old: HistoricalResolver,
        new: HistoricalResolver,
        field_mdp_spec: FieldMDPSpec | None = None,
        doc_mdp: MDPPerm | None = None,
    ) -> DiffResult:
        found = super().apply(old, new, field_mdp_spec, doc_mdp)
        if _list_raw_entries(old) == _list_raw_entries(new):
            return found
        level = max(found.modification_level, ModificationLevel.FORM_FILLING)
        return DiffResult(level, found.changed_form_fields)

    def review_file(
        self,
        reader: PdfFileReader,
        base_revision: int | HistoricalResolver,
        field_mdp_spec: FieldMDPSpec | None = None,
        doc_mdp: MDPPerm | None = None,
    ) -> DiffResult | SuspiciousModification:
        try:
            return super().review_file(reader, base_revision, field_mdp_spec, doc_mdp)
        except BROKEN as error:
            return SuspiciousModification(f"The change cannot be judged: {error}")


POLICY = ChangePolicy(
    global_rules=DEFAULT_DIFF_POLICY.global_rules,
    form_rule=FormRule(
        [
            StampRule(SigFieldCreationRule()),  # type: ignore[no-untyped-call]  # pyHanko leaves it without types
            StampRule(SigFieldModificationRule()),
            GenericFieldModificationRule(),
        ]
    ),
)


def _list_raw_entries(resolver: HistoricalResolver) -> dict[str, object]:
    """Return the entries of the form that must not change, without resolving what they refer to."""
    form = _get_entry(resolver, resolver.root, "/AcroForm")
    if not isinstance(form, DICTIONARY):
        return {}
    return {key: form.raw_get(key) for key in form if key not in CHANGEABLE}


def _has_signatures_only(resolver: HistoricalResolver) -> bool:
    fields = _get_entry(resolver, _get_entry(resolver, resolver.root, "/AcroForm"), "/Fields")
    listed = fields if isinstance(fields, generic.ArrayObject) else ()
    return all(_get_entry(resolver, _resolve(resolver, field), "/FT") == "/Sig" for field in listed)


def _find_blank_appearances(context: FieldComparisonContext) -> Iterator[generic.Reference]:
    """Yield the parts of appearances that paint nothing and belong to invisible document time stamps."""
    now = context.new
    for spec in context.field_specs.values():
        field = spec.new_field if spec.field_type == "/Sig" and spec.new_field_ref else None
        if field is None or is_field_visible(field) or not _is_stamp(now, field):  # type: ignore[no-untyped-call]
            continue
        kids = _get_entry(now, field, "/Kids")
        widgets = [
            field,
            *(_resolve(now, kid) for kid in (kids if isinstance(kids, generic.ArrayObject) else ())),
        ]
        looks = [one.raw_get("/AP") for one in widgets if isinstance(one, DICTIONARY) and "/AP" in one]
        if all(_is_blank(now, look) for look in looks):
            for look in looks:
                yield from now.collect_dependencies(look, since_revision=context.old.revision + 1)


def _is_stamp(resolver: HistoricalResolver, field: generic.DictionaryObject) -> bool:
    return _get_entry(resolver, _get_entry(resolver, field, "/V"), "/Type") == "/DocTimeStamp"


def _is_blank(resolver: HistoricalResolver, look: generic.PdfObject) -> bool:
    """Return whether every stream of an appearance dictionary paints nothing."""
    held = _resolve(resolver, look)
    if not isinstance(held, DICTIONARY):
        return False
    return all(_is_blank_stream(_get_entry(resolver, held, state)) for state in STATES if state in held)


def _is_blank_stream(appearance: object) -> bool:
    if not isinstance(appearance, generic.StreamObject):
        return False
    try:
        written = len(appearance.encoded_data or b"") <= LARGEST_BLANK
        return written and BLANK_LOOK.fullmatch(appearance.data) is not None
    except (PdfError, ValueError):
        return False


def _get_entry(resolver: HistoricalResolver, holder: object, key: str) -> object:
    """Return an entry of a dictionary as it was in that revision, or None if there is none."""
    if not isinstance(holder, DICTIONARY) or key not in holder:
        return None
    return _resolve(resolver, holder.raw_get(key))


def _resolve(resolver: HistoricalResolver, item: object) -> object:
    """Return the object as it was in that revision; its own `get_object` would return the newest."""
    return resolver.get_object(item.reference) if isinstance(item, generic.IndirectObject) else item
