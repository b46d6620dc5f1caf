"""Waits that are right for real hosts and would only make a test of simulated ones long."""

from __future__ import annotations

from importlib import import_module

# (module, name, seconds): each must exist, so that the list stays true.
SHORT = (
    ("pipelines.steps.boot", "GOING_DOWN_S", 0.0),
    ("pipelines.steps.boot", "ANSWER_WAIT_S", 1.5),
    ("pipelines.steps.boot", "WATCH_S", 1.0),
    ("pipelines.steps.boot", "WATCH_INTERVAL_S", 0.1),
    ("pipelines.steps.context", "FAULT_RETRY_S", 0.2),
    ("pipelines.steps.context", "LONGEST_RETRY_S", 1.0),
    ("pipelines.steps.context", "AWAY_RETRY_S", 0.5),
    ("pipelines.steps.context", "SILENCE_LIMIT_S", 2.0),
    ("pipelines.steps.context", "SILENCE_RETRY_S", 0.2),
    ("pipelines.steps.context", "INTERRUPTED_RETRY_S", 0.1),
    ("mitigauge.storage.database.engine", "SILENCE_MARGIN_S", 1.0),
    ("mitigauge.measurement.fleet.absence_repository", "FIRST_PROBE_S", 1.0),
    ("mitigauge.measurement.fleet.absence_repository", "LAST_PROBE_S", 4.0),
    ("pipelines.lease", "RENEWAL_LIMIT_S", 2.0),
    ("pipelines.worker", "TROUBLE_RETRY_S", 1.0),
    ("pipelines.advance", "HOST_BUSY_RETRY_S", 0.5),
    ("pipelines.advance", "TURN_RETRY_S", 0.3),
    ("pipelines.insist", "DATABASE_RETRY_S", 0.2),
    ("pipelines.lease", "ASK_AGAIN_S", 0.2),
    ("pipelines.worker", "RECONCILE_S", 0.3),
    ("pipelines.worker", "WAKE_GRACE_S", 0.3),
    ("pipelines.worker", "RESTART_S", 0.5),
    ("pipelines.worker", "STALLED_S", 10.0),
    ("pipelines.worker", "SHORT_PAUSE_S", 1.0),
)


def hurry() -> None:
    """Shorten them all in this process."""
    for module_name, name, seconds in SHORT:
        module = import_module(module_name)
        if not hasattr(module, name):
            raise AttributeError(
                f"{module_name} has no {name}: correct or drop its line in {__name__}"
            )
        setattr(module, name, seconds)
