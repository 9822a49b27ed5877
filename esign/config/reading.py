"""Read `esign.toml` and the environment, and explain in words what is wrong with them."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from difflib import SequenceMatcher
from pathlib import Path
from typing import get_args, get_origin

from annotated_types import Ge, Le
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from esign.config.tables import TABLES, Config

FILE = Path("esign.toml")
PREFIX = "ESIGN_"
OF_PROGRAMS = {"ESIGN_KEY", "ESIGN_URL", "ESIGN_UNBUNDLED"}
"""Variables that are no settings: two of programs that call the API, one for the development of scripts."""

KEYS: Mapping[str, FieldInfo] = {
    f"{table}.{key}": field for table, model in TABLES.items() for key, field in model.list_keys().items()
}
SECRETS = frozenset(path for path, field in KEYS.items() if SecretStr in get_args(field.annotation))
SECRET_WORDS = re.compile("pass|secret|token|key", re.IGNORECASE)
LOGIN = re.compile(r"\A[^@]*:.*@", re.DOTALL)  # it may contain a password
VARIABLES: Mapping[str, str] = {PREFIX + path.replace(".", "__").upper(): path for path in KEYS}


class ConfigError(Exception):
    """The configuration cannot be used; the text is one line for each problem, to be printed as it is."""


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value that was set, and its source."""

    value: object
    source: str


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """Return the configuration of `path`, or of ./esign.toml if that exists, overridden by the variables of
    `environ`.

    Raises ConfigError naming every problem: the key, what was found, what is allowed, the nearest known key.
    """
    file = path or FILE
    folder = file.absolute().parent
    problems: list[str] = []
    given = _read_file(file, problems) if path or file.exists() else {}
    given |= _read_environment(environ, folder, problems)
    tables: dict[str, dict[str, object]] = {table: {} for table in TABLES}
    for name, entry in given.items():
        table, key = name.split(".", 1)
        tables[table][key] = entry.value
    try:
        config = Config.model_validate(tables, context=folder)
    except ValidationError as error:
        found = error.errors(include_url=False)
        problems += [
            _describe_problem(one, given) for one in found if one["type"] != "default_factory_not_called"
        ]
        raise ConfigError("\n".join(problems)) from None
    if problems:
        raise ConfigError("\n".join(problems))
    config.note_file(file.absolute() if path or file.exists() else None)
    config.note_sources({name: entry.source for name, entry in given.items()})
    return config


def _read_file(file: Path, problems: list[str]) -> dict[str, SettingValue]:
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}; put it there and let this user read it"
        ) from None
    except ValueError as error:  # wrong TOML, or bytes that are not UTF-8
        raise ConfigError(f"{file}: is not TOML in UTF-8: {error}") from None
    given: dict[str, SettingValue] = {}
    for table, members in content.items():
        if table in TABLES and isinstance(members, dict):
            given |= {f"{table}.{key}": SettingValue(value, file.name) for key, value in members.items()}
        elif table in TABLES:
            problems.append(
                f"{table} ({file.name}): found {write_value(members)}; allowed is a table, written [{table}]"
            )
        elif isinstance(members, dict) and members:
            problems += [
                _describe_unknown_key(f"{table}.{key}", value, file.name, KEYS)
                for key, value in members.items()
            ]
        else:
            problems.append(_describe_unknown_key(table, members, file.name, KEYS))
    problems += [
        _describe_unknown_key(name, given.pop(name).value, file.name, KEYS)
        for name in sorted(given.keys() - KEYS.keys())
    ]
    return given


def _read_environment(
    environ: Mapping[str, str], folder: Path, problems: list[str]
) -> dict[str, SettingValue]:
    given: dict[str, SettingValue] = {}
    for variable in sorted(environ):
        name = VARIABLES.get(variable) or VARIABLES.get(variable.removesuffix("_FILE"))
        if not variable.startswith(PREFIX) or variable in OF_PROGRAMS:
            continue
        if name is None or (variable not in VARIABLES and name not in SECRETS):
            problems.append(_describe_unknown_key(variable, environ[variable], "environment", VARIABLES))
        elif name in given:
            problems.append(f"{name}: found both {given[name].source} and {variable}; allowed is one of them")
        elif variable in VARIABLES:
            given[name] = SettingValue(_parse_text(environ[variable], KEYS[name]), variable)
        else:
            given[name] = SettingValue(_read_secret(folder / environ[variable], variable), variable)
    return given


