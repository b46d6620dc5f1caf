"""Lanes of the campaign: a host each, with one experiment after the other."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.storage.database.engine import transaction
from tests.crash.adapt import FINAL, bring_back
from tests.crash.checks import STUCK, Rows, Violation, rows_of, story, violations
from tests.crash.fault_points import CUTS, PAUSES, Hit
from tests.crash.rig_api import RigApi
from tests.crash.scenarios import Scenario
from tests.crash.simulated_host import write_world

# A worker that was hit last may still note its refusal.
SETTLES_S = 0.5
ANSWERS_WITHIN_S = 45.0
CANCEL_WITHIN_S = 5.0


@dataclass(frozen=True)
class Verdict:
    """What came of one experiment."""

    experiment: int
    scenario: str
    state: str
    lasted_s: float
    cancelled: bool
    wrong: Sequence[Violation]
    story: str


@dataclass
class Lane:
    """One host's turn after turn. *bound_s*: an experiment must be over by then."""

    host: str
    home: Path
    engine: Engine
    api: RigApi
    random: random.Random
    scenarios: Sequence[Scenario]
    cancels: float
    bound_s: float
    generation: int = 0
    scenario: Scenario | None = None
    experiment: int = 0
    began: float = 0.0
    ended: float = 0.0
    cancel_at: float = 0.0
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The host's name; another one after a host was left stuck."""
        return f"{self.host}-{self.generation}"

    @property
    def world(self) -> dict[str, Any]:
        """The host as it is."""
        world: dict[str, Any] = json.loads((self.home / f"{self.name}.json").read_text())
        return world

    def begin(self) -> None:
        """Submit the next experiment, on a host that is as new."""
        [scenario] = self.random.choices(self.scenarios, [each.weight for each in self.scenarios])
        with transaction(self.engine) as session:
            bring_back(session, self.name)
        write_world(self.home / f"{self.name}.json", *scenario.pieces(), **scenario.world)
        try:
            self.experiment = self.api.submit(scenario.spec(self.name))
        except OSError:
            # It may be stored all the same, and then runs on that host.
            self.generation += 1
            raise
        self.scenario = scenario
        self.began, self.ended, self.cancel_at = time.monotonic(), 0.0, 0.0
        if self.random.random() < self.cancels:
            self.cancel_at = self.began + self.random.uniform(0.0, CANCEL_WITHIN_S)

    def tick(self, hits: Sequence[Hit]) -> None:
        """Cancel where that is due; judge what is over."""
        if not self.scenario:
            return
        now = time.monotonic()
        if self.cancel_at and now >= self.cancel_at:
            self.api.cancel(self.experiment)
            self.cancel_at = 0.0
        if not self.ended and self._over():
            self.ended = now
        late = now - self.began > self.bound_s
        if (self.ended and now - self.ended >= SETTLES_S and self._settled(hits)) or late:
            self._judge(hits, late=late)

    def _over(self) -> bool:
        with transaction(self.engine) as session:
            states = session.scalars(
                text("select state from run where experiment_id = :e"), {"e": self.experiment}
            ).all()
            return set(states) <= set(FINAL)

    def _settled(self, hits: Sequence[Hit]) -> bool:
        """Whether every worker that was stopped or cut off has said what became of its step."""
        young = time.time() - ANSWERS_WITHIN_S
        awaited = [h for h in hits if h.moment in (*PAUSES, *CUTS) and h.at > young]
        if not awaited:
            return True
        with transaction(self.engine) as session:
            found = session.execute(
                text(
                    "select run_id, epoch, outcome from step_attempt"
                    " where outcome in ('started', 'lost')"
                    " and run_id in (select id from run where experiment_id = :e)"
                ),
                {"e": self.experiment},
            ).all()
        open_ends = {(run, epoch): outcome for run, epoch, outcome in found}
        return not any(_says_more(hit, open_ends.get((hit.run, hit.epoch))) for hit in awaited)

    def _judge(self, hits: Sequence[Hit], *, late: bool) -> None:
        assert self.scenario
        with transaction(self.engine) as session:
            rows = rows_of(session, self.experiment)
            wrong = self._wrong(session, rows, hits, late=late)
        over = self.ended or time.monotonic()
        asked = any("cancel requested" in event["text"] for event in rows.events)
        self.verdicts.append(
            Verdict(
                self.experiment,
                self.scenario.name,
                rows.experiment["state"],
                over - self.began,
                asked,
                wrong,
                story(rows, self.world) if wrong else "",
            )
        )
        if late or any(each.kind == STUCK for each in wrong):
            self._leave()
        self.scenario = None

    def _wrong(
        self, session: Session, rows: Rows, hits: Sequence[Hit], *, late: bool
    ) -> list[Violation]:
        assert self.scenario
        if late and not self.ended:
            state = rows.runs[0]["state"], rows.runs[0]["step"]
            return [Violation(STUCK, f"not over after {self.bound_s:.0f} s: {state}")]
        runs = {run["id"] for run in rows.runs}
        mine = [hit for hit in hits if hit.run in runs]
        return violations(session, rows, self.world, mine, whole=self.scenario.whole)

    def _leave(self) -> None:
        """Go on with another host: this one may stay as it is for ever."""
        self.api.cancel(self.experiment)
        self.generation += 1


def _says_more(hit: Hit, outcome: str | None) -> bool:
    """Whether the worker that was hit is yet to say what became of its step.

    A step that was stopped is booked as lost by who takes over, and then as refused by itself.
    """
    return outcome == "started" or (outcome == "lost" and hit.moment in PAUSES)
