"""What operations run by exact counts, worked out once and stored as pages show it.

Apart from the step that stores a boot's counts: that takes seconds, and the step's transaction
holds the run. What makes a stored operation wrong is seen here as well: another boot's counts, a
boot that no longer counts, other files of events, another form, and what is missing after an
import or an upgrade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Engine

from mitigauge.analysis.profiles.exact import operation_repository
from mitigauge.analysis.profiles.exact.repository import CaseInArm
from mitigauge.analysis.profiles.exact.stored_counts import computed, store_operation
from mitigauge.analysis.profiles.exact.stored_operation import events_digest, form
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.modes.families import HardwareEvent
from mitigauge.storage.database.engine import advisory_lock, in_words, is_away, transaction
from mitigauge.storage.database.locks import Lock

log = get_logger(__name__)

Events = Mapping[str, HardwareEvent]


def store_operations_quietly(
    engine: Engine, events: Events, *, stopping: Callable[[], bool]
) -> None:
    """The same as :func:`store_operations` for a worker: pages compute what is not stored.

    Raises nothing: what was not done is done at the next call.
    """
    try:
        store_operations(engine, events, stopping=stopping)
    except Exception as error:
        if is_away(error):
            log.warning("database away, exact counts wait", error=in_words(error))
            return
        log.exception("exact counts not stored as they are shown")


def store_operations(
    engine: Engine, events: Events, *, stopping: Callable[[], bool] = lambda: False
) -> int:
    """Store all operations that are not stored as they are now; how many there were.

    None are while another worker does so. It ends early once *stopping* says so.
    """
    with advisory_lock(engine, Lock.EXACT_OPERATIONS) as alone:
        if not alone:
            return 0
        with transaction(engine) as session:
            waiting = operation_repository.not_stored(session, form(), events_digest(events))
        for done, (of, counts) in enumerate(waiting):
            if stopping():
                return done
            _store(engine, of, counts, events)
    return len(waiting)


def _store(engine: Engine, of: CaseInArm, counts: Sequence[int], events: Events) -> None:
    """One of them. What cannot be worked out is noted, and not tried again."""
    try:
        with transaction(engine) as session:
            made_of = computed(session, counts)
        # Takes a second, so no transaction is open meanwhile.
        made_of.bill(events)
        with transaction(engine) as session:
            store_operation(session, of, counts, made_of, events)
    except Exception as error:
        if is_away(error):
            raise
        log.exception("no operation of exact counts", **of._asdict())
        with transaction(engine) as session:
            store_operation(session, of, counts, None, events)
