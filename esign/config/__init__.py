"""The configuration: `load` builds one frozen `Config` from `esign.toml` and `ESIGN_…` variables.

Decisions:

- This package is the only reader of both. Everything else is handed a `Config` or one of its tables.
- Pydantic models over `tomllib` are used instead of pydantic-settings, which costs 165 ms and 24 MB.
- Values are strict (`"80"` is no port), and all problems are reported at once and in words, because the reader
  is a person at a console.
- Secrets are `SecretStr`, which cannot be printed by accident.
- A variable that matches no key stops the start, as a misspelt key does.
- There are five files: `values` defines what one value may be, `table` what a table is, `tables` what the keys
  are, `reading` reads and explains, and `effective` adds what owners set in the browser.
"""

from esign.config.effective import (
    ADDRESS,
    MAIL,
    NOTHING_CHOSEN,
    BrowserSettings,
    EffectiveSettings,
    UnfitSettings,
    decode_browser_settings,
)
from esign.config.reading import SECRETS, ConfigError, load_config
from esign.config.tables import (
    BackupSettings,
    Config,
    ExpirySettings,
    LimitSettings,
    MailSettings,
    MetricsSettings,
    OrganisationSettings,
    ReminderSettings,
    SealSettings,
    ServerSettings,
    SigningSettings,
    StorageSettings,
    WebhookSettings,
    is_protected,
)
from esign.config.values import (
    BackupPlace,
    RemoteAddress,
    is_loopback,
    parse_base_url,
    parse_host,
    parse_mailbox,
)

__all__ = [
    "ADDRESS",
    "MAIL",
    "NOTHING_CHOSEN",
    "SECRETS",
    "BackupPlace",
    "BackupSettings",
    "BrowserSettings",
    "Config",
    "ConfigError",
    "EffectiveSettings",
    "ExpirySettings",
    "LimitSettings",
    "MailSettings",
    "MetricsSettings",
    "OrganisationSettings",
    "ReminderSettings",
    "RemoteAddress",
    "SealSettings",
    "ServerSettings",
    "SigningSettings",
    "StorageSettings",
    "UnfitSettings",
    "WebhookSettings",
    "decode_browser_settings",
    "is_loopback",
    "is_protected",
    "load_config",
    "parse_base_url",
    "parse_host",
    "parse_mailbox",
]
