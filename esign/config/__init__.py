"""The configuration: `load` makes one frozen `Config` out of `esign.toml` and `ESIGN_…` variables.

Decisions: this is the only reader of both; everything else is handed a `Config` or one of its tables.
Pydantic models over `tomllib` instead of pydantic-settings, which costs 165 ms and 24 MB. Values are strict
(`"80"` is no port), and all problems are told at once and in words: the reader is a person at a console.
Secrets are `SecretStr`, which cannot be printed by accident. A variable that no key answers to stops the
start, as a misspelt key does. Four files: `values` says what one value may be, `table` what a table is, `tables`
what the keys are, `reading` reads and explains.
"""

from esign.config.reading import ConfigError, load
from esign.config.tables import (
    Config,
    Expiry,
    Limits,
    Mail,
    Organisation,
    Reminders,
    Seal,
    Server,
    Signing,
    Storage,
    Webhooks,
)
from esign.config.values import Remote, is_loopback

__all__ = [
    "Config",
    "ConfigError",
    "Expiry",
    "Limits",
    "Mail",
    "Organisation",
    "Reminders",
    "Remote",
    "Seal",
    "Server",
    "Signing",
    "Storage",
    "Webhooks",
    "is_loopback",
    "load",
]
