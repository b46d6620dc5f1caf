"""An experiment as a check of patchwork has it, on the last patch of a revision. Pure."""

from __future__ import annotations

from typing import Any

from mitigauge.reporting.letters.reply.headline import Conclusion
from mitigauge.reporting.publications.facts import Facts

CONTEXT = "mitigauge"
LONGEST = 500
_STATE = {
    Conclusion.DOES_NOT_BOOT: "fail",
    Conclusion.WORSE: "fail",
    Conclusion.NOT_WORSE: "success",
    Conclusion.CANNOT_TELL: "warning",
    Conclusion.NO_KERNELS: "warning",
}


def check(facts: Facts) -> dict[str, Any]:
    """The check, of kernels with patches where there are some.

    It is known by its address, or where nobody reaches the page by its words.
    """
    facts = facts.of_kernels(facts.patched) if facts.patched else facts
    found = {
        "state": _STATE[facts.conclusion],
        "context": f"{CONTEXT}-{facts.view.id}",
        "description": f"{facts.label}: {facts.summary}"[:LONGEST],
    }
    return found | ({"target_url": facts.page} if facts.page else {})


def message_id(facts: Facts) -> str:
    """Of the patch that it stands on; empty: it is of no revision."""
    return facts.message_ids[-1] if facts.message_ids else ""
