"""What a target may say of an experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from mitigauge.reporting.letters.reply.headline import (
    Conclusion,
    LeadCell,
    conclusion_of,
    only_kernels,
    worse,
)
from mitigauge.reporting.pages.schemas import ExperimentView


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
    measures none. *page*: its address; empty: nobody reaches it.
    """

    view: ExperimentView
    cells: Sequence[LeadCell]
    kernels: Sequence[KernelFacts]
    message_ids: Sequence[str]
    label: str
    page: str

    def of_kernels(self, kernels: Collection[str]) -> Facts:
        """What may be said of these kernels alone."""
        return replace(self, view=only_kernels(self.view, kernels))

    @property
    def patched(self) -> set[str]:
        """Kernels with patches, which a revision's are."""
        return {kernel.release for kernel in self.kernels if kernel.patches}

    @property
    def summary(self) -> str:
        """The answer in a line, with what kind of figures it rests on before it."""
        line = f"Worse? {worse(self.view, self.cells)}"
        # Of the figures in the line; where there are none, of what was to be measured.
        comparisons = [each.comparison for each in self.cells] or self.view.comparisons
        emulated = [each for each in comparisons if each.emulated or each.counted]
        if not emulated:
            return line
        kind = "emulated, counted" if any(each.counted for each in emulated) else "emulated"
        return f"[{'in part ' if len(emulated) < len(comparisons) else ''}{kind}] {line}"

    @property
    def conclusion(self) -> Conclusion:
        """Of its figures of kernels."""
        return conclusion_of(self.view, self.cells)
