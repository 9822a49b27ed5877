"""The tables of `esign.toml`: every key with its default, its bounds and a description."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, model_validator

from esign.config.table import Table, declare_key
from esign.config.values import (
    AnchorTarget,
    AuthorityUrl,
    BackupTarget,
    BaseUrl,
    Host,
    LocalFile,
    LocalFolder,
    LocalPath,
    Mailbox,
    Name,
    Network,
    RemoteUrl,
    TimeZone,
    Trusted,
    build_origin,
    is_address,
    is_loopback,
)
from esign.core.language import LANGUAGES, Tag


def _choose_host(given: dict[str, Any]) -> str:
    return "127.0.0.1" if given.get("https", "off") == "off" else "::"


def _choose_port(given: dict[str, Any]) -> int:
    return 8080 if given.get("https", "off") == "off" else 443


def _build_listening_address(given: dict[str, Any]) -> str:
    return build_origin(given["host"], given["port"])


LEAST_TOKEN = 16  # characters of the token of /metrics, which nothing else keeps from being guessed


class ServerSettings(Table):
    """Where the service listens, and the address the world knows it by."""

    https: Literal["off", "auto", "files"] = declare_key(
        "off",
        'Without a proxy: "auto" gets certificates by itself, "files" takes those named below.',
    )
    host: Host = Field(
        default_factory=_choose_host,
        description="Address to listen on; if not set, 127.0.0.1, with https all of this machine (::).",
    )
    port: int = Field(
        default_factory=_choose_port,
        description="Port to listen on; if not set, 8080, with https 443.",
        ge=1,
        le=65535,
    )
    base_url: BaseUrl = Field(
        default_factory=_build_listening_address,
        description="Address in links and mails, without a path; if not set anywhere, http://{host}:{port}.",
    )
    trusted_proxies: tuple[Network, ...] = declare_key(
        (), 'Proxies whose X-Forwarded-For counts, such as "10.0.0.0/8".', strict=False
    )
    log: Literal["auto", "json", "text"] = declare_key(
        "auto", 'Lines of the log: "json", "text", or "auto": text on a terminal, else JSON.'
    )
    environment: Literal["production", "test"] = declare_key(
        "production", '"test" issues only test keys: nothing signed here has legal effect.'
    )
    http_port: int = declare_key(
        80, "With https: port of plain http, which leads to https; 0: none.", ge=0, le=65535
    )
    https_certificate: LocalPath | None = declare_key(
        None, "Certificate and its issuers in PEM; taken up again when it changes."
    )
    https_key: LocalPath | None = declare_key(None, "Its private key in PEM, without a passphrase.")
    acme_directory: AuthorityUrl = declare_key(
        "https://acme-v02.api.letsencrypt.org/directory",
        'Authority of the certificates of "auto" (ACME, RFC 8555); its terms are accepted.',
    )
    acme_email: Mailbox | None = declare_key(None, "Address for news from that authority.")
    acme_trust: LocalFile | None = declare_key(
        None, "Root certificates of that authority in PEM, if it is a private one."
    )
    user: str | None = declare_key(None, "User to run as after a start as root, once the ports are open.")

    @model_validator(mode="after")
    def _require_what_https_needs(self) -> Self:
        for name in ("https_certificate", "https_key"):
            if (getattr(self, name) is not None) != (self.https == "files"):
                problem = (
                    'not set; a file is needed because server.https is "files"'
                    if self.https == "files"
                    else f'set, but server.https is "{self.https}"; it belongs to "files"'
                )
                raise ValueError(f"server.{name}: {problem}")
        if self.https == "off":
            return self
        if not self.base_url.startswith("https://"):
            found = f"found {self.base_url}" if "base_url" in self.model_fields_set else "not set"
            raise ValueError(
                f"server.base_url: {found}; an address such as https://sign.example.com is needed because"
                f' server.https is "{self.https}"'
            )
        if self.http_port == self.port:
            raise ValueError(
                f"server.http_port: found {self.port}, which is server.port; allowed is another one"
            )
        return self

    @model_validator(mode="after")
    def _require_https(self) -> Self:
        if not is_protected(self.base_url, self.environment):
            raise ValueError(
                f"server.base_url: found {self.base_url}; use an https:// address, or signing links"
                " would travel unprotected (http:// is only for this machine, or for"
                ' server.environment = "test")'
            )
        return self

    @model_validator(mode="after")
    def _require_what_an_authority_needs(self) -> Self:
        host = urlsplit(self.base_url).hostname or ""
        if self.https == "auto" and (is_loopback(host) or is_address(host)):
            raise ValueError(
                f"server.base_url: found {self.base_url}; a name of the DNS is needed because server.https is"
                ' "auto": no authority issues a certificate for an address or this machine alone'
            )
        if self.https == "auto" and not self.http_port:
            raise ValueError(
                'server.http_port: found 0; a port is needed because server.https is "auto": the authority asks'
                " there whether the name leads to this server"
            )
        return self


def is_protected(base_url: str, environment: str) -> bool:
    """Return whether signing links with this address are protected on their way.

    They travel encrypted, stay on this machine, or have no legal effect.
    """
    url = urlsplit(base_url)
    return environment == "test" or url.scheme == "https" or is_loopback(url.hostname or "")


class StorageSettings(Table):
    """Where everything is kept."""

    data_dir: LocalPath = declare_key(
        Path("./esign-data"),
        "Folder of the database and the keys, made when missing; back up all of it.",
    )
    spare_mib: int = declare_key(
        256, "MiB of the disk that are kept for signing: with fewer free, uploads wait.", ge=0, le=1_000_000
    )
    picture_cache_mib: int = declare_key(
        512, "MiB for pictures of pages, which are drawn again when needed; no backup.", ge=0, le=1_000_000
    )
    key_file: LocalPath | None = declare_key(
        None, "File of the key that encrypts secrets; if not set, app.key of systemd or in the data folder."
    )
    key_passphrase: SecretStr | None = declare_key(
        None, "Passphrase of that key; better in ESIGN_STORAGE__KEY_PASSPHRASE_FILE."
    )
    backup_before_migration: bool = declare_key(
        True, "Whether the database is copied before a new version changes its schema."
    )

    def take_key_passphrase(self) -> str | None:
        """Return the passphrase, and forget it: the program lives longer than it is needed."""
        secret = self.key_passphrase
        object.__setattr__(self, "key_passphrase", None)
        return secret.get_secret_value() if secret is not None else None


class MailSettings(Table):
    """The server that sends the mails; set here it cannot be changed in the browser. Without one, mails stay here."""

    host: Host | None = declare_key(None, "SMTP server; if not set, mails are only kept in the outbox.")
    port: int = declare_key(587, "Port of the SMTP server.", ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = declare_key(
        "starttls", '"starttls" (port 587), "tls" (port 465) or "none".'
    )
    username: str | None = declare_key(None, "Login name, if the server asks for one.")
    password: SecretStr | None = declare_key(None, "Its password; better in ESIGN_MAIL__PASSWORD_FILE.")
    sender: Mailbox | None = declare_key(
        None, 'Sender, such as "Example <sign@example.com>".', validation_alias="from"
    )

    connections: int = declare_key(
        8, "Connections kept open to it at once, while many mails wait.", ge=1, le=16
    )

    @model_validator(mode="after")
    def _require_what_goes_together(self) -> Self:
        if self.host is not None and self.sender is None:
            raise ValueError("mail.from: not set; an address is needed because mail.host is set")
        if self.username is None and self.password is not None:
            raise ValueError("mail.username: not set; a name is needed because mail.password is set")
        if self.username is not None and self.password is None:
            raise ValueError("mail.password: not set; a password is needed because mail.username is set")
        return self

    @property
    def secret(self) -> str | None:
        """Return the password itself, or None."""
        return self.password.get_secret_value() if self.password else None


class SealSettings(Table):
    """What documents are sealed with, whose seals are trusted, and the fonts that documents are written in."""

    pkcs12: LocalFile | None = declare_key(
        None, "Key and certificate of the seal (.p12); if not set, they are made."
    )
    certificate: LocalFile | None = declare_key(
        None, "Instead of pkcs12: certificate and its issuers in PEM."
    )
    private_key: LocalFile | None = declare_key(None, "Its private key in PEM.", validation_alias="key")
    passphrase: SecretStr | None = declare_key(None, "Its passphrase; better in ESIGN_SEAL__PASSPHRASE_FILE.")
    level: Literal["B-B", "B-T"] = declare_key(
        "B-B", 'Level of PAdES: "B-T" has a time stamp of an authority in each seal, "B-B" has none.'
    )
    tsa_urls: tuple[RemoteUrl, ...] = declare_key(
        (),
        "Addresses of time-stamp authorities (RFC 3161), asked in this order.",
        strict=False,
        max_length=10,
    )
    tsa_outage: Literal["wait", "complete"] = declare_key(
        "wait", 'If none answers, seals "wait" for one, or "complete" at B-B and say so.'
    )
    trust: tuple[Trusted, ...] = declare_key(
        (),
        'Whose signatures to trust: root certificates (PEM or DER), folders of them, "system".',
        strict=False,
    )
    font_paths: tuple[LocalFolder, ...] = declare_key(
        (), "Folders with more fonts, for names in Chinese, Japanese or Korean.", strict=False
    )

    @model_validator(mode="after")
    def _require_one_certificate(self) -> Self:
        if self.pkcs12 is not None and (self.certificate is not None or self.private_key is not None):
            other = "certificate" if self.certificate is not None else "key"
            raise ValueError(f"seal.pkcs12: found together with seal.{other}; allowed is one of them")
        if self.certificate is not None and self.private_key is None:
            raise ValueError("seal.key: not set; a file is needed because seal.certificate is set")
        if self.private_key is not None and self.certificate is None:
            raise ValueError("seal.certificate: not set; a file is needed because seal.key is set")
        if self.passphrase is not None and self.pkcs12 is None and self.private_key is None:
            raise ValueError("seal.pkcs12: not set; a file is needed because seal.passphrase is set")
        return self

    @model_validator(mode="after")
    def _require_authorities(self) -> Self:
        if self.level == "B-T" and not self.tsa_urls:
            raise ValueError('seal.tsa_urls: not set; an address is needed because seal.level is "B-T"')
        return self

    @property
    def secret(self) -> str | None:
        """Return the passphrase itself, or None."""
        return self.passphrase.get_secret_value() if self.passphrase else None


class OrganisationSettings(Table):
    """The organisation made at the first use; of these keys only `plan` is read again later."""

    name: Name = declare_key("esign", "Name in mails, on signing pages and on certificates.")
    locale: Tag = declare_key(
        "en", f"Language of mails and pages unless a document names one: {', '.join(LANGUAGES)}."
    )
    time_zone: TimeZone = declare_key("UTC", 'Time zone of dates and times, such as "Europe/Berlin".')
    reply_to: Mailbox | None = declare_key(
        None, "Gets the answers to mails, and the sender's copies and news."
    )
    plan: Literal["free", "team", "business", "enterprise"] = declare_key(
        "business", '"free", "team", "business" or "enterprise"; the API needs "business".'
    )


class MetricsSettings(Table):
    """Numbers for Prometheus at /metrics: on a port of their own, or at the server's address behind a token."""

    host: Host = declare_key("127.0.0.1", "Address to listen on for /metrics alone, if port is set.")
    port: int = declare_key(0, "Port for /metrics alone; 0: none.", ge=0, le=65535)
    token: SecretStr | None = declare_key(
        None,
        "Token that /metrics asks for; better in ESIGN_METRICS__TOKEN_FILE.",
    )

    @model_validator(mode="after")
    def _require_long_token(self) -> Self:
        if self.token is not None and len(self.token.get_secret_value()) < LEAST_TOKEN:
            raise ValueError(
                f"metrics.token: found a short one; allowed is a secret of {LEAST_TOKEN} or more characters"
            )
        return self

    @property
    def is_on(self) -> bool:
        """Return whether /metrics is served at all."""
        return self.port != 0 or self.token is not None


