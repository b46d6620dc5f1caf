"""A file of limits as people write it: read with its faults named by their lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from mitigauge.analysis.verdicts.metric_limits import Limits, MetricLimit
from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.core.field_types import MAX_PROBLEMS, located_errors
from mitigauge.core.hostile_text import quoted
from mitigauge.core.yaml_file import YamlDocument, parse_yaml
from mitigauge.measurement.workloads.definitions import Workload

# Some hundred lines with their reasons.
LARGEST_BYTES = 64 << 10
HOW_TO_WRITE = "docs/results.md, Limits that a team sets, says how to write one."


def read_limits(text: str, name: str) -> Limits:
    """The limits of *text*; *name* stands for the file in errors.

    Raises TooLarge, and InvalidInput that names file and line.
    """
    return _read(text, name)[1]


def read_known_limits(
    text: str, name: str, workloads: Mapping[str, Workload], modes: list[str]
) -> Limits:
    """The same, where each limit is of a workload, metric, parameter and mode that there is.

    A limit with a slip of the pen in it would be of nothing, and never broken.
    """
    document, limits = _read(text, name)
    problems = [
        f"{document.where(('lines', place, field))}: lines.{place}.{field}: {problem}"
        for place, limit in enumerate(limits.lines)
        for field, problem in _unknown_in(limit, workloads, modes)
    ]
    if problems:
        more = len(problems) - MAX_PROBLEMS
        said = [*problems[:MAX_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        raise InvalidInput("\n".join(said), hint="Correct the file; nothing was changed.")
    return limits


def _read(text: str, name: str) -> tuple[YamlDocument, Limits]:
    if len(text) > LARGEST_BYTES or len(text.encode(errors="surrogatepass")) > LARGEST_BYTES:
        raise TooLarge(
            f"{name} is over {LARGEST_BYTES >> 10} KiB", hint="Split it into several files."
        )
    document = parse_yaml(text, name)
    try:
        return document, Limits.model_validate(document.data)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)), hint=f"Correct the file. {HOW_TO_WRITE}"
        ) from error


def _unknown_in(
    limit: MetricLimit, workloads: Mapping[str, Workload], modes: list[str]
) -> Iterator[tuple[str, str]]:
    """Fields of a limit that name what there is not, each with what is wrong."""
    if limit.mode and limit.mode not in modes:
        yield "mode", f"there is no mode {quoted(limit.mode, 80)}; modes are FAMILY/MODE"
    workload = workloads.get(limit.workload)
    if workload is None:
        yield "workload", f"there is no workload {limit.workload}; known: {', '.join(workloads)}"
        return
    if limit.metric not in workload.metrics:
        known = ", ".join(workload.metrics)
        yield "metric", f"{workload.name} has no metric {limit.metric}; known: {known}"
    for name, value in limit.case.items():
        parameter = workload.parameters.get(name)
        if parameter is None:
            known = ", ".join(workload.parameters) or "none"
            yield "case", f"{workload.name} has no parameter {name}; known: {known}"
        elif problem := parameter.refuse(value):
            yield "case", f"{name} is never {quoted(value, 80)}: {problem}"