def read_variable(name: str, environ: Mapping[str, str], folder: Path) -> str | None:
    """Return what a variable of `environ` sets a key to, a secret also from a file; None if none does.

    For what is needed before there is a configuration. Raises ConfigError.
    """
    variable = PREFIX + name.replace(".", "__").upper()
    if variable in environ:
        return environ[variable]
    file = environ.get(f"{variable}_FILE") if name in SECRETS else None
    return None if file is None else _read_secret(folder / file, f"{variable}_FILE")


def _parse_text(text: str, field: FieldInfo) -> object:
    """Return a TOML value, or the text itself if it is none or the key takes a text, such as a password of digits."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    takes_other = {int, bool, tuple} & {get_origin(field.annotation) or field.annotation}
    return value if isinstance(value, str) or takes_other else text


def _read_secret(file: Path, variable: str) -> str:
    try:
        text = file.read_text("utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise ConfigError(f"{variable}: {file} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{variable}: {file} is not text in UTF-8") from None
    if not text:
        raise ConfigError(f"{variable}: {file} is empty; allowed is the secret on one line")
    return text


# ---------- messages ----------


def _describe_problem(details: ErrorDetails, given: Mapping[str, SettingValue]) -> str:
    """Return a sentence on a problem that pydantic found; checks over several keys of a table bring their own."""
    name = ".".join(str(part) for part in details["loc"][:2])
    reason = str(details.get("ctx", {}).get("error", ""))
    if name not in KEYS:
        return reason
    found = "a value that is no text" if name in SECRETS else write_value(details["input"])
    source = f" ({given[name].source})" if name in given else ""
    return f"{name}{source}: found {found}; allowed is {reason or describe_allowed(KEYS[name])}"


def _describe_unknown_key(name: str, value: object, source: str, known: Iterable[str]) -> str:
    known_name = find_nearest_key(name, known, table=isinstance(value, dict))
    secret = VARIABLES.get(known_name, known_name) in SECRETS or SECRET_WORDS.search(name)
    found = "a value" if secret else write_value(value)
    return f"{name} ({source}): found {found}, but there is no such key; the nearest is {known_name}"


def find_nearest_key(name: str, known: Iterable[str], table: bool = False) -> str:
    """Return the known key most like `name`, as a whole and in its last part; for a `table`, a key of the
    nearest table.
    """

    def likeness(candidate: str) -> float:
        if table:
            return _compare_names(name, candidate.partition(".")[0])
        return _compare_names(name, candidate) + _compare_names(
            _take_last_part(name), _take_last_part(candidate)
        )

    return max(known, key=likeness)


def _compare_names(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _take_last_part(name: str) -> str:
    return name.replace("__", ".").rpartition(".")[2]


def describe_allowed(field: FieldInfo) -> str:
    """Return the values that a key takes, in words."""
    kinds = [kind for kind in (get_args(field.annotation) or (field.annotation,)) if kind is not type(None)]
    if field.annotation is bool:
        return "true or false"
    if field.annotation is int:
        low = next(bound.ge for bound in field.metadata if isinstance(bound, Ge))
        high = next(bound.le for bound in field.metadata if isinstance(bound, Le))
        return f"a whole number from {low} to {high}"
    if get_origin(field.annotation) is tuple:
        return "a list of texts in brackets"
    if all(isinstance(kind, str) for kind in kinds):
        return " or ".join(f'"{kind}"' for kind in kinds)
    return "a text in quotes"


def write_value(value: object) -> str:
    """Return a value as TOML writes it, on one line, shortened, and without a password in an address."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            text = LOGIN.sub("…@", value)
            text = text if len(text) <= 80 else text[:77] + "…"
            return (
                '"'
                + "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)
                + '"'
            )
        case dict():
            return "a table"
        case list() | tuple():
            return (
                "[" + ", ".join(write_value(item) for item in value[:5]) + (", …]" if len(value) > 5 else "]")
            )
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value)
