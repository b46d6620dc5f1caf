"""No fact of the contract with hosts is written again on either side."""

from __future__ import annotations

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire import collectors
from mitigauge.measurement.collectors.figures import FIGURES
from mitigauge.measurement.collectors.reasons import COUNTERS
from tests.unit.wire.contract import defined_again, facts, sources
from tests.unit.wire.test_shapes import READERS

# (file, what stands there) → why it is another fact, or no definition.
OTHERS = {
    ("workloads/_kit/guest_profile.py", "'profile.json'"): "of the guest's image",
    ("workloads/_kit/thread_names.py", "MOST_NAMES = 10000"): "names of a raw file, not values",
    ("workloads/window/run", "names, seconds, threads, wakeups"): "a raw file of its own",
    ("ansible/roles/guest/library/guest_profile_image.py", "'profile.json'"): "of its image",
    ("lab/hosts.py", "'state.json'"): "of an emulated host",
    (
        "mitigauge/measurement/collectors/figures.py", "irq, nice, softirq, steal, system, user",
    ): "what is added up, by name",
    (
        "mitigauge/measurement/collectors/reasons.py",
        "halt_exits, hypercalls, io_exits, irq_exits, irq_window_exits, mmio_exits, "
        "request_irq_exits, signal_exits",
    ): "titles of columns, by name",
    (
        "mitigauge/analysis/profiles/capture/_disassemble.py", "detail, functions, left_out",
    ): "what the confined program prints",
    ("mitigauge/analysis/profiles/capture/fold.py", "stack_bytes = 3.35544e+07"):
        "of stacks once folded",
    ("mitigauge/analysis/profiles/capture/instructions.py", "_Answer"): "of the confined program",
    ("mitigauge/analysis/profiles/capture/instructions.py", "Instructions"): "disassembled",
    ("mitigauge/analysis/profiles/store/service.py", "LONGEST_NAME = 200"): "of a search",
    ("mitigauge/analysis/profiles/store/tables.py", "ProfileInstructions"):
        "columns of the database",
    ("mitigauge/measurement/results/schema.py", "disturbed, values, warmup"):
        "of values that were read",
    ("mitigauge/core/yaml_file.py", "_MAX_NAME = 200"): "of a key in YAML",
}  # fmt: skip


@pytest.fixture(scope="module")
def again() -> dict[tuple[str, str], int]:
    """(file, what stands there again) → its line."""
    return {
        (str(path.relative_to(REPOSITORY)), what): line
        for path in sources()
        for what, line in defined_again(
            path.read_text("utf-8"), str(path.relative_to(REPOSITORY))
        ).items()
    }


def test_no_side_defines_a_fact_again(again: dict[tuple[str, str], int]) -> None:
    known = OTHERS.keys() | READERS.keys()
    faults = [
        f"{path}:{line}: {what} is in mitigauge/core/wire"
        for (path, what), line in again.items()
        if (path, what) not in known
    ]
    assert not faults, "\n".join(faults)


def test_each_exception_is_still_there(again: dict[tuple[str, str], int]) -> None:
    assert OTHERS.keys() - again.keys() == set()


@pytest.mark.parametrize(
    "mutant",
    [
        'STATE = "state.json"',
        'path = f"{job}/" + "raw/run.json"',
        'SCHEMA = "mitigauge.result/1"',
        'EVENT = "nmi:nmi_handler"',
        'handler = b"exc_nmi"',
        'os.environ["MITIGAUGE_CLOCK"] = "real"',
        r'NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")',
        "EX_TEMPFAIL = 75",
        "TIMED_OUT: int = 124",
        "PROFILE_SLACK_S = 500.0",
        "MAX_PROFILE_HZ = 5000",
        "LIMIT = 32 << 20",
        "capture_limit_bytes: int = Field(32 << 20, description='largest')",
        "def whole(value: int) -> bool:\n    return value < 1 << 53",
        "lost: int = Field(ge=0, lt=1 << 53)",
        "MAX_ITERATIONS = 10_000",
        "MOST_FUNCTIONS = 40",
        'COLLECTORS = ("cpu", "memory", "disk", "network", "schedstat", "exits", "power")',
        'SOURCES = {"cpu": 1, "memory": 2, "disk": 3, "network": 4, "power": 5, "exits": 6}',
        'STATES = {"running", "finished", "failed", "missing"}',
        'OUTCOMES = {0: "ok", 75: "lab_fault", 124: "timeout"}',
        'KEYS = ("threads", "wakeups", "run_ns", "wait_ns")',
        'CASE_FIELDS = {"case_id": str, "workload": str, "iterations": int, "warmup": int, '
        '"timeout_s": int}',
        'told = {"absent": {}, "processors": 1, "spent_ns": 2, "lasted_ns": 3, "samples": 4}',
        "class Pace(TypedDict):\n    limit: float\n    values: list\n    disturbed: list",
    ],
)
def test_a_fact_that_is_written_again_is_noticed(mutant: str) -> None:
    assert defined_again(mutant)


@pytest.mark.parametrize(
    "innocent",
    [
        '"""state.json is kept by the runner."""',
        'raise ParseError("run.json: no such field")',
        "LONGEST_LINE = 500",
        "PIECE = 1 << 16",
        'parameters = {"cpu": 1, "memory": 2, "vcpus": 3}',
        'record["measured"] = [began, ended]',
        "Case(case_id='1', workload='fio', iterations=3, warmup=1, timeout_s=9)",
    ],
)
def test_what_is_no_fact_is_left_alone(innocent: str) -> None:
    assert not defined_again(innocent)


def test_each_module_has_facts() -> None:
    told = facts()
    modules = {
        where.partition(".")[0] for where in (*told.texts.values(), *told.numbers, *told.names)
    }
    assert {"case", "job", "result", "run_record", "collectors", "limits", "profile"} <= modules


def test_figures_and_titles_are_of_columns_that_there_are() -> None:
    for name, figures in FIGURES.items():
        of = {column for figure in figures for column in (*figure.of, *figure.over, *figure.less)}
        assert of <= set(collectors.COLUMNS[name]), name
    assert set(COUNTERS) <= set(collectors.KVM)
