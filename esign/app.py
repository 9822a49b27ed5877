"""Assemble the program: open every tool of the runtime, and build the HTTP application in front of them.

This is the only module that wires the floors together.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from esign import __version__, authority
from esign.actions.base import usage
from esign.actions.mail.mailer import CurrentMailer
from esign.actions.people import accounts, one_time_links
from esign.actions.server import browser_settings, clock_watch, seal_certificates
from esign.actions.verification import verify_trails
from esign.config import Config, ConfigError, MetricsSettings
from esign.core.errors import Problem
from esign.core.people.user import Errand
from esign.core.sentence import say
from esign.https import HttpsCertificates
from esign.net import DirectClient, OutboundClient, TargetRules
from esign.pdf.seal_order import SealFailed
from esign.pdf.signer.seal_signer import SealSigner
from esign.pdf.worker.workers import Workers
from esign.runtime import Runtime
from esign.store.engine import folder, inspection
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.locks import server_lock
from esign.store.server import installation, tsa_answers
from esign.system import app_key, confinement, memory, own_secrets
from esign.system.bell import Bell
from esign.system.clock import Clock, SystemClock
from esign.system.disk import RESERVE, DiskRoom
from esign.system.entropy import make_id
from esign.system.file_cache import FileCache
from esign.system.privileges import become_user
from esign.system.service_manager import ServiceManager
from esign.system.supervision import Supervisor
from esign.tsa import TimeStampClient
from esign.web import health
from esign.web.http import errors
from esign.web.http.late_app import LateApp
from esign.web.http.listeners import Listeners, open_listeners
from esign.web.http.origin import Proxies, is_set_up_path
from esign.web.http.plain_http import PlainHttp, is_challenge
from esign.web.http.ratelimit import UPLOADS_PER_ORGANISATION, UPLOADS_SPARE, Uploads
from esign.web.http.request_guard import UNASKED, Guard
from esign.web.http.server import Front, RunningServer, catch_signals, run_server, run_server_on
from esign.web.rest import V1

if TYPE_CHECKING:
    from esign.web.metrics import MetricsApp
    from esign.web.rest.pipeline import Api
    from esign.web.signing.throttle import LinkThrottle

METRICS = "/metrics"
PLAIN_CONNECTIONS = 200  # beside https, plain http only leads there and answers authorities
LISTENER_ENDED = 1  # the exit code
LISTENER_SECONDS = 2  # at the end, for requests to a listener that has only short ones
KEY_SECONDS = 20.0  # for which the file of a seal key is waited for
PICTURES = "pictures"  # the folder in the data folder

log = logging.getLogger("esign")

BELOW_V1 = f"{V1}/"


@asynccontextmanager
async def open_runtime(config: Config, clock: Clock | None = None) -> AsyncIterator[Runtime]:
    """Open every tool of the program in order, yield the runtime, and close the tools in reverse order.

    The organisation of the configuration exists when the runtime is yielded. `config` is what the file and the
    environment say; the runtime adds what owners set in the browser.

    Raises folder.UnusableFolder, locks.AlreadyServed, vault.UnusableKey, migrate.UnfitSchema, ConfigError,
    migration_copy.CopyFailed, inspection.DamagedDatabase, authority.AuthorityError.
    """
    data = folder.prepare(config.storage.data_dir)
    async with AsyncExitStack() as stack:
        stack.enter_context(server_lock(data))
        source = make_key_source(config)
        app_key.forget_leftovers(source)
        safe = app_key.open_vault(source)
        await asyncio.to_thread(inspection.check_at_start, data / FILE)
        room = DiskRoom(data, spare := config.storage.spare_mib * 2**20, min(RESERVE, spare // 4))
        # Before the database opens: on a full disk the start may need the reserve.
        await asyncio.to_thread(room.check_room)
        db = await stack.enter_async_context(
            open_for_command(data / FILE, config.storage.backup_before_migration)
        )
        # The key file is read again if an exchange of the key ended since: a migration takes minutes.
        safe = await installation.confirm_key(db, safe, lambda: app_key.open_vault(source))
        if safe.is_exchanging:
            log.warning("an exchange of the application key is under way; end it with: esign keys rotate-app")
        db.on_full = room.release
        loops = Supervisor()
        loops.adopt(db.heartbeat)
        stack.push_async_callback(loops.stop)
        if completed := await verify_trails.complete_heads(db, safe):
            log.info("%s audit trails of an older version now have a protected end", completed)
        guarded = await clock_watch.open_clock(db, clock or SystemClock())
        now = guarded.now()
        await accounts.check_name(db, config)  # before any certificate is issued in this name
        keyring = authority.Keyring(
            data,
            config.organisation.name,
            guarded.read_settled_time(),
            authority.find_configured_seal(config.seal),
        )
        seal_certificates.log_notices(keyring.authority)
        trusted = authority.read_trusted_roots(config.seal.trust)
        await accounts.ensure_organisation(db, config, now)
        settings = await browser_settings.load(db, safe, config)
        pdf = Workers(
            signer=SealSigner(partial(read_seal_key, keyring)),
            font_paths=[str(path) for path in config.seal.font_paths],
        )
        stack.push_async_callback(pdf.close)
        http = OutboundClient(lambda: make_webhook_rules(settings.config), guarded)
        stack.push_async_callback(http.close)
        direct = DirectClient()
        stack.push_async_callback(direct.close)
        tsa = TimeStampClient(config.seal.tsa_urls, direct, guarded)
        tsa.remember_states(await tsa_answers.find_asked(db))
        post = CurrentMailer(settings, db, safe, guarded)
        stack.push_async_callback(post.close)
        bell = Bell()
        db.on_work = bell.ring
        https = None
        if config.server.https != "off":
            https = HttpsCertificates(config.server, data, guarded.now())
            stack.callback(https.close)
        yield Runtime(
            settings=settings,
            clock=guarded,
            db=db,
            vault=safe,
            pdf=pdf,
            mail=post,
            http=http,
            direct=direct,
            tsa=tsa,
            keyring=keyring,
            credentials=keyring.credentials,
            bell=bell,
            boot=make_id("boot", now),
            room=room,
            pictures=FileCache(
                data / PICTURES, config.storage.picture_cache_mib * 2**20, lambda: not room.is_short()
            ),
            trusted=trusted,
            https=https,
            loops=loops,
        )


async def read_seal_key(keyring: authority.Keyring, certificate_der: bytes) -> bytes:
    """Return the key of a seal certificate in use, for the process that signs. Raises `SealFailed`."""
    try:
        async with asyncio.timeout(KEY_SECONDS):
            return await keyring.run(keyring.read_key, certificate_der)
    except TimeoutError as error:
        raise SealFailed(say(authority.HANGS)) from error
    except authority.AuthorityError as error:
        raise SealFailed(error.sentence) from error
    except OSError as error:
        raise SealFailed(say("The file of the seal key cannot be read: {why}", why=str(error))) from error


def make_key_source(config: Config) -> app_key.KeySource:
    """Return where the application key is, with the passphrase of the settings, which the configuration forgets."""
    storage = config.storage
    return app_key.KeySource(
        storage.data_dir / FILE, storage.key_file, storage.take_key_passphrase(), os.environ
    )


def make_webhook_rules(config: Config) -> TargetRules:
    """Return the rules for the addresses to which this installation may deliver webhooks."""
    return TargetRules(
        allow_hosts=config.webhooks.allow_hosts,
        allow_private=config.webhooks.allow_private,
        loopback_allowed=config.is_loopback,
    )


class App:
    """The HTTP application: a guard in front of the API for programs and the pages for people.

    The probes answer at once. The API and the pages are imported and built by `load`, or by their first request.
    `plain` is the application of port 80 where this one is served by https.
    """

    def __init__(self, runtime: Runtime) -> None:
        proxies = Proxies(runtime.config.server.trusted_proxies, runtime.unknown_proxies)
        body = runtime.config.limits.body_mib * 2**20
        self.front = Front(proxies=proxies, message_bytes=2 * body)
        self._runtime = runtime
        self._uploads = Uploads(per_group=UPLOADS_PER_ORGANISATION, spare=UPLOADS_SPARE)
        self._alive = health.Liveness()
        self._probes = Starlette(
            routes=[*self._alive.routes, *health.routes],
            exception_handlers=errors.make_exception_handlers(refuse_request),
        )
        self._routes: list[BaseRoute] = []  # of the pages, once they are built
        self.metrics = self._find_metrics()
        self._probes.state.runtime = runtime
        self._probes.router.redirect_slashes = False
        self._api = LateApp(self._build_api)
        self._for_people = LateApp(self._build_pages)
        self._door = Guard(
            self._dispatch,
            is_own_host=self._is_own_host,
            clock=runtime.clock,
            proxies=proxies,
            refuse=refuse_request,
            durations=runtime.measures.requests if runtime.config.metrics.is_on else None,
        )
        self.plain = Guard(
            self._build_plain(),
            is_own_host=lambda host, path: is_challenge(path) or runtime.settings.is_own_host(host),
            clock=runtime.clock,
            proxies=proxies,
            refuse=refuse_request,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._door(scope, receive, send)

    def _find_metrics(self) -> "MetricsApp | None":
        """Return what answers `/metrics`, if the settings ask for it."""
        if not self._runtime.config.metrics.is_on:
            return None
        from esign.web.metrics import MetricsApp

        return MetricsApp(self._runtime, lambda: [*self._probes.routes, *self._routes])

    def _is_own_host(self, host: str, path: str) -> bool:
        """Return whether a request to this host name is for this installation.

        While nothing says at which address it is known, the page that sets up the first owner opens at any: whoever
        has its link has come by an address that leads here.
        """
        settings = self._runtime.settings
        return settings.is_own_host(host) or (settings.is_address_unset and is_set_up_path(path))

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request below `/v1` to the API, that of a probe to the probes, and any other to the pages.

        Without a port of their own, the metrics are a page too.
        """
        path = scope["path"]
        if path.startswith(BELOW_V1) or path == V1:
            await self._api(scope, receive, send)
        elif self._alive.answers(scope):
            await self._alive(scope, receive, send)
        elif path in UNASKED:
            await self._probes(scope, receive, send)
        elif path == METRICS and self.metrics is not None and not self._runtime.config.metrics.port:
            await self.metrics(scope, receive, send)
        else:
            await self._for_people(scope, receive, send)

    def _build_plain(self) -> PlainHttp:
        """Return what is served on port 80 where the program speaks https."""
        runtime, https = self._runtime, self._runtime.https

        def find_obstacle() -> str | None:
            """Return why nothing is served by https yet, or None."""
            state = https.read_state() if https else None
            if state is None or state.certificate is not None:
                return None
            return state.problem.sentence if state.problem else ""

        return PlainHttp(
            proofs=https.proofs if https else {},
            probes=self._probes,
            read_base_url=lambda: runtime.config.server.base_url,
            find_obstacle=find_obstacle,
        )

    def _build_api(self) -> "Api":
        """Return the API. Its import takes a tenth of a second."""
        from esign.web.api.endpoint_table import ENDPOINTS
        from esign.web.rest.pipeline import Api

        return Api(self._runtime, ENDPOINTS, self._uploads)

    def _build_pages(self) -> "LinkThrottle":
        """Return the pages for people. Their import takes a tenth of a second."""
        from esign.web.signing.throttle import LinkThrottle

        runtime = self._runtime
        self._routes = make_page_routes(runtime, self._uploads)
        app = Starlette(
            routes=self._routes,
            exception_handlers=errors.make_exception_handlers(refuse_request),
        )
        app.state.runtime = runtime
        app.router.redirect_slashes = False
        return LinkThrottle(app, runtime.clock, runtime.config.signing, refuse_request)

    async def load(self) -> None:
        """Import and build what no request has asked for yet, so that no request has to wait for it later."""
        await self._api.load()
        await self._for_people.load()

    async def settle(self) -> None:
        """Wait for every API effect that has begun, then write the request counts that are still in memory."""
        if self._api.built is not None:
            await self._api.built.settle()
        await usage.flush(self._runtime)


