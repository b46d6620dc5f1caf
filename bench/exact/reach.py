"""``make bench-reach``: do the cases that are left out really run nothing of a patch?

Thirty patches of `tests/series/reach` over Debian's kernel: fifteen of code that some case runs,
five of comments, ten of code that no case runs. What each changes is read of a build of it, as of
any kernel; what each case runs was counted on the kernel without them. Whether a case really gets
to a change tells the kernel itself: one with a counter at each place (`probes.patch`).

`report` (nothing said) compares what was recorded. The others record it anew:

    changes             build the thirty kernels, one after the other in one tree (15 to 30 min)
    runs EXPERIMENTS    what their cases were counted to run in arms that are called base
    reached HOSTS       run the cases on these hosts, which have booted the kernel with the counters

Peer: every case measured for every patch, which keeps all and saves nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from mitigauge.analysis.profiles.exact.coverage import CountedCase, Coverage, plan_of
from mitigauge.analysis.profiles.exact.run_code import code_run
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.kernels.functions import Changed, Notes, changed, notes_of

PATCHES = REPOSITORY / "tests" / "series" / "reach"
RECORDED = PATCHES / "recorded.json"
BASE = "linux-source-7.2"
COMMENTS, UNREACHED = range(16, 21), range(21, 31)
# How often an operation gets to a place. Less is what others do beside it: what `wakeups` traces
# while it is timed takes a page for every 40 operations.
LEAST_PER_OPERATION = 0.05


@dataclass(frozen=True, slots=True)
class Recorded:
    """What builds, counts and the kernel's own counters told."""

    kernel: str
    changes: Mapping[str, Changed]
    """By patch."""
    runs: Mapping[str, frozenset[str]]
    """By case, ``HOST: CASE``: functions that it ran."""
    reached: Mapping[str, Mapping[str, float]]
    """How often an operation got to a patch's place, by case and number of the patch."""

    def reaches(self, case: str, patch: str) -> bool:
        """Whether the case really gets to what the patch changes."""
        return self.reached[case].get(str(number_of(patch)), 0.0) >= LEAST_PER_OPERATION


@dataclass(frozen=True, slots=True)
class Planned:
    """One patch: which cases are measured, and which get to it."""

    patch: str
    measured: frozenset[str]
    reaching: frozenset[str]


def number_of(patch: str) -> int:
    """Of `07-eventfd-write`, 7."""
    return int(patch.partition("-")[0])


def host_of(case: str) -> str:
    """Of `lab-intel: syscall basic`, lab-intel."""
    return case.partition(": ")[0]


def recorded() -> Recorded:
    """What stands beside the patches."""
    found = orjson.loads(RECORDED.read_bytes())
    return Recorded(
        kernel=found["kernel"],
        changes={
            patch: Changed(frozenset(each["functions"]), frozenset(each["objects"]))
            for patch, each in found["changes"].items()
        },
        runs={case: frozenset(functions) for case, functions in found["runs"].items()},
        reached=found["reached"],
    )


def plans(of: Recorded) -> Iterator[Planned]:
    """What is measured of each patch, as a revision's cases are chosen."""
    at = datetime.now(UTC)
    keys = {case: CountedCase(case, "{}", "", "lab", host_of(case)) for case in of.runs}
    known = {keys[case]: [Coverage(code, of.kernel, at, BASE)] for case, code in of.runs.items()}
    for patch, change in of.changes.items():
        cases = {case: [key] for case, key in keys.items()}
        plan = plan_of(change, cases, known, {BASE: change})
        yield Planned(
            patch,
            frozenset(plan.measured),
            frozenset(case for case in of.runs if of.reaches(case, patch)),
        )


def told(of: Recorded) -> Iterator[str]:
    """The table and its sums."""
    found = list(plans(of))
    hosts = {host_of(case) for case in of.runs}
    for each in found:
        names = sorted(each.measured)
        said = f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}" or "no case"
        lost = sorted(each.reaching - each.measured)
        yield (
            f"{each.patch:24} {len(each.reaching):3} reach it, {len(each.measured):3} measured"
            f"{f', LOST: {lost}' if lost else ''}: {said}"
        )
    reaching = sum(len(each.reaching) for each in found)
    kept = sum(len(each.reaching & each.measured) for each in found)
    boots = sum(len({host_of(case) for case in each.measured}) for each in found)
    cases = sum(len(each.measured) for each in found)
    none = [each for each in found if number_of(each.patch) in UNREACHED]
    yield f"cases that reach the change kept: {kept} of {reaching} ({kept / reaching:.1%})"
    yield f"boots saved: {1 - boots / len(found) / len(hosts):.1%} (peer: 0 %)"
    yield f"measurements saved: {1 - cases / len(found) / len(of.runs):.1%} (peer: 0 %)"
    yield f"'no case' right: {sum(not each.measured for each in none)} of {len(none)}"


