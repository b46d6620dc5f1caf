"""Exact counts of a study's kernels, compared two at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.counted_group import CountedGroup
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.analysis.profiles.exact.repository import CaseInArm, counts_of_runs
from mitigauge.analysis.profiles.exact.stored_counts import counted_of
from mitigauge.analysis.profiles.exact.table import PriceList, exact_table
from mitigauge.core.settings import get_settings
from mitigauge.kernels import functions
from mitigauge.kernels.repository import of_releases
from mitigauge.kernels.service import noted_functions
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.studies import repository
from mitigauge.tracking.studies.costs import cost_of
from mitigauge.tracking.studies.kernel_sets import stands_for
from mitigauge.tracking.studies.repository import CountedArm
from mitigauge.tracking.studies.schemas import CountedKernels, KernelSet, PatchCost, PatchSize


class Counts:
    """What the kernels of a study were counted to run."""

    def __init__(self, session: Session, body: CountedKernels, blobs: BlobStore) -> None:
        self._session = session
        self._body = body
        self._blobs = blobs
        self._groups: dict[tuple[str, str, str], CountedGroup] = {}
        self._notes: dict[str, functions.Notes | None] = {}
        self._changed: dict[tuple[str, str], frozenset[str]] = {}

    def costs(self, before: KernelSet, after: KernelSet) -> list[PatchCost]:
        """What *after* runs more than *before*, case by case; both have kernels."""
        one, other = (stands_for(self._body.sets, each).release for each in (before, after))
        changed = self.changed(before, after)
        return [
            cost_of(
                exact_table(
                    title, self._group(one, host, key), self._group(other, host, key),
                    renamed={}, function="", prices=self._prices,
                ),
                self._body.mode,
                changed,
                self._protecting,
            )
            for host, key, title in self._cases
        ]  # fmt: skip

    def changed(self, before: KernelSet, after: KernelSet) -> frozenset[str]:
        """Functions whose code differs between them, new and gone ones too; none where no build
        noted its functions."""
        pair = before.release, after.release
        if pair not in self._changed:
            old, new = self._noted(pair[0]), self._noted(pair[1])
            found = functions.changed(old, new).functions if old and new else frozenset()
            self._changed[pair] = found
        return self._changed[pair]

    def alike(self, one: KernelSet, other: KernelSet, names: frozenset[str]) -> bool | None:
        """Whether both have the same code in the functions of those names."""
        a, b = self._noted(one.release), self._noted(other.release)
        return names.isdisjoint(functions.changed(a, b).functions) if a and b else None

    def size(self, before: KernelSet, after: KernelSet) -> PatchSize | None:
        """How much larger *after* is; None where no build noted its functions."""
        old, new = self._noted(before.release), self._noted(after.release)
        if not old or not new:
            return None
        return PatchSize(
            code=new.code_size - old.code_size,
            boot=new.boot_size - old.boot_size,
            data=new.data_size - old.data_size,
        )

    def _noted(self, release: str) -> functions.Notes | None:
        if release not in self._notes:
            digests = [each.functions_sha256 for each in of_releases(self._session, [release])]
            text = noted_functions(next(iter(digests), None), self._blobs)
            self._notes[release] = functions.notes_of(text) if text else None
        return self._notes[release]

    def _group(self, kernel: str, host: str, key: str) -> CountedGroup:
        place = kernel, host, key
        if place not in self._groups:
            self._groups[place] = self._read(kernel, host, key)
        return self._groups[place]

    def _read(self, kernel: str, host: str, key: str) -> CountedGroup:
        arms = [
            each for each in self._arms if (each.kernel, each.host, each.key) == (kernel, host, key)
        ]
        for arm in arms:
            of = CaseInArm(arm.run_id, arm.case_id, arm.arm_id)
            rows = self._counts.get(of)
            if rows:
                counted = counted_of(self._session, of, rows)
                return CountedGroup(arm.arm, _selection(arm), counted, ())
        of_none = _selection(arms[0]) if arms else Selection(0, 0, host, kernel)
        return CountedGroup(arms[0].arm if arms else kernel, of_none, None, ())

    @cached_property
    def _arms(self) -> list[CountedArm]:
        return repository.counted_arms(self._session, self._body.experiments)

    @cached_property
    def _cases(self) -> list[tuple[str, str, str]]:
        """Host, key and title of each case, each once."""
        return list({(each.host, each.key): (each.host, each.key, each.title)
                     for each in self._arms}.values())  # fmt: skip

    @cached_property
    def _counts(self) -> dict[CaseInArm, list[int]]:
        return counts_of_runs(self._session, list({each.run_id for each in self._arms}))

    @cached_property
    def _protecting(self) -> frozenset[str]:
        return frozenset(each.event for each in self._prices.events.values() if each.protects)

    @cached_property
    def _prices(self) -> PriceList:
        known = price_list()
        first = [name.strip() for name in get_settings().processors.split(",")]
        return replace(
            known,
            first=[name for name in first if name in known.processors],
        )


def _selection(arm: CountedArm) -> Selection:
    return Selection(0, arm.case_id, arm.host, arm.arm)
