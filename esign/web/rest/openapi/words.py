"""What a description says in words, beside what the table and the models know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Words:
    """`nouns`: for a segment of a path what its id is of, and an example; `values`: what a parameter in a path may be;
    `members`: by `Schema.member`, `Kind.member` or `member`, where `kinds` finds the kind of a schema by its name."""

    introduction: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    nouns: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    event_examples: Mapping[str, Any] = field(default_factory=dict)
