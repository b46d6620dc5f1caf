"""What is wrong with the arms of a spec's comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from mitigauge.core.wire.case import AS_HOST
from mitigauge.measurement.experiments.spec_faults import Faults, known_words, repeated
from mitigauge.measurement.experiments.spec_model import (
    MAX_ARMS,
    ArmSpec,
    ComparisonSpec,
    Place,
)
from mitigauge.measurement.modes.crossing import BOTH, wanted_by
from mitigauge.measurement.modes.settings import GUEST_KERNEL


class ArmFaults(Faults):
    """Names, modes, kernels and the number of arms."""

    def of(self, comparison: ComparisonSpec, blocks: int, place: Place) -> Iterator[str]:
        """All of them; *blocks*: the comparison's budget."""
        yield from self._arms(comparison, place)
        yield from self._double(comparison, place)
        yield from self._layouts(comparison, blocks, place)
        yield from self._guest_kernels(comparison, place)

    def _arms(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        names = [arm.name for arm in comparison.arms]
        for index, name in repeated(names):
            yield self.at((*place, "arms", index, "name"), f"duplicate arm {name!r}")
        settings = [_in_words(arm) for arm in comparison.arms]
        for index, setting in repeated(settings):
            if comparison.arms[index].name not in names[:index]:
                yield self.at(
                    (*place, "arms", index), f"duplicate arm: {setting} stands under another name"
                )
        for index, arm in enumerate(comparison.arms):
            yield from self._mode(arm, (*place, "arms", index, "mode"))
        if comparison.baseline is None:
            yield self.at(
                place, f"comparison {comparison.name!r} names no baseline; arms: {', '.join(names)}"
            )
        elif comparison.baseline not in names:
            yield self.at(
                (*place, "baseline"),
                f"baseline {comparison.baseline!r} is no arm; "
                + known_words(comparison.baseline, names),
            )

    def _mode(self, arm: ArmSpec, place: Place) -> Iterator[str]:
        known = self.catalog.mode_names
        unknown = [name for name in arm.mode.split(BOTH) if name not in known]
        for name in unknown:
            yield self.at(place, f"unknown mode {name!r}; {known_words(name, known)}")
        if unknown:
            return
        try:
            wanted_by(arm.mode, self.catalog.families)
        except ValueError as error:
            yield self.at(place, f"arm {arm.name!r}: {error}")

    def _double(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        """What is wrong with the number of arms and the doubled one."""
        names = [arm.name for arm in comparison.arms]
        if comparison.size < 2:
            yield self.at(
                (*place, "arms"),
                "one arm alone has nothing to be compared with: add another, or aa",
            )
        if comparison.size > comparison.most_arms:
            yield self.at((*place, "aa"), f"at most {MAX_ARMS} arms, the doubled ones among them")
        for double, slowed in comparison.doubles:
            if double.name in names:
                word = "slowed_percent" if slowed else "aa"
                yield self.at((*place, word), f"the doubled arm's name {double.name!r} is taken")

    def _layouts(self, comparison: ComparisonSpec, blocks: int, place: Place) -> Iterator[str]:
        """What is wrong with kernels that are to be booted in several layouts."""
        if comparison.layouts == 1:
            return
        if comparison.layouts > blocks:
            yield self.at(
                (*place, "layouts"),
                f"{comparison.layouts} layouts in {blocks} blocks: each needs a block of its own",
            )
        for index, arm in enumerate(comparison.arms):
            if not arm.kernel:
                yield self.at(
                    (*place, "arms", index),
                    f"arm {arm.name!r} has no kernel: layouts are of kernels that were built here",
                )

    def _guest_kernels(self, comparison: ComparisonSpec, place: Place) -> Iterator[str]:
        for index, arm in enumerate(comparison.arms):
            if self.guest_of(arm).get(GUEST_KERNEL) == AS_HOST and not arm.kernel:
                yield self.at(
                    (*place, "arms", index),
                    f"arm {arm.name!r} has no kernel that its guests could run as well: name one",
                )


def _in_words(arm: ArmSpec) -> str:
    """All by which one arm differs from others."""
    method = f" by {arm.boot}" if arm.boot else ""
    return f"{arm.mode} on kernel {arm.kernel or 'default'}{method}"
