"""Telling subscribers: what happened is made into digests, and these are sent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from mitigauge.core.settings import Settings
from mitigauge.reporting.subscriptions import digest_service
from pipelines.digest_post import DigestPost
from pipelines.jobs.context import JobContext, JobDone, StandingRunner

# How often it is looked whether something happened.
LOOK_S = 15.0
# Digests that are sent side by side, so that a receiver that hangs holds up few others, and how
# many of them one step sends in each lane.
LANES, EACH = 4, 5


@dataclass(frozen=True)
class DigestsRunner(StandingRunner):
    """Makes digests and sends them; a step is over within a minute or two."""

    settings: Settings

    def go_on(self, context: JobContext) -> JobDone:
        """All digests that are due, and some of those that wait."""
        with context.transaction() as session:
            made = digest_service.make_digests(session)
            digest_service.forget_old(session)
        sent = self._send(context)
        more = sent == LANES * EACH
        return JobDone(again_in_s=0.0 if more else LOOK_S, idle=not made and not sent)

    def _send(self, context: JobContext) -> int:
        sender = DigestPost(context.engine, self.settings)

        def lane() -> int:
            return _count(sender.send_next, lambda: bool(context.why_to_stop()))

        with ThreadPoolExecutor(LANES, "digests") as threads:
            # Each acts as the worker does: what it does is recorded under that name.
            lanes = [threads.submit(copy_context().run, lane) for _ in range(LANES)]
            return sum(each.result() for each in lanes)


def _count(send_next: Callable[[], bool], stops: Callable[[], bool]) -> int:
    sent = 0
    while sent < EACH and not stops() and send_next():
        sent += 1
    return sent