def _whole() -> dict[str, Any]:
    """All that is recorded, by part; empty where nothing is yet."""
    return dict(orjson.loads(RECORDED.read_bytes())) if RECORDED.exists() else {}


def recorded_part(part: str) -> dict[str, Any]:
    """One part of what is recorded; empty where there is none yet."""
    return dict(_whole().get(part, {}))


def store(part: str, value: Any) -> None:
    """Write one part of what is recorded; the others stay. Each case and patch has a line."""
    whole = _whole()
    whole[part] = value
    lines = []
    for name, content in sorted(whole.items()):
        if isinstance(content, dict):
            rows = [f"{_json(key)}: {_json(each)}" for key, each in sorted(content.items())]
            lines.append(f"{_json(name)}: {{\n" + ",\n".join(rows) + "\n}")
        else:
            lines.append(f"{_json(name)}: {_json(content)}")
    RECORDED.write_text("{" + ",\n".join(lines) + "}\n")


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def store_changes(only: str) -> None:
    """Build each patch and read what it changes; *only*: those whose name has it."""
    from bench.exact.reach_builds import built

    patches = [each for each in sorted(PATCHES.glob("[0-9]*.patch")) if only in each.name]
    kept = recorded_part("changes")
    with tempfile.TemporaryDirectory(dir=get_settings().home) as directory:
        # Builds run under a user of their own.
        Path(directory).chmod(0o711)
        of_base: Notes | None = None
        for name, text in built(Path(directory), BASE, patches):
            notes = notes_of(text)
            if of_base is None:
                of_base = notes
                continue
            differs = changed(of_base, notes)
            kept[name] = {
                "functions": sorted(differs.functions),
                "objects": sorted(differs.objects),
            }
            print(f"{name}: {', '.join(sorted(differs.functions)[:6]) or 'nothing'}", flush=True)
            store("changes", kept)


COUNTS = """
    SELECT e.id, c.title, h.name AS host, boot.proof ->> 'kernel_release' AS kernel
    FROM exact_count e
        JOIN benchmark_case c ON c.id = e.case_id
        JOIN boot ON boot.id = e.boot_id
        JOIN arm a ON a.id = boot.arm_id
        JOIN run r ON r.id = boot.run_id
        JOIN host h ON h.id = r.host_id
    WHERE r.experiment_id = ANY(:experiments) AND a.name = 'base' AND e.ledger IS NOT NULL
    ORDER BY h.name, c.title
"""


def store_runs(experiments: list[int]) -> None:
    """Read what the cases of experiments were counted to run on the kernel without patches."""
    from sqlalchemy import text

    from mitigauge.analysis.profiles.exact import repository
    from mitigauge.storage.database.engine import transaction

    with transaction() as session:
        rows = session.execute(text(COUNTS), {"experiments": experiments}).all()
        ledgers = repository.ledgers_of(session, [row.id for row in rows])
    if not rows:
        sys.exit(f"experiments {experiments} counted nothing in an arm that is called base")
    store("kernel", rows[0].kernel)
    store(
        "runs",
        {f"{row.host}: {row.title}": sorted(code_run(ledgers[row.id]).functions) for row in rows},
    )


def store_reached(hosts: list[str], experiments: list[int]) -> None:
    """Run the cases of experiments on hosts that have booted the kernel with the counters."""
    from bench.exact.reach_hosts import cases_of, reached_on

    counted = recorded_part("runs")
    found: dict[str, dict[str, float]] = {}
    for host in hosts:
        cases = [
            each for each in cases_of(experiments, host) if f"{host}: {each['title']}" in counted
        ]
        for title, times in reached_on(host, cases):
            found[f"{host}: {title}"] = times
            some = {number: round(each, 3) for number, each in times.items() if each >= 0.001}
            print(f"{host}: {title}: {some}", flush=True)
    # Read now: another host's may have been recorded meanwhile.
    store("reached", recorded_part("reached") | found)


def main() -> None:
    """Parse, do, print."""
    parser = argparse.ArgumentParser(
        prog="bench.exact.reach", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    steps = parser.add_subparsers(dest="step")
    steps.add_parser("report", help="compare what was recorded")
    changes = steps.add_parser("changes", help="build the thirty kernels")
    changes.add_argument("--only", default="", help="patches whose name has this")
    runs = steps.add_parser("runs", help="read an experiment's counts")
    runs.add_argument("experiments", type=int, nargs="+")
    reached = steps.add_parser("reached", help="run the cases on the kernel with the counters")
    reached.add_argument("--experiments", type=int, nargs="+", required=True, help="whose cases")
    reached.add_argument("--hosts", nargs="+", required=True)
    asked = parser.parse_args()
    if asked.step == "changes":
        store_changes(asked.only)
    elif asked.step == "runs":
        store_runs(asked.experiments)
    elif asked.step == "reached":
        store_reached(asked.hosts, asked.experiments)
    else:
        print(*told(recorded()), sep="\n")


if __name__ == "__main__":
    main()
