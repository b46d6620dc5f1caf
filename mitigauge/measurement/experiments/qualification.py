"""A spec that asks of a host how often the verdicts of another spec are right there. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.case import SLOWED_PERCENT
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments.spec_model import ExperimentSpec

PREFIX = "qualify-"
LONGEST_NAME = 60
# Hexadecimal digits of what is asked: specs whose names begin alike are told apart by them.
DIGITS = 8
# Of a comparison: what it measures by. Its arms and all that is about them are left out.
_KEPT = ("name", "baseline", "blocks", "layouts")


def qualifying_spec(text: str, name: str, host: str, slowed_percent: int = SLOWED_PERCENT) -> str:
    """The spec *text* on one host, of baselines alone: each also doubled, and also slowed.

    Comparisons that are not of *host* are left out. *name*: of the file. Raises InvalidInput for
    what is no spec, is not of the host, or has a comparison whose baseline is not one of its arms.
    """
    data = parse_yaml(text, name).data
    comparisons = data.get("comparisons") if isinstance(data, Mapping) else None
    if not isinstance(comparisons, list) or not all(isinstance(c, Mapping) for c in comparisons):
        raise InvalidInput(
            f"{name}: no list of comparisons", hint="Ready-made specs are in experiments/."
        )
    of_host = [c for c in comparisons if host in _names(c.get("hosts"))]
    if not of_host:
        hosts = sorted({of for c in comparisons for of in _names(c.get("hosts"))})
        raise InvalidInput(
            f"{name} measures nothing on {host}",
            hint=f"Its hosts are {', '.join(hosts) or 'none'}: name one of them, or add {host}.",
        )
    kept: dict[str, Any] = {key: data[key] for key in ("environment", "blocks") if key in data}
    asked = {
        **kept,
        "comparisons": _once(
            {
                **{key: c[key] for key in _KEPT if key in c},
                "workloads": [_without_profile(of) for of in c.get("workloads") or []],
                "hosts": [host],
                "arms": [_baseline_of(c, name)],
                "aa": True,
                "slowed_percent": slowed_percent,
            }
            for c in of_host
        ),
    }
    digest = sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:DIGITS]
    short = f"{PREFIX}{data.get('name', '')}"[: LONGEST_NAME - DIGITS - 1]
    whole: dict[str, Any] = {
        "name": f"{short}-{digest}",
        "question": f"How often are verdicts of {data.get('name', name)} right on {host}?",
        **asked,
    }
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=96))


def fewest_looked_at(spec_text: str) -> int:
    """The fewest blocks of a comparison of the spec *spec_text*, as it was made here."""
    spec = parse_yaml(spec_text, "the spec").data
    default = spec.get("blocks", ExperimentSpec.model_fields["blocks"].default)
    return min(int(comparison.get("blocks", default)) for comparison in spec["comparisons"])


def _once(comparisons: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those that ask the same under another name: their baselines would be booted twice."""
    kept: dict[str, dict[str, Any]] = {}
    for each in comparisons:
        rest = {key: value for key, value in each.items() if key != "name"}
        kept.setdefault(json.dumps(rest, sort_keys=True, default=str), each)
    return list(kept.values())


def _baseline_of(comparison: Mapping[str, Any], name: str) -> dict[str, Any]:
    baseline = comparison.get("baseline")
    for arm in comparison.get("arms") or []:
        if isinstance(arm, Mapping) and arm.get("name") == baseline is not None:
            return dict(arm)
    families = _names(comparison.get("cross"))
    modes = str(baseline).split(".")
    if families and len(modes) == len(families):
        crossed = "+".join(f"{of}/{mode}" for of, mode in zip(families, modes, strict=True))
        return {"name": baseline, "mode": crossed}
    raise InvalidInput(
        f"{name}: comparison {comparison.get('name')!r} has no arm that is its baseline",
        hint="A factorial design has none: write a spec with `baseline` and `arms`."
        if "factorial" in comparison
        else f"Its baseline is {baseline}; arms that are crossed have a mode of each family, with "
        f"a point between them, as {'.'.join(['off'] * len(families))}."
        if families
        else f"Its baseline is {baseline}: name one of its arms so.",
    )


def _without_profile(workload: Any) -> Any:
    """No verdict rests on a profile, and its passes take longer than the timed ones."""
    if not isinstance(workload, Mapping):
        return workload
    return {key: value for key, value in workload.items() if key != "profile"}


def _names(given: Any) -> list[str]:
    return [str(name) for name in given] if isinstance(given, list) else []
