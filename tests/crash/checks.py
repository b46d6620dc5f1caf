"""What must be true of an experiment that is over, by its rows and its host's world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from pipelines.host_control import POWER_CYCLE
from tests.crash.adapt import FAULTS, FINAL, UNFINISHED, set_aside
from tests.crash.fault_points import KILLS, PAUSES, Hit, Moment

LOST, TWICE, STUCK, STALE, UNEXPLAINED = "lost", "twice", "stuck", "stale", "unexplained"
KINDS = (LOST, TWICE, STUCK, STALE, UNEXPLAINED)
STEPS_AFTER_CANCEL = 2
OPEN_BOOTS = ("planned", "booting", "measuring")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that must not be."""

    kind: str
    what: str


@dataclass(frozen=True)
class Rows:
    """All rows of one experiment."""

    experiment: Row
    runs: Sequence[Row]
    boots: Sequence[Row]
    attempts: Sequence[Row]
    events: Sequence[Row]
    leases: Sequence[Row]
    results: Sequence[Row]
    cases: int

    def attempts_of(self, boot_id: int, step: str) -> list[Row]:
        """Attempts at one step of one boot."""
        return [a for a in self.attempts if a["boot_id"] == boot_id and a["step"] == step]


def rows_of(session: Session, experiment_id: int) -> Rows:
    """Read the experiment's rows."""

    def read(statement: str) -> list[Row]:
        return [
            dict(row) for row in session.execute(text(statement), {"e": experiment_id}).mappings()
        ]

    of_runs = "run_id in (select id from run where experiment_id = :e)"
    of_boots = f"boot_id in (select id from boot where {of_runs})"
    return Rows(
        experiment=read("select * from experiment where id = :e")[0],
        runs=read("select * from run where experiment_id = :e order by id"),
        boots=read(f"select * from boot where {of_runs} order by run_id, block, place, attempt"),
        attempts=read(f"select * from step_attempt where {of_runs} order by id"),
        events=read("select * from event where experiment_id = :e order by id"),
        leases=read(f"select * from host_lease where {of_runs} order by id"),
        results=read(f"select * from result where {of_boots}"),
        cases=len(read(
            "select * from benchmark_case where comparison_id in"
            " (select id from comparison where experiment_id = :e)"
        )),
    )  # fmt: skip


def violations(
    session: Session, rows: Rows, world: Mapping[str, Any], hits: Iterable[Hit], *, whole: bool
) -> list[Violation]:
    """All that is wrong with an experiment that is over, on one host."""
    aside = {run["id"]: set_aside(session, run["id"]) for run in rows.runs}
    return [
        *_lost(rows, whole=whole),
        *_twice(rows, world),
        *_power_cycles(rows, world),
        *_stuck(rows, world, aside),
        *_stale(rows),
        *_cancelled_slowly(rows),
        *(v for hit in hits for v in _unexplained(rows, hit)),
    ]


def _lost(rows: Rows, *, whole: bool) -> Iterator[Violation]:
    for boot in rows.boots:
        if boot["state"] in OPEN_BOOTS:
            yield Violation(LOST, f"boot {boot['id']} is still {boot['state']}")
        answered = sum(result["boot_id"] == boot["id"] for result in rows.results)
        if boot["state"] == "effective" and answered != rows.cases:
            yield Violation(LOST, f"boot {boot['id']} has {answered} of {rows.cases} results")
    if not whole or rows.experiment["state"] == "cancelled":
        return
    if rows.experiment["state"] != "finished":
        yield Violation(LOST, f"the experiment {rows.experiment['state']}: {rows.runs[0]['error']}")
    counted = _counted(rows)
    for place in {(boot["block"], boot["arm_id"]) for boot in rows.boots}:
        if not counted[place]:
            yield Violation(LOST, f"block {place[0]}, arm {place[1]} was never counted")


def _counted(rows: Rows) -> Counter[tuple[int, int]]:
    effective = (boot for boot in rows.boots if boot["state"] == "effective")
    return Counter((boot["block"], boot["arm_id"]) for boot in effective)


