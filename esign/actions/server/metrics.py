"""Gathers what `/metrics` tells: the counters of this run, and what a few short queries say of the queues.

No query goes through a table: waiting jobs are counted along the index of those that wait, and no further than `MOST`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509

from esign import __version__
from esign.actions.mail import mail_breaker
from esign.actions.server import anchor_targets, health, scheduled_backups
from esign.core.instant import Instant
from esign.runtime import Runtime
from esign.store.engine.connections import FILE
from esign.store.queue import deliveries, outbox, set_aside
from esign.store.queue.outbox import Backlog
from esign.store.server import anchors, patrol
from esign.system.disk import count_free_bytes
from esign.system.measures import DurationCounts, Measures
from esign.system.supervision import Heartbeat

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

MOST = 10_000  # waiting jobs of a kind that are counted
# What a counter counts stands there from the start as 0: Prometheus sees no increase from nothing to 1.
SEALS = ("made", "failed", "no_time_stamp")
MAILS = ("accepted", "kept", "postponed", "given_up", "unneeded")
DELIVERIES = ("delivered", "failed")
KINDS = ("seal", "mail", "webhook")
BREAKER_STATES = ("closed", "open", "half_open")
PATROLLED = ("contents", "seals")
BACKUPS = ("made", "failed")
ANCHORS = ("made", "failed", "delivered", "undelivered")
OTHER = "other"  # the route of what no route took


@dataclass(frozen=True, slots=True)
class Observation:
    """What was found at one scrape. Sizes are in bytes; `free` is None where the system does not tell."""

    now: Instant
    backlogs: Mapping[str, Backlog]
    late: Mapping[str, Instant | None]
    checks: Mapping[str, str]
    database: int
    log: int
    free: int | None
    certificate_ends: Mapping[str, float]
    workers: int
    lost: Mapping[str, int]
    damaged: int
    loops: Sequence[Heartbeat]
    standstills: int
    set_aside: Mapping[str, int]
    breakers: Mapping[str, str]
    last_patrol: Instant | None
    backup_since: Instant | None
    last_anchor: Instant | None
    anchor_late: int
    anchor_failing: int


async def observe(runtime: Runtime) -> Observation:
    """Return what the queues, the files and the certificates say now. Raises DatabaseError."""
    db, now = runtime.db, runtime.clock.now()
    backlogs = {kind: await outbox.measure_backlog(db, kind, MOST) for kind in ("seal", "mail")}
    backlogs["webhook"] = await deliveries.measure_backlog(db, MOST)
    late: dict[str, Instant | None] = {
        kind: await outbox.find_next_due(db, kind) for kind in ("seal", "mail")
    }
    late["webhook"] = await deliveries.find_next_due(db, 0)
    file = runtime.config.storage.data_dir / FILE
    try:
        free = count_free_bytes(file.parent)
    except OSError:
        free = None
    return Observation(
        now=now,
        backlogs=backlogs,
        late=late,
        checks=await health.check_health(runtime),
        database=measure_file(file),
        log=measure_file(file.with_name(f"{FILE}-wal")),
        free=free,
        certificate_ends=find_certificate_ends(runtime),
        workers=len(runtime.pdf.pids),
        lost=dict(runtime.pdf.lost),
        damaged=len(runtime.db.damage.entries()),
        loops=tuple(runtime.loops.beats.values()),
        standstills=runtime.loop_watch.standstills,
        set_aside=await set_aside.count(db),
        breakers={
            "smtp": await mail_breaker.find_state(runtime),
            "tsa": runtime.tsa.breaker,
        },
        last_patrol=state.finished_at if (state := await patrol.find(db)) else None,
        backup_since=await scheduled_backups.find_last(runtime),
        last_anchor=last[1] if (last := await anchors.find_last_time(db)) else None,
        anchor_late=await anchor_targets.measure_lateness(runtime),
        anchor_failing=len(await anchor_targets.list_failing(runtime)),
    )


def find_certificate_ends(runtime: Runtime) -> Mapping[str, float]:
    """Return the ends of the certificates that seal and of the one for HTTPS, in seconds since 1970."""
    ends = {
        f"seal_{mode.value}": x509.load_der_x509_certificate(
            credential.certificate_der
        ).not_valid_after_utc.timestamp()
        for mode, credential in runtime.credentials.items()
    }
    certificate = runtime.https.read_state().certificate if runtime.https else None
    return ends if certificate is None else {**ends, "https": certificate.ends_at / 1000}


def measure_file(path: Path) -> int:
    """Return the size of a file in bytes, 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def describe_metrics(measures: Measures, found: Observation, names: Mapping[int, str]) -> Iterable["Metric"]:
    """Return every metric. `names` has the path of each endpoint of the pages, by its identity."""
    yield from describe_counters(measures, names)
    yield from describe_queues(found)
    yield from describe_machine(found)
    yield from describe_loops(found)


