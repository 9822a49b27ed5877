"""Write `esign.toml`: every key with its default and one line on it, and with the values that were chosen."""

import json
from collections.abc import Mapping
from pathlib import Path

from esign.config.tables import TABLES

EXAMPLE = (
    "# Every setting of esign with its default. Copy it to esign.toml and take the # from what you change.\n"
)
WRITTEN = "# The settings of esign. What has a # before it is the default; take the # from what you change.\n"
HEAD = """\
# Each key can also be set as a variable: ESIGN_SERVER__PORT=8443, or, for a secret, a file that holds it:
# ESIGN_MAIL__PASSWORD_FILE=/run/secrets/mail. Relative paths start at the folder of this file.
# A variable comes before this file. [server] base_url and [mail] can be set in the browser instead: what is set there
# counts only where neither this file nor a variable sets it.
"""


def write_example(chosen: Mapping[str, object] | None = None) -> str:
    """Return the text of the file. `chosen` has values by key, such as `server.port`; all others are commented out."""
    parts = [EXAMPLE if chosen is None else WRITTEN, HEAD]
    for table, model in TABLES.items():
        parts.append(f"\n# {model.__doc__}\n[{table}]\n")
        for name, field in model.list_keys().items():
            given = chosen.get(f"{table}.{name}") if chosen else None
            sign, value = ("# ", field.default) if given is None else ("", given)
            line = f"{name} = {write_toml(value)}"
            parts.append(f"{sign}{line:<32} # {field.description}\n")
    return "".join(parts)


def write_toml(value: object) -> str:
    """Return a value as TOML; an empty text for a key that is not set."""
    if isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return f'"./{value}"' if isinstance(value, Path) else '""'
