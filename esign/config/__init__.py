"""The configuration: `load` builds one frozen `Config` from `esign.toml` and `ESIGN_…` variables.

Decisions:

- This package is the only reader of both. Everything else is handed a `Config` or one of its tables.
- Pydantic models over `tomllib` are used instead of pydantic-settings, which costs 165 ms and 24 MB.
- Values are strict (`"80"` is no port), and all problems are reported at once and in words, because the reader
  is a person at a console.
- Secrets are `SecretStr`, which cannot be printed by accident.
- A variable that matches no key stops the start, as a misspelt key does.
- There are four files: `values` defines what one value may be, `table` what a table is, `tables` what the keys
  are, and `reading` reads and explains.
"""

from esign.config.reading import ConfigError, load_config
from esign.config.tables import (
    Config,
    ExpirySettings,
    LimitSettings,
    MailSettings,
    OrganisationSettings,
    ReminderSettings,
    SealSettings,
    ServerSettings,
    SigningSettings,
    StorageSettings,
    WebhookSettings,
)
from esign.config.values import RemoteAddress, is_loopback

__all__ = [
    "Config",
    "ConfigError",
    "ExpirySettings",
    "LimitSettings",
    "MailSettings",
    "OrganisationSettings",
    "ReminderSettings",
    "RemoteAddress",
    "SealSettings",
    "ServerSettings",
    "SigningSettings",
    "StorageSettings",
    "WebhookSettings",
    "is_loopback",
    "load_config",
]
