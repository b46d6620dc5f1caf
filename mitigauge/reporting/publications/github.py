"""An experiment as a check run of GitHub has it, on the commit that is judged. Pure."""

from __future__ import annotations

from typing import Any

from mitigauge.reporting.publications.facts import Conclusion, Facts

NAME = "Mitigauge"
LONGEST = 60_000
_CONCLUSION = {
    Conclusion.WORSE: "failure",
    Conclusion.NOT_WORSE: "success",
    Conclusion.CANNOT_TELL: "neutral",
    Conclusion.NO_KERNELS: "neutral",
}


def check_run(facts: Facts, text: str) -> dict[str, Any]:
    """The check run. *text*: the report, as Markdown."""
    found = {
        "name": NAME,
        "head_sha": commit(facts),
        "external_id": external_id(facts),
        "status": "completed",
        "conclusion": _CONCLUSION[facts.conclusion],
        "output": {"title": facts.line[:200], "summary": facts.line, "text": text[:LONGEST]},
    }
    return found | ({"details_url": facts.page} if facts.page else {})


def external_id(facts: Facts) -> str:
    """By which it is found again."""
    return f"experiment-{facts.view.id}"


def commit(facts: Facts) -> str:
    """The commit that is judged: of an arm that is set against another kernel; empty: none is."""
    known = {kernel.release: kernel.commit for kernel in facts.kernels}
    judged = [known.get(each.arm.kernel, "") for each in facts.cells if each.is_of_kernels]
    return next((each for each in judged if each), "")