def make_page_routes(runtime: Runtime, uploads: Uploads) -> list[BaseRoute]:
    """Return the routes of all pages for people, and of what these load."""
    from esign.web import authority_certificates, downloads, logos, reference, signing
    from esign.web.office import routes as office
    from esign.web.pages import Pages
    from esign.web.signing.words import WordLibrary

    pages = Pages.load()
    return [
        *signing.make_routes(pages, WordLibrary.load()),
        *authority_certificates.build_routes(runtime),
        *office.make_routes(runtime, pages, uploads),
        *reference.build_routes(runtime, pages),
        *downloads.routes,
        *logos.routes,
        pages.assets.route(),
    ]


def refuse_request(scope: Scope, problem: Problem) -> Response:
    """Return the response to a request that fails. The first loads the templates, in some 20 ms."""
    from esign.web.error_pages import ErrorPages

    return ErrorPages.load()(scope, problem)


@asynccontextmanager
async def run_program(
    config: Config, clock: Clock | None = None, listeners: Listeners | None = None
) -> AsyncIterator[tuple[Runtime, RunningServer]]:
    """Run the whole program, HTTP server and jobs, until the block ends.

    The server listens before the jobs and most of the pages are imported. It ends before the jobs. `listeners` are
    its sockets if they are open already.
    """
    async with open_runtime(config, clock) as runtime:
        app = App(runtime)
        sockets = listeners or open_listeners(config.server)
        tls = runtime.https.tls if runtime.https else None
        try:
            async with (
                AsyncExitStack() as jobs,
                run_plain(app, sockets) as plain,
                run_server_on(sockets.server, app, app.front, tls) as http,
            ):
                metrics = None
                schedule = await asyncio.to_thread(import_module, "esign.jobs.schedule")
                await jobs.enter_async_context(schedule.run_jobs(runtime))
                if app.metrics is not None and config.metrics.port:
                    metrics = await jobs.enter_async_context(serve_metrics(app.metrics, config.metrics))
                await app.load()
                yield runtime, replace(http, any_ended=watch_servers(runtime, (http, plain, metrics)))
        finally:
            await app.settle()