LEAST_PASSPHRASE = 12  # characters; whoever has a backup can try any number


class BackupSettings(Table):
    """What opens the backups of `esign backup`: a passphrase, private keys of age or SSH, or either of them."""

    passphrase: SecretStr | None = declare_key(
        None, "Passphrase of backups, kept elsewhere too; better in ESIGN_BACKUP__PASSPHRASE_FILE."
    )
    recipients: tuple[str, ...] = declare_key((), 'Public keys of age or SSH, such as "age1…".', strict=False)
    to: BackupTarget | None = declare_key(
        None,
        "Where the server puts backups by itself: a folder, s3://bucket/prefix or sftp://user@host/folder.",
    )
    every_hours: int = declare_key(24, "Hours between two of them.", ge=1, le=720)
    full_every_hours: int = declare_key(
        24, "Hours between two whole ones; those between hold what has changed since.", ge=1, le=720
    )
    keep: int = declare_key(
        14, "How many whole ones and how many increments are kept; older ones are deleted.", ge=1, le=10_000
    )
    scratch: LocalFolder | None = declare_key(
        None, "Folder with room to check them in; if not set, the one for temporary files."
    )
    s3_endpoint: RemoteUrl | None = declare_key(
        None, 'Address of the storage for "s3://"; if not set, that of AWS in the region.'
    )
    s3_region: str = declare_key("us-east-1", "Its region.", pattern=r"^[a-z0-9-]{1,40}$")
    s3_access_key: str | None = declare_key(None, "Access key of that storage.")
    s3_secret_key: SecretStr | None = declare_key(
        None, "Its secret key; better in ESIGN_BACKUP__S3_SECRET_KEY_FILE."
    )
    sftp_key: LocalFile | None = declare_key(None, 'Private key for "sftp://", without a passphrase.')
    sftp_host_key: str | None = declare_key(
        None, 'Public key of that server, such as "ssh-ed25519 AAAA…"; no other is trusted.'
    )

    @model_validator(mode="after")
    def _require_what_the_target_needs(self) -> Self:
        if self.to is None:
            return self
        if self.passphrase is None and not self.recipients:
            raise ValueError(
                "backup.passphrase: not set; a passphrase, or public keys in backup.recipients, are needed because"
                " backup.to is set"
            )
        needed = {"s3": ("s3_access_key", "s3_secret_key"), "sftp": ("sftp_key", "sftp_host_key")}
        for name in needed.get(self.to.kind, ()):
            if getattr(self, name) is None:
                raise ValueError(
                    f"backup.{name}: not set; it is needed because backup.to begins with {self.to.kind}://"
                )
        if self.s3_endpoint is not None and (
            self.s3_endpoint.login is not None or urlsplit(self.s3_endpoint.url).path not in ("", "/")
        ):
            raise ValueError(
                "backup.s3_endpoint: found an address with a path or a password; allowed is one such as"
                " https://s3.example.com, with the keys in backup.s3_access_key and backup.s3_secret_key"
            )
        return self

    @model_validator(mode="after")
    def _require_long_passphrase(self) -> Self:
        if self.passphrase is not None and len(self.passphrase.get_secret_value()) < LEAST_PASSPHRASE:
            raise ValueError(
                f"backup.passphrase: found a short one; allowed is a text of {LEAST_PASSPHRASE} or more characters"
            )
        return self

    @property
    def secret(self) -> str | None:
        """Return the passphrase itself, or None."""
        return self.passphrase.get_secret_value() if self.passphrase else None

    @property
    def s3_secret(self) -> str | None:
        """Return the secret key of the storage itself, or None."""
        return self.s3_secret_key.get_secret_value() if self.s3_secret_key else None


