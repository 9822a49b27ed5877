"""The prose of the description, in addition to what the table and the models say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ApiWords:
    """The prose of a description.

    `nouns`: by the segment of a path, what its id identifies, and an example. `values`: the values of a
    parameter in a path. `members`: by `Schema.member`, `Kind.member` or `member`; `kinds` gives the kind of a
    schema by its name.
    """

    introduction: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    nouns: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    event_examples: Mapping[str, Any] = field(default_factory=dict)