def _twice(rows: Rows, world: Mapping[str, Any]) -> Iterator[Violation]:
    for (block, arm), times in _counted(rows).items():
        if times > 1:
            yield Violation(TWICE, f"block {block}, arm {arm} is counted {times} times")
    did = Counter(world["did"])
    for boot in rows.boots:
        booted = did[f"boot {boot['nonce']}"]
        # A host that fell back does not know the nonce: whoever armed it and died arms it again.
        again = _interrupted(rows, boot, "boot.arm") if boot["nonce"] in world["fell_back"] else 0
        if booted > 1 + again:
            yield Violation(TWICE, f"boot {boot['id']} was made {booted} times")
        jobs = sum(did[what] for what in did if what.startswith(f"job boot{boot['id']}-"))
        if boot["state"] == "effective" and (booted > 1 + again or jobs != boot["job_try"]):
            yield Violation(TWICE, f"boot {boot['id']} counts with {booted} boots and {jobs} jobs")


def _power_cycles(rows: Rows, world: Mapping[str, Any]) -> Iterator[Violation]:
    made = len(world["power_cycles"])
    announced = sum(event["text"] == POWER_CYCLE for event in rows.events)
    if made > announced:
        yield Violation(UNEXPLAINED, f"{made} power cycles, {announced} in the event log")
    if any(boot["revived"] for boot in rows.boots):
        yield from _power_cycles_in_all(rows, world)
        return
    by_nonce = Counter(world["power_cycles"])
    for boot in rows.boots:
        cycled = by_nonce[boot["nonce"]]
        if cycled > 1 + _interrupted(rows, boot, "boot.power-cycle"):
            yield Violation(TWICE, f"boot {boot['id']} was power cycled {cycled} times")
        recorded = bool(boot["power_cycled"])
        tried = bool(rows.attempts_of(boot["id"], "boot.power-cycle"))
        cancelled = rows.experiment["state"] == "cancelled"
        # Where a worker was lost in that step nobody knows; it is booked as if it had been done.
        if recorded and not cycled and not _interrupted(rows, boot, "boot.power-cycle"):
            yield Violation(LOST, f"boot {boot['id']} has a power cycle that was not made")
        # A worker that was lost while it cycled a host that hung before its reboot left an event.
        known = recorded or (tried and cancelled) or _interrupted(rows, boot, "boot.arm")
        if cycled and not known:
            yield Violation(LOST, f"boot {boot['id']} has {cycled} power cycles, none recorded")


def _power_cycles_in_all(rows: Rows, world: Mapping[str, Any]) -> Iterator[Violation]:
    """A host that is cycled before its reboot notes that under the boot before: only sums tell."""
    made = len(world["power_cycles"])
    recorded = sum(bool(b["power_cycled"]) + bool(b["revived"]) for b in rows.boots)
    steps = ("boot.power-cycle", "boot.arm")
    lost = sum(_interrupted(rows, boot, step) for boot in rows.boots for step in steps)
    if made > recorded + lost:
        yield Violation(TWICE, f"{made} power cycles, {recorded} recorded, {lost} steps lost")
    if recorded > made + lost:
        yield Violation(LOST, f"{recorded} power cycles recorded, {made} made")


def _interrupted(rows: Rows, boot: Row, step: str) -> int:
    """Attempts at the step that may have acted without having been booked."""
    return sum(a["outcome"] in (*UNFINISHED, *FAULTS) for a in rows.attempts_of(boot["id"], step))


def _stuck(rows: Rows, world: Mapping[str, Any], aside: Mapping[int, str]) -> Iterator[Violation]:
    for run in rows.runs:
        held = [lease for lease in rows.leases if lease["run_id"] == run["id"]]
        if run["state"] in FINAL and any(lease["released_at"] is None for lease in held):
            yield Violation(STUCK, f"run {run['id']} is {run['state']} and holds its host")
        if run["state"] in FINAL and world["tuned"] and not aside[run["id"]]:
            yield Violation(
                STUCK, f"run {run['id']} is {run['state']}, its host neither restored nor set aside"
            )


