"""The experiments that the bench runs."""

from __future__ import annotations

_EFFECT = """
name: {name}
question: Does the lab measure the same beside busy neighbours?
environment: lab
seed: {seed}
comparisons:
  - name: bhi-syscall
    hosts: [lab-intel]
    blocks: {blocks}
    baseline: off
    arms:
      - {{name: off, mode: spectre-bhi/off}}
      - {{name: loop, mode: spectre-bhi/loop}}
    workloads:
      - workload: syscall
        cases: {{test: basic, loops: 300000}}
        iterations: 3
"""
_EXITS = """
  - name: vmscape-exits
    hosts: [lab-amd]
    blocks: {blocks}
    baseline: off
    arms:
      - {{name: off, mode: vmscape/off}}
      - {{name: ibpb, mode: vmscape/ibpb}}
    workloads:
      - workload: exits
        cases: {{to: [userspace, kernel]}}
        iterations: 3
"""
_AA = """
name: bench-aa
question: How often does this lab call two boots of the same mode different?
environment: lab
seed: 20261121
blocks: {blocks}
comparisons:
  - name: aa-syscall
    hosts: [lab-intel]
    baseline: loop
    aa: true
    arms: [{{name: loop, mode: spectre-bhi/loop}}]
    workloads:
      - {{workload: syscall, cases: {{test: basic, loops: 300000}}, iterations: 3}}
  - name: aa-exits
    hosts: [lab-amd]
    baseline: ibpb
    aa: true
    arms: [{{name: ibpb, mode: vmscape/ibpb}}]
    workloads:
      - {{workload: exits, cases: {{to: [userspace, kernel]}}, iterations: 3}}
"""


def idle(blocks: int) -> str:
    """The effect of the clearing loop, and the software of IBPB, on the machine as it is."""
    return _EFFECT.format(name="bench-idle", seed=1, blocks=blocks) + _EXITS.format(blocks=blocks)


def beside_load(blocks: int) -> str:
    """The effect of the clearing loop once more, for when the machine is busy."""
    return _EFFECT.format(name="bench-busy", seed=2, blocks=blocks)


def same_mode(blocks: int) -> str:
    """Three cases of one mode against itself."""
    return _AA.format(blocks=blocks)
