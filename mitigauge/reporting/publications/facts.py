"""What a target may say of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.core.effect import Verdict
from mitigauge.reporting.letters.reply.headline import LeadCell
from mitigauge.reporting.pages.schemas import ExperimentView


class Conclusion(StrEnum):
    """What an experiment says of a kernel against another one."""

    WORSE = "worse"
    NOT_WORSE = "not worse"
    CANNOT_TELL = "cannot tell"
    NO_KERNELS = "no other kernel was measured"


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """How a kernel was built. *patches*: SHA-256 of each; *commit*: 40 digits, empty: none."""

    release: str
    base: str
    config: str
    compiler: str
    patches: Sequence[str]
    commit: str


@dataclass(frozen=True, slots=True)
class Facts:
    """An experiment that is over. *cells*: its primary figures, the worst first.

    *message_ids*: of the patches of the revision that it measures, in their order; none: it
    measures none. *page*: its address; empty: nobody reaches it. *line*: the answer in a line.
    """

    view: ExperimentView
    cells: Sequence[LeadCell]
    kernels: Sequence[KernelFacts]
    message_ids: Sequence[str]
    label: str
    page: str
    line: str

    @property
    def conclusion(self) -> Conclusion:
        """Of its figures of kernels."""
        kernels = [each.cell.verdict for each in self.cells if each.is_of_kernels]
        if not kernels:
            return Conclusion.NO_KERNELS
        if Verdict.WORSE in kernels:
            return Conclusion.WORSE
        is_open = None in kernels or Verdict.UNDECIDED in kernels
        return Conclusion.CANNOT_TELL if is_open else Conclusion.NOT_WORSE