def describe_counters(measures: Measures, names: Mapping[int, str]) -> Iterable["Metric"]:
    """Return what this run has counted."""
    from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, InfoMetricFamily

    yield InfoMetricFamily("esign", "The version that runs.", {"version": __version__})
    requests = HistogramMetricFamily(
        "esign_request_seconds",
        "Time to answer a request.",
        labels=("method", "route", "status"),
        unit="seconds",
    )
    merged: dict[tuple[str, str, str], list[DurationCounts]] = {}
    for (method, route, status), counts in measures.requests.by_route.items():
        name = route if isinstance(route, str) else names.get(route, OTHER)
        merged.setdefault((method, name, f"{status}xx" if status else "none"), []).append(counts)
    for labels, several in sorted(merged.items(), key=lambda item: item[0]):
        requests.add_metric(labels, *sum_durations(several))
    yield requests
    seals = HistogramMetricFamily("esign_seal_seconds", "Time to make and save a seal.", unit="seconds")
    seals.add_metric((), *sum_durations([measures.seal_durations]))
    yield seals
    for name, words, counted, results in (
        ("esign_seals", "Attempts to seal a document, by result.", measures.seals, SEALS),
        ("esign_mails", "Attempts to send a mail, by result.", measures.mails, MAILS),
        (
            "esign_webhook_attempts",
            "Attempts to deliver an event to a webhook, by result.",
            measures.deliveries,
            DELIVERIES,
        ),
        ("esign_patrol_read", "What the patrol has read again, by kind.", measures.patrolled, PATROLLED),
        ("esign_backups", "Scheduled backups, by result.", measures.backups, BACKUPS),
        (
            "esign_anchors",
            "Attempts to make an anchor of the audit trails and to deliver it, by result.",
            measures.anchors,
            ANCHORS,
        ),
    ):
        family = CounterMetricFamily(
            name, words, labels=("kind" if counted is measures.patrolled else "result",)
        )
        for result in results:
            family.add_metric((result,), counted[result])
        yield family


def sum_durations(several: list[DurationCounts]) -> tuple[list[tuple[str, float]], float]:
    """Return the cumulative buckets of a histogram, and the sum of all durations."""
    bounds = (*(f"{bound:g}" for bound in several[0].bounds), "+Inf")
    total, buckets = 0, []
    for bound, numbers in zip(bounds, zip(*(each.counts for each in several), strict=True), strict=True):
        total += sum(numbers)
        buckets.append((bound, float(total)))
    return buckets, sum(each.sum for each in several)


def describe_queues(found: Observation) -> Iterable["Metric"]:
    """Return what waits, for how long, and whether it is worked in time."""
    from prometheus_client.metrics_core import GaugeMetricFamily

    length = GaugeMetricFamily("esign_queue_jobs", f"Jobs that wait, at most {MOST}.", labels=("kind",))
    age = GaugeMetricFamily(
        "esign_queue_oldest_seconds", "Age of the oldest job that waits.", labels=("kind",), unit="seconds"
    )
    late = GaugeMetricFamily(
        "esign_queue_late_seconds", "How long the next job has been due.", labels=("kind",), unit="seconds"
    )
    for kind, backlog in found.backlogs.items():
        length.add_metric((kind,), backlog.count)
        age.add_metric((kind,), measure_age(found.now, backlog.oldest))
        late.add_metric((kind,), measure_age(found.now, found.late[kind]))
    yield from (length, age, late)
    yield GaugeMetricFamily(
        "esign_unsealed_oldest_seconds",
        "How long the document waits that has waited longest for its seal.",
        measure_age(found.now, found.backlogs["seal"].oldest),
        unit="seconds",
    )
    checks = GaugeMetricFamily(
        "esign_check_ok", "Whether a check of /readyz passes: 1 or 0.", labels=("check",)
    )
    for name, state in found.checks.items():
        checks.add_metric((name,), float(state == "ok"))
    yield checks


