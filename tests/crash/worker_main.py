"""A real worker process over simulated hosts, with one fault in it where one is wanted.

Usage: python -m tests.crash.worker_main URL WORLDS LEASE_SECONDS [--fault STEP:MOMENT]…
       [--report FILE] [--hurry]

The moments are those of :mod:`tests.crash.fault_points`; of several faults, the one whose step
comes first is made.
"""

from __future__ import annotations

import argparse
import faulthandler
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mitigauge.core.settings import get_settings
from mitigauge.jobs.abilities import Abilities
from mitigauge.storage.database.engine import new_engine
from pipelines.steps import boot
from pipelines.worker import CONCURRENCY, Worker
from tests.crash.fault_points import FaultPlan, FaultyAdvancer, moments_of
from tests.crash.hurry import hurry
from tests.crash.simulated_host import opener
from tests.specs import CATALOG

# A worker that is stopped within a transaction keeps others out for so long.
IDLE_S = 1.5
# A server that is silent is given up a second later.
STATEMENT_S = 4.0


def main(arguments: Sequence[str]) -> None:
    """Work until stopped or until the fault."""
    faulthandler.register(signal.SIGUSR1)  # for a test that waits in vain
    asked = _parser().parse_args(arguments)
    get_settings.cache_clear()
    boot.GOING_DOWN_S = 0.0  # a simulated host is up again at once
    if asked.hurry:
        hurry()
    hurried = partial(new_engine, idle_in_transaction_s=IDLE_S, statement_limit_s=STATEMENT_S)
    advancer = FaultyAdvancer(
        hurried(asked.url) if asked.hurry else new_engine(asked.url),
        opener(asked.worlds),
        CATALOG,
        lease_seconds=asked.lease_seconds,
        plan=FaultPlan(moments_of(asked.fault), asked.report),
    )
    look = partial(simulated, asked.worlds)
    Worker(advancer, asked.url, asked.concurrency, look=look).run()


def simulated(worlds: Path) -> Abilities:
    """It reaches every host that has a world, and those whose worlds tests make later."""
    names = {world.stem for world in worlds.glob("*.json")} | {"alpha", "beta", "gamma"}
    return Abilities(hosts={"lab": sorted(names)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="worker_main")
    parser.add_argument("url")
    parser.add_argument("worlds", type=Path)
    parser.add_argument("lease_seconds", type=float)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--report", type=Path)
    parser.add_argument("--hurry", action="store_true")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY)
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