@asynccontextmanager
async def serve_metrics(app: "MetricsApp", settings: MetricsSettings) -> AsyncIterator[RunningServer]:
    """Serve the metrics on their own port until the block ends. Raise ConfigError if it cannot be had."""
    try:
        front = Front(shutdown=LISTENER_SECONDS)
        async with run_server(app, settings.host, settings.port, front) as server:
            log.info("the metrics are at http://%s:%s%s", settings.host, settings.port, METRICS)
            yield server
    except OSError as error:
        raise ConfigError(f"{error.strerror}; set metrics.port to a free one") from error


@asynccontextmanager
async def run_plain(app: App, listeners: Listeners) -> AsyncIterator[RunningServer | None]:
    """Serve plain http beside https inside the context, if there is a socket for it."""
    if listeners.plain is None:
        yield None
        return
    front = replace(app.front, connections=PLAIN_CONNECTIONS, shutdown=LISTENER_SECONDS)
    async with run_server_on(listeners.plain, app.plain, front) as server:
        yield server


def watch_servers(runtime: Runtime, servers: Sequence[RunningServer | None]) -> asyncio.Future[None]:
    """Return a future that finishes when one of the servers ends, and watch their heartbeats."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def note_end(_: object) -> None:
        if not ended.done():
            ended.set_result(None)

    for server in servers:
        if server is not None:
            server.ended.add_done_callback(note_end)
            if server.heartbeat is not None:
                runtime.loops.adopt(server.heartbeat)
    return ended


async def serve(config: Config) -> None:
    """Serve until a signal asks to stop. Raises StorageFailed when the database can no longer write.

    Started as root with [server] user, the program opens its ports and becomes that user before it reads any data.
    """
    manager, listeners, server = ServiceManager(), None, config.server
    own_secrets.hide_own_secrets()
    with ExitStack() as stack:
        if server.user is not None:
            listeners = open_listeners(server)
            stack.callback(listeners.close)
            become_user(server.user, config.storage.data_dir)
            confinement.hide_memory()  # another user has a memory that can be seen again
        config = ask_for_passphrase(config)  # before signals are caught, so that Ctrl-C ends the question
        asked = stack.enter_context(catch_signals())
        async with (
            manager.extend_start(),
            run_program(config, listeners=listeners) as (runtime, http),
            runtime.loop_watch.run(),
            manager.announce(f"serving {server.base_url}"),
        ):
            memory.resume_collection()
            announce_start(runtime)
            await invite_owner(runtime)
            stop = asyncio.create_task(asked.wait())
            done, _ = await asyncio.wait(
                (stop, http.any_ended or http.ended, runtime.db.failed), return_when=asyncio.FIRST_COMPLETED
            )
            stop.cancel()
            if runtime.db.failed in done:
                runtime.db.failed.result()
            if stop not in done:  # whoever started the program starts it again
                log.critical("a listener of esign ended by itself, so esign stops")
                sys.exit(LISTENER_ENDED)


def ask_for_passphrase(config: Config) -> Config:
    """Return the configuration with the passphrase that is typed, if the key is protected and none is set.

    Raise vault.UnusableKey without a terminal, or after three wrong ones.
    """
    storage = config.storage
    source = app_key.KeySource(storage.data_dir / FILE, storage.key_file, None, os.environ, may_ask=True)
    if storage.key_passphrase is not None or not app_key.is_key_protected(source):
        return config
    typed = SecretStr(app_key.find_passphrase(source, source.path.read_bytes()))
    return config.model_copy(update={"storage": storage.model_copy(update={"key_passphrase": typed})})


async def invite_owner(runtime: Runtime) -> None:
    """Give out the link that sets up the first owner, unless an owner exists.

    The link goes to the terminal if there is one, otherwise to a file in the data folder. It grants ownership,
    so it never goes to the log, which other people collect and read.
    """
    data = runtime.config.storage.data_dir
    try:
        token = await one_time_links.issue_setup_token(runtime.db, runtime.clock.now())
        one_time_links.forget_setup_link(data)
    except (Problem, OSError):
        log.warning(
            "the link for the first owner can't be stored; free some disk space and start esign again"
        )
        return
    if token is None:
        return
    address = one_time_links.make_link(runtime.config.server.base_url, Errand.SETUP, token)
    if sys.stderr.isatty():
        sys.stderr.write(f"To set up esign, open this link within 30 minutes:\n{address}\n")
        sys.stderr.flush()
        return
    try:
        place = one_time_links.keep_setup_link(data, address)
    except OSError as error:
        log.warning("the link for the first owner can't be written to %s: %s", data, error.strerror)
        return
    log.info("to set up esign, open the link in %s within 30 minutes", place)


def announce_start(runtime: Runtime) -> None:
    """Log the address, the data folder and the settings that the person at the console needs first."""
    config = runtime.config
    server = config.server
    log.info(
        "esign %s is running at %s, with its data in %s",
        __version__,
        server.base_url,
        config.storage.data_dir,
    )
    if server.base_url != f"http://{server.host}:{server.port}":
        log.info("it listens on %s, port %s", server.host, server.port)
    if config.mail.host is None:
        log.info("no mail server is set, so emails stay here; read them with: esign outbox")
