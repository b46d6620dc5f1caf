"""A ready-made spec for hosts of one's own: environment, hosts and kernel put in, the rest kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments.ready_made import ReadyMadeSpec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+~-]{0,99}", re.ASCII)
# What YAML reads as something else than text, or may: a number, nothing, true.
_PLAIN = re.compile(r"(?!(?:true|false|null)$)[A-Za-z][A-Za-z0-9._/+~-]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Edit:
    begin: int
    end: int
    text: str


def adapt(spec: ReadyMadeSpec, environment: str, hosts: Sequence[str], kernel: str = "") -> str:
    """The text of *spec* with each comparison on *hosts* of *environment*.

    *kernel*: of every arm, as a release or built/LABEL; empty: what the spec says. Comments stay,
    but those before the first key go, as they are about the file. Raises :class:`InvalidInput`
    for a kernel of a comparison without arms, and for a name that could be none.
    """
    for name in (environment, *hosts, *([kernel] if kernel else [])):
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f"{ascii(name)[:100]} is no name of an environment, a host or a kernel",
                hint="Letters, digits and ._/+~- make one.",
            )
    environment, kernel = _scalar(environment), kernel and _scalar(kernel)
    listed = [_scalar(host) for host in hosts]
    root = yaml.compose(spec.text, Loader=yaml.SafeLoader)
    edits = sorted(_edits(root, environment, listed, kernel), key=lambda edit: edit.begin)
    begin = root.start_mark.index
    pieces = [
        f"# From experiments/{spec.name}.yml, for {', '.join(hosts)} of {environment}.\n",
    ]
    for edit in edits:
        pieces += [spec.text[begin : edit.begin], edit.text]
        begin = edit.end
    return "".join([*pieces, spec.text[begin:]])


def _scalar(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f'"{name}"'


def _edits(
    root: yaml.MappingNode, environment: str, hosts: Sequence[str], kernel: str
) -> Iterator[_Edit]:
    yield _replaced(_value(root, "environment"), environment)
    for comparison in _value(root, "comparisons").value:
        yield _replaced(_value(comparison, "hosts"), f"[{', '.join(hosts)}]")
        if not kernel:
            continue
        arms = _find(comparison, "arms")
        if arms is None:
            raise InvalidInput(
                f"comparison {_value(comparison, 'name').value} has no arms that could be given a "
                "kernel",
                hint="Leave the kernel out, and name it in the file.",
            )
        for arm in arms.value:
            yield _with_kernel(arm, kernel)


def _with_kernel(arm: yaml.MappingNode, kernel: str) -> _Edit:
    stated = _find(arm, "kernel")
    if stated is not None:
        return _replaced(stated, kernel)
    if arm.flow_style:
        end = arm.end_mark.index - 1
        return _Edit(end, end, f", kernel: {kernel}")
    last = arm.value[-1][1].end_mark.index
    return _Edit(last, last, f"\n{' ' * arm.start_mark.column}kernel: {kernel}")


def _replaced(node: yaml.Node, text: str) -> _Edit:
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        # A list with an item a line: its end is where the next key begins.
        last = node.value[-1].end_mark.index
        return _Edit(node.start_mark.index, last, text)
    return _Edit(node.start_mark.index, node.end_mark.index, text)


def _find(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def _value(node: yaml.MappingNode, name: str) -> yaml.Node:
    value = _find(node, name)
    if value is None:
        raise InvalidInput(f"the spec has no {name}", hint="Choose another ready-made spec.")
    return value
