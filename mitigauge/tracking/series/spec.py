"""One of our own specs, with the kernels of a revision put in. Pure.

An arm of such a spec asks for ``kernel: series/this`` (the revision), ``series/before`` (the one
before it) or ``series/base`` (without any patch). Nothing of a series is put in but releases of
kernels that were built here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.terms import LAYOUTS
from mitigauge.core.yaml_file import parse_yaml

PREFIX = "series/"
PLACES = ("this", "before", "base")
# A spec's name and a label together stay within what a name may be.
LONGEST_NAME = 60


def places_in(text: str, name: str) -> set[str]:
    """Which kernels a spec asks for. Raises InvalidInput for one that asks for no revision."""
    found = {arm["kernel"].removeprefix(PREFIX) for _, arm in _arms(parse_yaml(text, name).data)}
    unknown = sorted(found - set(PLACES))
    if unknown:
        raise InvalidInput(
            f"{name}: unknown kernel {PREFIX}{unknown[0][:40]}",
            hint=f"Known: {', '.join(PREFIX + place for place in PLACES)}.",
        )
    if "this" not in found:
        raise InvalidInput(
            f"{name}: no arm asks for `kernel: {PREFIX}this`",
            hint="A series is measured by a spec whose arms run on its kernel.",
        )
    return found


def layouts_in(text: str, name: str, counted: Collection[str]) -> dict[str, int]:
    """In how many layouts each comparison's kernels are booted, by its name.

    What the spec says; else 3 where kernels are compared with one another on a host that is not
    *counted* (names of those whose time counts instructions, which alignment does not move).
    """
    data = parse_yaml(text, name).data
    asked: dict[str, set[str]] = {}
    for comparison, arm in _arms(data):
        asked.setdefault(comparison, set()).add(arm["kernel"])
    found = {}
    for comparison in data.get("comparisons", []):
        of = str(comparison.get("name", ""))
        real = any(host not in counted for host in comparison.get("hosts", []))
        usual = LAYOUTS if real and len(asked.get(of, ())) > 1 else 1
        found[of] = int(comparison.get("layouts", usual))
    return found


def filled(
    text: str,
    name: str,
    kernels: Mapping[str, str],
    *,
    label: str,
    layouts: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """The spec as YAML with releases for places; an arm whose kernel there is not is left out.

    *layouts*: as :func:`layouts_in` has them. A comparison without its baseline, or with one arm
    alone, is left out too. Raises InvalidInput where nothing is left.
    """
    data = parse_yaml(text, name).data
    comparisons = []
    for comparison in data.get("comparisons", []):
        arms = [_put(arm, kernels) for arm in comparison.get("arms", [])]
        kept = [arm for arm in arms if not str(arm.get("kernel", "")).startswith(PREFIX)]
        names = {arm.get("name") for arm in kept}
        alone = len(kept) + bool(comparison.get("aa")) < 2
        if comparison.get("baseline") in names and not alone:
            several = layouts.get(str(comparison.get("name", "")), 1)
            more = {"layouts": several} if several > 1 else {}
            comparisons.append({**comparison, **more, "arms": kept})
    if not comparisons:
        raise InvalidInput(
            f"{name}: no comparison is left for {label}",
            hint="Its arms ask for kernels that there are not: the first revision has none before.",
        )
    begins = str(data.get("name", "series"))[: LONGEST_NAME - len(label) - 1]
    whole = {**data, "name": f"{begins}-{label.replace('+', '-')}", "comparisons": comparisons}
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=96))


def _put(arm: Mapping[str, Any], kernels: Mapping[str, str]) -> dict[str, Any]:
    place = str(arm.get("kernel", "")).removeprefix(PREFIX)
    if not str(arm.get("kernel", "")).startswith(PREFIX) or place not in kernels:
        return dict(arm)
    return {**arm, "kernel": kernels[place]}


def _arms(data: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Arms that ask for a series' kernel, with their comparison's name."""
    comparisons = data.get("comparisons", [])
    return [
        (str(comparison.get("name", "")), arm)
        for comparison in (comparisons if isinstance(comparisons, list) else [])
        if isinstance(comparison, Mapping) and isinstance(comparison.get("arms"), list)
        for arm in comparison["arms"]
        if isinstance(arm, Mapping) and str(arm.get("kernel", "")).startswith(PREFIX)
    ]