class WebhookSettings(Table):
    """Where webhooks may go besides public https addresses."""

    allow_hosts: tuple[Host, ...] = declare_key(
        (), "Names or addresses that may be private and plain http.", strict=False
    )
    allow_private: bool = declare_key(
        False, "Allow every private and loopback target, plain http too, also for live keys."
    )
    attempts_at_once: int = declare_key(4, "Deliveries to one webhook at the same time.", ge=1, le=64)


class ReminderSettings(Table):
    """When those who have not finished are reminded, unless the document says otherwise."""

    enabled: bool = declare_key(True, "Whether reminders are sent.")
    first_after_days: int = declare_key(3, "Days from invitation to first reminder.", ge=1, le=90)
    every_days: int = declare_key(4, "Days between reminders.", ge=1, le=90)
    max: int = declare_key(5, "Most reminders per recipient.", ge=0, le=10)
    before_expiry_hours: int = declare_key(24, "One more before expiry; 0 for none.", ge=0, le=720)


class ExpirySettings(Table):
    """How long a document waits for its recipients, unless it says otherwise."""

    days: int = declare_key(30, "Days from sending to expiry.", ge=1, le=365)


class TestSettings(Table):
    """Test mode, in which nothing has legal effect."""

    mails: Literal["deliver", "members", "capture"] = declare_key(
        "deliver", 'Who gets its mails: everyone, only members ("members") or nobody ("capture").'
    )
    time_stamps: bool = declare_key(False, "Whether its seals get time stamps too, where the live ones do.")
    purge_after_days: int = declare_key(
        90, "Days after which a document that ended is deleted.", ge=1, le=3650
    )