def describe_loops(found: Observation) -> Iterable["Metric"]:
    """Return how the background loops are, which jobs are set aside, and which servers are left alone."""
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

    restarts = CounterMetricFamily(
        "esign_loop_restarts", "Times that a background loop ended and was started again.", labels=("loop",)
    )
    hangs = CounterMetricFamily(
        "esign_loop_hangs", "Times that a background loop or one of its jobs hung.", labels=("loop",)
    )
    overdue = GaugeMetricFamily(
        "esign_loop_hung", "Whether a background loop hangs now: 1 or 0.", labels=("loop",)
    )
    for each in found.loops:
        restarts.add_metric((each.name,), each.restarts)
        hangs.add_metric((each.name,), each.hangs)
        overdue.add_metric((each.name,), float(each.hung_since is not None))
    yield from (restarts, hangs, overdue)
    yield CounterMetricFamily(
        "esign_event_loop_standstills",
        "Times that the event loop stood still for ten seconds.",
        found.standstills,
    )
    aside = GaugeMetricFamily(
        "esign_jobs_set_aside", "Jobs that are not tried again by themselves.", labels=("kind",)
    )
    for kind in KINDS:
        aside.add_metric((kind,), found.set_aside.get(kind, 0))
    yield aside
    breakers = GaugeMetricFamily(
        "esign_breaker_state",
        "1 for the state of the circuit breaker of a server.",
        labels=("server", "state"),
    )
    for server, present in found.breakers.items():
        for state in BREAKER_STATES:
            breakers.add_metric((server, state), float(state == present))
    yield breakers


def measure_age(now: Instant, since: Instant | None) -> float:
    """Return the seconds since a time that has passed, 0 for one that has not, and for None."""
    return 0.0 if since is None else max(0, now - since) / 1000


def describe_machine(found: Observation) -> Iterable["Metric"]:
    """Return the sizes of files, the life of certificates, and what became of the PDF workers."""
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

    sizes = (
        ("esign_database_bytes", "Size of the database.", found.database),
        ("esign_database_log_bytes", "Size of the write-ahead log of the database.", found.log),
        ("esign_disk_free_bytes", "Bytes of the disk that esign can still write.", found.free),
    )
    for name, words, size in sizes:
        if size is not None:
            yield GaugeMetricFamily(name, words, size, unit="bytes")
    yield GaugeMetricFamily(
        "esign_damaged_rows", "Rows and contents that were found damaged since the start.", found.damaged
    )
    if found.backup_since is not None:
        yield GaugeMetricFamily(
            "esign_backup_age_seconds",
            "Age of the last good scheduled backup; before the first one, time since they are set up.",
            measure_age(found.now, found.backup_since),
            unit="seconds",
        )
    yield GaugeMetricFamily(
        "esign_patrol_last_pass_timestamp_seconds",
        "When the patrol had last read every stored file, in seconds since 1970; 0 before the first time.",
        (found.last_patrol or 0) / 1000,
        unit="seconds",
    )
    yield GaugeMetricFamily(
        "esign_anchor_last_timestamp_seconds",
        "When the newest anchor of the audit trails was made, in seconds since 1970; 0 before the first one.",
        (found.last_anchor or 0) / 1000,
        unit="seconds",
    )
    yield GaugeMetricFamily(
        "esign_anchor_late_seconds",
        "How long the next anchor of the audit trails has been due.",
        found.anchor_late / 1000,
        unit="seconds",
    )
    yield GaugeMetricFamily(
        "esign_anchor_targets_failing",
        "Targets of audit.anchor_to that did not take the last anchor.",
        found.anchor_failing,
    )
    left = GaugeMetricFamily(
        "esign_certificate_left_seconds",
        "Time until a certificate ends.",
        labels=("certificate",),
        unit="seconds",
    )
    for name, ends in found.certificate_ends.items():
        left.add_metric((name,), ends - found.now / 1000)
    yield left
    yield GaugeMetricFamily("esign_pdf_workers", "PDF workers that live.", found.workers)
    lost = CounterMetricFamily(
        "esign_pdf_workers_lost",
        "PDF workers that were killed or ended during a job, by job.",
        labels=("job",),
    )
    for job, number in sorted(found.lost.items()):
        lost.add_metric((job,), number)
    yield lost
