"""An experiment as a check run of GitHub has it, on the commit that is judged. Pure."""

from __future__ import annotations

from typing import Any

from mitigauge.reporting.letters.reply.headline import Conclusion, arms_of_kernels
from mitigauge.reporting.publications.facts import Facts

NAME = "Mitigauge"
LONGEST = 60_000
_CONCLUSION = {
    Conclusion.DOES_NOT_BOOT: "failure",
    Conclusion.WORSE: "failure",
    Conclusion.NOT_WORSE: "success",
    Conclusion.CANNOT_TELL: "neutral",
    Conclusion.NO_KERNELS: "neutral",
}


def check_run(facts: Facts, text: str) -> dict[str, Any]:
    """The check run, of that commit alone. *text*: the report, as Markdown."""
    releases = {kernel.release for kernel in facts.kernels if kernel.commit == commit(facts)}
    facts = facts.of_kernels(releases)
    found = {
        "name": NAME,
        "head_sha": commit(facts),
        "external_id": external_id(facts),
        "status": "completed",
        "conclusion": _CONCLUSION[facts.conclusion],
        "output": {"title": facts.summary[:200], "summary": facts.summary, "text": text[:LONGEST]},
    }
    return found | ({"details_url": facts.page} if facts.page else {})


def external_id(facts: Facts) -> str:
    """By which it is found again."""
    return f"experiment-{facts.view.id}"


def commit(facts: Facts) -> str:
    """The commit that is judged: of an arm that is set against another kernel; empty: none is.

    A kernel with patches on its base is not that commit, and nothing is said of the base. Of
    several commits it is not known which one was asked about: none.
    """
    known = {kernel.release: kernel.commit for kernel in facts.kernels if not kernel.patches}
    judged = {known.get(arm.kernel, "") for arm in arms_of_kernels(facts.view)} - {""}
    return judged.pop() if len(judged) == 1 else ""