def _stale(rows: Rows) -> Iterator[Violation]:
    for run in rows.runs:
        mine = [a for a in rows.attempts if a["run_id"] == run["id"]]
        for earlier in mine:
            if earlier["outcome"] in UNFINISHED or earlier["finished_at"] is None:
                continue
            for later in mine:
                overtaken = later["epoch"] > earlier["epoch"]
                if overtaken and later["started_at"] < earlier["finished_at"]:
                    yield Violation(
                        STALE,
                        f"{earlier['step']} of epoch {earlier['epoch']} counted after epoch"
                        f" {later['epoch']} had begun",
                    )
        refused = sum(a["outcome"] == "refused" for a in mine)
        noted = sum(e["kind"] == "fence" and e["run_id"] == run["id"] for e in rows.events)
        if refused != noted:
            yield Violation(STALE, f"{refused} refused commits, {noted} events of it")


def _cancelled_slowly(rows: Rows) -> Iterator[Violation]:
    asked = next((e["at"] for e in rows.events if "cancel requested" in e["text"]), None)
    if asked is None:
        return
    after = [
        a["step"] for a in rows.attempts
        if a["started_at"] > asked and a["outcome"] not in (*UNFINISHED, *FAULTS)
    ]  # fmt: skip
    if len(after) > STEPS_AFTER_CANCEL:
        yield Violation(STUCK, f"{len(after)} steps after the cancel: {', '.join(after)}")


def _unexplained(rows: Rows, hit: Hit) -> Iterator[Violation]:
    """Whether the rows tell what became of the step that was hit."""
    where = f"{hit.moment} at {hit.step}, run {hit.run}, epoch {hit.epoch}"
    found = [
        a for a in rows.attempts
        if (a["run_id"], a["epoch"], a["step"]) == (hit.run, hit.epoch, hit.step)
    ]  # fmt: skip
    if len(found) != 1:
        yield Violation(UNEXPLAINED, f"{where}: {len(found)} attempts")
        return
    outcome = found[0]["outcome"]
    booked = outcome not in UNFINISHED
    if hit.moment in (Moment.AFTER, Moment.CUT, Moment.SILENCE) and not booked:
        yield Violation(UNEXPLAINED, f"{where}: it was committed and is booked as {outcome}")
    if hit.moment in KILLS and hit.moment != Moment.AFTER and booked:
        yield Violation(STALE, f"{where}: it was not committed and is booked as {outcome}")
    # One that the rig killed before it could be refused stays booked as lost.
    if hit.moment in PAUSES and outcome not in ("refused", "lost"):
        yield Violation(STALE, f"{where}: it came back late and is booked as {outcome}")


def story(rows: Rows, world: Mapping[str, Any]) -> str:
    """All that happened to an experiment, in the order of the database's clock."""
    lines = [
        (a["started_at"], f"  attempt {a['step']} boot={a['boot_id']} epoch={a['epoch']}"
         f" → {a['outcome']} at {a['finished_at']} {str(a['detail'])[:200]}")
        for a in rows.attempts
    ]  # fmt: skip
    lines += [(e["at"], f"  event {e['kind']}: {str(e['text'])[:200]}") for e in rows.events]
    boots = [
        f"  boot {b['id']} block {b['block']} arm {b['arm_id']} attempt {b['attempt']}"
        f" {b['nonce']}: {b['state']} {str(b['reason'])[:160]}"
        for b in rows.boots
    ]
    runs = [
        f"  run {r['id']}: {r['state']} step={r['step']} epoch={r['epoch']} wake_at={r['wake_at']}"
        f" faults={r['consecutive_faults']} {str(r['error'])[:300]}"
        for r in rows.runs
    ]
    told = [f"{at} {line}" for at, line in sorted(lines, key=lambda entry: entry[0])]
    did = f"  host did: {', '.join(world['did'])}; cycled: {world['power_cycles']}"
    return "\n".join([*runs, *boots, did, *told])
