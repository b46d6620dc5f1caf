"""Ways into the kernel on the lab: timed, counted exactly, and what is predicted of each.

Four boots of a host whose time counts instructions, twelve ways in each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import text

from mitigauge.core.settings import REPOSITORY
from tests.lab.following import spec_on
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-intel"
SPEC = REPOSITORY / "experiments" / "lab-entries.yml"
# What one boot's mean may be off another's: time counts instructions.
MOST_SCATTER = 0.001
# How often an operation runs the clearing loop: once an entry. Filters that stop their task and
# tracers enter more often; of 32 requests of a ring one enters.
LOOPS = {
    "syscall": 1, "int80": 1, "vdso": 0, "seccomp-short": 1, "seccomp-docker": 1,
    "seccomp-systemd": 1, "seccomp-cached": 1, "warm": 1, "cold-l1": 1, "cold-l2": 1,
}  # fmt: skip
WAYS = {*LOOPS, "io-uring", "ptrace"}


def scatter_of(service: Service) -> dict[tuple[str, str], float]:
    """Case and arm → the largest boot's mean over the least, less one."""
    with service.engine.connect() as connection:
        rows = connection.execute(
            text(
                "select c.title, a.name, max(m.mean) / min(m.mean) - 1 from measurement m"
                " join boot b on b.id = m.boot_id join arm a on a.id = b.arm_id"
                " join benchmark_case c on c.id = m.case_id"
                " where m.metric = 'time_per_operation' group by c.title, a.name"
            )
        )
        return {(title, arm): scatter for title, arm, scatter in rows}


def counted(service: Service, number: str, way: str) -> dict[str, Any]:
    words = ("profile", "exact", "off", "loop", "--experiment", number)
    table: dict[str, Any] = orjson.loads(
        service.command(*words, "--case", f"entry {way}", "--json")
    )
    return table


def test_each_way_is_timed_counted_and_predicted(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "entries.yml"
    file.write_text(spec_on(SPEC, HOST))
    submitted = orjson.loads(service.command("experiment", "submit", str(file), "--json"))
    number = str(submitted["id"])
    service.command("experiment", "wait", number)
    shown = orjson.loads(service.command("experiment", "show", number, "--json"))
    assert [boot["state"] for boot in shown["boots"]] == ["effective"] * 4
    scatter = scatter_of(service)
    worst = max(scatter, key=scatter.__getitem__)
    said(f"boots differ by at most {scatter[worst]:.3%}, {worst}")
    tables = {way: counted(service, number, way) for way in sorted(WAYS)}
    for way, table in tables.items():
        [loops] = [row["exact"] for row in table["bill"] if row["event"] == "bhb-loop"] or [0]
        predicted = [f"{each['title']} {each['ns']:+.1f} ns" for each in table["predictions"][:2]]
        said(f"{way}: {table['exact']} instructions, {loops} loops; {', '.join(predicted)}")
    assert len(scatter) == 2 * len(WAYS)
    for way, table in tables.items():
        assert table["why_none"] == "", way
        assert (table["a"]["boots"], table["b"]["boots"]) == (2, 2)
        assert len(table["predictions"]) >= 2
    for way, times in LOOPS.items():
        found = [row["exact"] for row in tables[way]["bill"] if row["event"] == "bhb-loop"]
        assert (found or [0]) == [times], way
    assert scatter[worst] <= MOST_SCATTER
