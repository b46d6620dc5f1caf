"""The cases of an experiment on a host whose kernel counts how often it gets to each place."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import text

from lab import ssh
from lab.hosts import Host, LabPaths
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.storage.database.engine import transaction

WORKLOADS, OUTPUT = "/opt/mitigauge/workloads", "/root/reach"
LIMIT_S = 1800
# How many times as much the second run of a case does in each of its iterations.
TIMES = 4
# What says how much that is.
SIZES = {
    "entries": "loops",
    "exits": "exits",
    "paths": "loops",
    "syscall": "seconds",
    "wakeups": "rounds",
}
LOOPS = 20_000
SCRIPT = """
set -e
rm -rf {output}
mkdir -p {output}
cat >{output}/case.json <<'CASE'
{case}
CASE
cp /proc/reached /root/before
MITIGAUGE_CLOCK=counted {workloads}/{workload}/run {output}/case.json {output} >/root/log 2>&1
cp /proc/reached {output}/after
mv /root/before {output}
tar -cf - -C {output} .
"""
CASES = """
    SELECT DISTINCT c.workload, c.title, c.parameters, c.iterations, c.warmup
    FROM benchmark_case c
        JOIN comparison o ON o.id = c.comparison_id
        JOIN run r ON r.comparison_id = o.id
        JOIN host h ON h.id = r.host_id
    WHERE r.experiment_id = ANY(:experiments) AND h.name = :host
    ORDER BY c.title
"""


def cases_of(experiments: Sequence[int], host: str) -> list[dict[str, Any]]:
    """The cases that the experiments have on the host."""
    with transaction() as session:
        rows = session.execute(text(CASES), {"experiments": list(experiments), "host": host})
        return [dict(row) for row in rows.mappings()]


def reached_on(name: str, cases: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, float]]]:
    """Title of each case, and how often one operation of it got to each place, by its number."""
    host = LabPaths.of(get_settings()).host(name)
    for case in cases:
        title = case.pop("title")
        few, many = (_counted(host, sized(case, times)) for times in (1, TIMES))
        operations = many[1] - few[1]
        yield title, {k: (many[0][k] - few[0][k]) / operations for k in few[0]}


def sized(case: dict[str, Any], times: int) -> dict[str, Any]:
    """The case with so many times the work in each iteration."""
    given = case["parameters"]
    size = "seconds" if given.get("test") == "futex" else SIZES[case["workload"]]
    return {**case, "parameters": {**given, size: (given[size] or LOOPS) * times}}


def _counted(host: Host, case: dict[str, Any]) -> tuple[dict[str, int], float]:
    """How often a run of the case got to each place, and its operations, warm-ups included.

    What starts a run and its iterations falls out between two runs of different sizes.
    """
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory)
        _run(host, {**case, "case_id": "reach", "timeout_s": LIMIT_S}, output)
        before, after = (_counters(output / each) for each in ("before", "after"))
        measured = _operations(case["workload"], output)
        operations = measured * (1 + case["warmup"] / case["iterations"])
    return {k: after[k] - before[k] for k in after}, operations


def _run(host: Host, case: dict[str, Any], output: Path) -> None:
    script = SCRIPT.format(
        output=OUTPUT, workloads=WORKLOADS, workload=case["workload"], case=json.dumps(case)
    )
    done = subprocess.run(
        ssh.command(host, "bash -s"),
        input=script.encode(),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{host.name}: {case}: {done.stderr.decode(errors='replace')[-500:]}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(output, filter="data")


def _counters(path: Path) -> dict[str, int]:
    return {number: int(times) for number, times in map(str.split, path.read_text().splitlines())}


def _operations(workload: str, output: Path) -> float:
    """Of the measured iterations, as the workload's parser tells."""
    parser = REPOSITORY / "workloads" / workload / "parse.py"
    told = subprocess.run([sys.executable, parser, output], capture_output=True, check=True)
    return float(json.loads(told.stdout)["operations"])
