"""A small catalogue and specs over it, for tests that need no host."""

from __future__ import annotations

from pathlib import Path

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.measurement.fleet.service import HostVars, host_vars

CATALOG = Catalog(Path(__file__).parent / "fixtures" / "catalog")
HOSTS = {
    "lab": {
        "alpha": KnownHost("alpha", frozenset({"kvm"})),
        "beta": KnownHost("beta", frozenset()),
    }
}

SPEC = """\
name: small
question: What does it cost?
environment: lab
seed: 7
blocks: 2
comparisons:
  - name: knob
    hosts: [alpha]
    baseline: off
    arms:
      - {name: off, mode: knob/off}
      - {name: on, mode: knob/on}
    workloads:
      - workload: spin
        cases: {size: [1, 2]}
        iterations: 3
        warmup: 1
"""


def inventory(*names: str) -> dict[str, HostVars]:
    """Emulated hosts of those names."""
    return {
        name: host_vars(
            name, "lab", {"mitigauge_emulated": True, "mitigauge_class": "test"}, boot_timeout_s=60
        )
        for name in names
    }


def markers(canary: Path) -> list[str]:
    """Texts that create *canary* wherever one is taken for a template or a command."""
    touch = f"touch {canary}"
    return [
        f"{{{{ lookup('pipe', '{touch}') }}}}",
        f"{{{{ query('ansible.builtin.pipe', '{touch}') }}}}",
        f"{{% set x = lookup('pipe', '{touch}') %}}{{{{ x }}}}",
        f"{{# comment #}}{{{{ lookup('pipe', '{touch}') }}}}",
        f"# set x = lookup('pipe', '{touch}')",
        f"% set x = lookup('pipe', '{touch}')",
        f"!unsafe {{{{ lookup('pipe', '{touch}') }}}}",
        f"lookup('pipe', '{touch}')",
        "{{ 7 * 7 }}",
        f"$({touch})",
        f"`{touch}`",
        f"x; {touch};",
        f"x\n{touch}\n",
        f"@{canary}",
    ]
