"""What one table of `esign.toml` is made of: keys with a line on each, and what an empty text means."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


def key(default: Any, line: str, **bounds: Any) -> Any:
    """One key: its default, one line on it (also in `esign.toml.example`), and its bounds."""
    return Field(default, description=line, **bounds)


class Table(BaseModel):
    """One [table] of the file; an empty text for a key without a default means: not set."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        validate_default=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_is_empty(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {
            name: value for name, value in given.items() if value != "" or name not in cls.without_default()
        }

    @classmethod
    def keys(cls) -> dict[str, FieldInfo]:
        """The keys as the file writes them: `from` where the attribute is `sender`."""
        return {str(field.validation_alias or name): field for name, field in cls.model_fields.items()}

    @classmethod
    def without_default(cls) -> set[str]:
        """The keys that mean something by not being set."""
        return {name for name, field in cls.keys().items() if field.default is None or field.default_factory}
