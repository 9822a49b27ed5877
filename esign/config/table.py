"""The base class of the tables of `esign.toml`: keys with a description each, and the meaning of an empty text."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


def declare_key(default: object, line: str, **bounds: Any) -> Any:
    """Declare one key with its default, its description (also in `esign.toml.example`), and its bounds."""
    return Field(default, description=line, **bounds)


class Table(BaseModel):
    """One [table] of the file. An empty text for a key without a default means that the key is not set."""

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
            name: value
            for name, value in given.items()
            if value != "" or name not in cls.list_keys_without_default()
        }

    @classmethod
    def name_keys(cls) -> dict[str, str]:
        """Return the key of each attribute as the file writes it."""
        return {name: str(field.validation_alias or name) for name, field in cls.model_fields.items()}

    @classmethod
    def list_keys(cls) -> dict[str, FieldInfo]:
        """Return the keys as the file writes them, such as `from` for the attribute `sender`."""
        return {str(field.validation_alias or name): field for name, field in cls.model_fields.items()}

    @classmethod
    def list_keys_without_default(cls) -> set[str]:
        """Return the keys for which being unset has a meaning."""
        return {
            name for name, field in cls.list_keys().items() if field.default is None or field.default_factory
        }