class AuditSettings(Table):
    """Where the anchors of the audit trails go, which show outside of this server if trails are rewritten."""

    anchor_to: tuple[AnchorTarget, ...] = declare_key(
        (),
        'Folders, better elsewhere, and https addresses that get each anchor; "owners" mails it to them.',
        strict=False,
        max_length=10,
    )


class KeySettings(Table):
    """What becomes of API keys."""

    revoke_unused: bool = declare_key(
        False, "Revoke a key that nobody used for 365 days, after two notices by mail."
    )


class SigningSettings(Table):
    """How much is answered behind one signing link; an address may ask ten times that, pages count apart."""

    reads_per_minute: int = declare_key(120, "Reads with one link; 0: any number.", ge=0, le=100_000)
    writes_per_minute: int = declare_key(30, "Writes with one link; 0: any number.", ge=0, le=100_000)
    wrong_links_per_minute: int = declare_key(
        30,
        "Links from one address that nobody has, then none for 10 minutes; 0: any number.",
        ge=0,
        le=100_000,
    )


class LimitSettings(Table):
    """What one key, one organisation or one request may use."""

    requests_per_minute: int = declare_key(600, "Requests of one key.", ge=1, le=100_000)
    creates_per_minute: int = declare_key(0, "Of these, creating ones; 0: any number.", ge=0, le=100_000)
    sends_per_minute: int = declare_key(0, "Of these, sending ones; 0: any number.", ge=0, le=100_000)
    verifies_per_minute: int = declare_key(
        30, "Checking a PDF, also by one address; 0: any number.", ge=0, le=100_000
    )
    auth_failures_per_minute: int = declare_key(20, "Wrong keys from one address.", ge=1, le=100_000)
    emails_per_day: int = declare_key(2000, "Mails of one organisation in a day (UTC).", ge=1, le=10_000_000)
    documents_per_month: int = declare_key(
        0, "Live documents it sends in a month (UTC); 0: any number.", ge=0, le=10_000_000
    )
    file_mib: int = declare_key(25, "Size of one PDF in MiB.", ge=1, le=100)
    body_mib: int = declare_key(36, "Size of a request with a file: 4/3 of it, and 1.", ge=2, le=140)
    pages: int = declare_key(500, "Pages of one PDF.", ge=1, le=5000)
    recipients: int = declare_key(50, "Recipients of one document.", ge=1, le=500)
    fields: int = declare_key(500, "Fields of one document.", ge=1, le=10_000)
    webhooks: int = declare_key(20, "Webhooks of one organisation and mode.", ge=1, le=1000)
    templates: int = declare_key(1000, "Templates of one organisation and mode.", ge=1, le=100_000)
    api_keys: int = declare_key(50, "Active API keys of one organisation.", ge=1, le=10_000)
    idempotency_hours: int = declare_key(24, "Hours an Idempotency-Key is remembered.", ge=1, le=720)
    event_days: int = declare_key(
        30, "Days events and the logs of their deliveries are kept.", ge=10, le=3650
    )
    rotation_hours: int = declare_key(24, "Hours the previous secret of a webhook signs too.", ge=1, le=168)
    link_days: int = declare_key(30, "Days that a recipient's link still reads after the end.", ge=1, le=3650)
    attachment_mib: int = declare_key(
        5, "Size of a sealed PDF attached to mails; 0: always a link.", ge=0, le=25
    )
    download_seconds: int = declare_key(300, "Life of a download address in seconds.", ge=10, le=86_400)

    @model_validator(mode="after")
    def _require_fitting_body(self) -> Self:
        least = -(-self.file_mib * 4 // 3) + 1  # base64, and room for the rest of the request
        if self.body_mib < least:
            raise ValueError(
                f"limits.body_mib: found {self.body_mib}; allowed is {least} or more,"
                f" since a file of limits.file_mib = {self.file_mib} grows by a third on its way"
            )
        return self


class Config(BaseModel):
    """The whole configuration, one attribute for each table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: ServerSettings = Field(default_factory=ServerSettings)
    storage: StorageSettings = Field(default_factory=StorageSettings)
    mail: MailSettings = Field(default_factory=MailSettings)
    seal: SealSettings = Field(default_factory=SealSettings)
    organisation: OrganisationSettings = Field(default_factory=OrganisationSettings)
    metrics: MetricsSettings = Field(default_factory=MetricsSettings)
    backup: BackupSettings = Field(default_factory=BackupSettings)
    webhooks: WebhookSettings = Field(default_factory=WebhookSettings)
    reminders: ReminderSettings = Field(default_factory=ReminderSettings)
    expiry: ExpirySettings = Field(default_factory=ExpirySettings)
    test: TestSettings = Field(default_factory=TestSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    keys: KeySettings = Field(default_factory=KeySettings)
    signing: SigningSettings = Field(default_factory=SigningSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    _sources: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _file: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _require_backups_elsewhere(self) -> Self:
        target = self.backup.to
        if target is None or target.kind != "folder":
            return self
        if Path(target.path).resolve().is_relative_to(self.storage.data_dir.resolve()):
            raise ValueError(
                f"backup.to: found {target.text}, which lies in storage.data_dir; a folder elsewhere is needed, best"
                " on another disk"
            )
        return self

    def note_file(self, file: Path | None) -> None:
        """Remember the file that was read, if there is one."""
        self._file = file

    @property
    def file(self) -> Path | None:
        """Return the absolute path of the file that was read, or None without one."""
        return self._file

    def note_sources(self, sources: Mapping[str, str]) -> None:
        """Remember the file or variable that each key was read from."""
        self._sources = dict(sources)

    def find_source(self, key: str) -> str | None:
        """Return the name of the file or variable that sets a key, such as `mail.host`; None if none does.

        A configuration that was not read from a file names `esign.toml`.
        """
        table, name = key.split(".", 1)
        held: Table = getattr(self, table)
        field = next(field for field, alias in held.name_keys().items() if alias == name)
        return self._sources.get(key, "esign.toml") if field in held.model_fields_set else None

    @property
    def public_host(self) -> str:
        """Return the host of the base address, without port and brackets."""
        return urlsplit(self.server.base_url).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Return whether the base address can be reached from this machine alone."""
        return is_loopback(self.public_host)


TABLES: dict[str, type[Table]] = {
    name: field.annotation
    for name, field in Config.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Table)
}
