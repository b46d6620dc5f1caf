"""The campaign: many small experiments, faults at every step and moment, and what came of it.

Usage: python -m tests.crash.campaign [--faults N] [--seed K] [--seconds S] [--workers 2]
       [--kind kill,pause,cut,silence,cancel|outage|all] [--hosts all|kind|hostile]

Ends with a table; its exit code is 1 if anything was lost, twice, stuck, or not explained.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from alembic import command
from sqlalchemy import make_url

from mitigauge.storage.database.embedded_server import ensure_running, stop
from mitigauge.storage.database.engine import alembic_config, new_engine
from tests.crash.checks import KINDS as WRONGS
from tests.crash.lanes import Lane, Verdict
from tests.crash.outage import OUTAGE_EVERY_S, Outages
from tests.crash.proxy import Proxy
from tests.crash.rig_api import RigApi, start_api
from tests.crash.scenarios import EVERY, HOSTILE, KIND, Scenario
from tests.crash.supervisor import KINDS, Chooser, Ground, Slot, Supervisor
from tests.zygote import Zygote

TICK_S = 0.05
PROGRESS_S = 15.0
GENERATIONS = 60
CANCELS = 0.3
STORIES = 5
HOSTS = {"all": EVERY, "kind": KIND, "hostile": HOSTILE}


@dataclass(frozen=True)
class Plan:
    """What a campaign is to do."""

    faults: int = 1000
    seed: int = 1
    seconds: float = 1800.0
    kinds: Sequence[str] = ("kill", "pause", "cut", "cancel")
    workers: int = 2
    lanes: int = 8
    lease_s: float = 3.0
    bound_s: float = 120.0
    scenarios: Sequence[Scenario] = EVERY
    outage_every_s: tuple[float, float] = OUTAGE_EVERY_S

    @property
    def cancels(self) -> float:
        """Which part of all experiments is cancelled."""
        return CANCELS if "cancel" in self.kinds else 0.0


@dataclass
class Outcome:
    """What came of a campaign."""

    verdicts: list[Verdict] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    complaints: list[str] = field(default_factory=list)
    back_after_s: list[float] = field(default_factory=list)

    @property
    def wrong(self) -> Counter[str]:
        """How many violations there are of each kind."""
        return Counter(wrong.kind for verdict in self.verdicts for wrong in verdict.wrong)

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong and not self.complaints and bool(self.verdicts)

    def table(self) -> str:
        """Figures, one a line."""
        states = Counter(verdict.state for verdict in self.verdicts)
        cancelled = sum(verdict.cancelled for verdict in self.verdicts)
        rows = [
            ("experiments", f"{len(self.verdicts)} ({_listed(states)}; {cancelled} cancelled)"),
            ("faults", f"{self.faults.total()} ({_listed(self.faults)})"),
            ("stale commits refused", str(self.refused)),
            *((kind, str(self.wrong[kind])) for kind in WRONGS),
            ("workers' own ends", str(len(self.complaints))),
        ]
        if self.back_after_s:
            worst = max(self.back_after_s)
            rows.append(("API back within", f"{worst:.1f} s ({len(self.back_after_s)} outages)"))
        return "\n".join(f"{title:24}{value}" for title, value in rows)

    def stories(self) -> str:
        """What was wrong, with all that happened to the experiment."""
        told = [verdict for verdict in self.verdicts if verdict.wrong]
        parts = [
            f"experiment {v.experiment}, {v.scenario}, {v.state}:\n"
            + "\n".join(f"  {wrong.kind.upper()}: {wrong.what}" for wrong in v.wrong)
            + (f"\n{v.story}" if number < STORIES else "")
            for number, v in enumerate(told)
        ]
        return "\n\n".join([*parts, *self.complaints])


def carry_out(plan: Plan, url: str, home: Path, *, server: Path | None = None) -> Outcome:
    """Carry out the campaign over the migrated database at *url*, with its files in *home*.

    *server*: the home of the database's server, which is stopped again and again.
    """
    with ExitStack() as stack:
        engine = new_engine(url)
        stack.callback(engine.dispose)
        zygote = Zygote()
        stack.callback(zygote.close)
        hosts = [f"h{n}-{g}" for n in range(plan.lanes) for g in range(GENERATIONS)]
        api = start_api(url, home, hosts)
        stack.callback(api.stop)
        ground = Ground(url, engine, home, zygote, plan.lease_s)
        supervisor = _supervisor(plan, ground, stack)
        stack.callback(supervisor.stop)
        lanes = [
            Lane(
                f"h{n}", home, engine, api, random.Random(1000 * plan.seed + n),
                plan.scenarios, plan.cancels, plan.bound_s,
            )
            for n in range(plan.lanes)
        ]  # fmt: skip
        outages = stack.enter_context(_outages(plan, api, server))
        _drive(plan, supervisor, lanes, outages)
        return _outcome(supervisor, lanes, outages)


def _supervisor(plan: Plan, ground: Ground, stack: ExitStack) -> Supervisor:
    slots = []
    for number in range(plan.workers):
        directory = ground.home / f"p{number}"
        directory.mkdir(exist_ok=True)
        proxy = stack.enter_context(Proxy(ground.upstream, directory).running())
        slots.append(Slot(ground, proxy))
    kinds = [KINDS[kind] for kind in plan.kinds if kind in KINDS]
    return Supervisor(ground, slots, Chooser(kinds, random.Random(plan.seed)))


@contextmanager
def _outages(plan: Plan, api: RigApi, server: Path | None) -> Iterator[Outages | None]:
    if server is None:
        yield None
        return
    with Outages(server, api, random.Random(plan.seed), plan.outage_every_s).running() as outages:
        yield outages


def _drive(
    plan: Plan, supervisor: Supervisor, lanes: Sequence[Lane], outages: Outages | None
) -> None:
    began = time.monotonic()
    told = began
    while True:
        now = time.monotonic()
        enough = len(supervisor.hits()) >= plan.faults or now - began > plan.seconds
        if enough and supervisor.arming:
            supervisor.disarm()
            if outages:
                outages.enough()
        if outages is None or outages.calm.is_set():
            _tick(supervisor, lanes, submit=not enough)
        if enough and all(lane.scenario is None for lane in lanes):
            return
        if now - told > PROGRESS_S:
            told = now
            _progress(now - began, supervisor, lanes)
        time.sleep(TICK_S)


def _tick(supervisor: Supervisor, lanes: Sequence[Lane], *, submit: bool) -> None:
    # While a server comes and goes, whatever asks it is asked again at the next tick.
    with supervisor.ground.patience():
        supervisor.tick()
    hits = supervisor.hits()
    for lane in lanes:
        with supervisor.ground.patience():
            if lane.scenario is None and submit:
                lane.begin()
            lane.tick(hits)


def _progress(seconds: float, supervisor: Supervisor, lanes: Sequence[Lane]) -> None:
    verdicts = [verdict for lane in lanes for verdict in lane.verdicts]
    wrong = Counter(each.kind for verdict in verdicts for each in verdict.wrong)
    print(
        f"{seconds:6.0f} s  {len(supervisor.hits()):5d} faults  {len(verdicts):5d} experiments  "
        f"{_listed(wrong) or 'nothing wrong'}",
        flush=True,
    )


def _outcome(supervisor: Supervisor, lanes: Sequence[Lane], outages: Outages | None) -> Outcome:
    hits = supervisor.hits()
    faults = Counter(hit.moment for hit in hits)
    faults["anywhere"] = sum(slot.anywhere for slot in supervisor.slots)
    complaints = supervisor.complaints()
    if outages:
        faults["outage"] = len(outages.back_after_s)
        complaints += outages.complaints
    return Outcome(
        verdicts=[verdict for lane in lanes for verdict in lane.verdicts],
        faults=faults,
        places=Counter(f"{hit.step}:{hit.moment}" for hit in hits),
        refused=supervisor.ground.refused(),
        complaints=complaints,
        back_after_s=outages.back_after_s if outages else [],
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.most_common() if number)


def main(arguments: Sequence[str]) -> int:
    """Carry it out on a server of its own; the process's exit code."""
    asked = _parser().parse_args(arguments)
    kinds = ("kill", "pause", "cut", "cancel") if asked.kind == "all" else asked.kind.split(",")
    if unknown := set(kinds) - {*KINDS, "cancel", "outage"}:
        print(f"unknown kinds: {', '.join(sorted(unknown))}; known: {', '.join(KINDS)}, cancel,"
              " outage, all")  # fmt: skip
        return 2
    plan = Plan(
        asked.faults, asked.seed, asked.seconds, kinds, asked.workers, asked.lanes,
        bound_s=asked.bound, scenarios=HOSTS[asked.hosts],
    )  # fmt: skip
    home = Path(tempfile.mkdtemp(prefix="mgrig-"))
    outage = "outage" in kinds
    try:
        outcome = carry_out(
            plan, migrated_server(home, safe=outage), home, server=home if outage else None
        )
    finally:
        stop(home, mode="immediate")
    if not outcome.good:
        print(f"\n{outcome.stories()}\n\nseed {plan.seed}; logs and worlds: {home}")
    else:
        shutil.rmtree(home)
    print(f"\n{outcome.table()}")
    if asked.places:
        print("\n".join(f"{number:5d} {place}" for place, number in sorted(outcome.places.items())))
    return 0 if outcome.good else 1


def migrated_server(home: Path, *, safe: bool) -> str:
    """URL of a migrated database; *safe*: what was committed outlives a hard stop."""
    url = make_url(ensure_running(home)).set(drivername="postgresql+psycopg")
    address = url.render_as_string(hide_password=False)
    if not safe:
        engine = new_engine(address)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for setting in ("fsync", "full_page_writes"):
                connection.exec_driver_sql(f"alter system set {setting} = off")
            connection.exec_driver_sql("select pg_reload_conf()")
        engine.dispose()
    command.upgrade(alembic_config(address), "head")
    return address


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=1000, help="end after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1800.0, help="end after so long at most")
    parser.add_argument("--kind", default="all", help="kinds of faults, with commas between")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lanes", type=int, default=8, help="hosts at work at the same time")
    parser.add_argument("--bound", type=float, default=120.0, help="seconds for an experiment")
    parser.add_argument("--hosts", choices=sorted(HOSTS), default="all")
    parser.add_argument("--places", action="store_true", help="list faults by step and moment")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
