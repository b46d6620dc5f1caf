"""Roles by the groups that a trusted proxy names."""

from __future__ import annotations

import pytest

from mitigauge.access.groups import groups_in, read_roles, role_of
from mitigauge.access.roles import Role
from mitigauge.core.errors import InvalidInput


def test_groups_are_mapped_to_roles_in_words() -> None:
    roles = read_roles(" kernel-team=submitter, cn=perf leads=approver,,*=viewer ")
    assert roles == {
        "kernel-team": Role.SUBMITTER,
        "cn=perf leads": Role.APPROVER,
        "*": Role.VIEWER,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kernel-team", "has 'kernel-team'"),
        ("kernel-team=root", "has 'kernel-team=root'"),
        ("kernel-team=Admin", "has 'kernel-team=Admin'"),
        ("=admin", "has '=admin'"),
        ("a=viewer,a=admin", "the group 'a' twice"),
        ("*=admin", "makes everybody admin"),
        ("*=submitter", "makes everybody submitter"),
        (",", "names no group"),
    ],
)
def test_a_map_that_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match="MITIGAUGE_PROXY_ROLES") as refused:
        read_roles(text)
    assert why in refused.value.message
    assert refused.value.hint


def test_the_highest_role_counts_and_nobody_has_one_by_chance() -> None:
    roles = read_roles("readers=viewer,kernel-team=submitter,perf-leads=approver,ci=runner")
    assert role_of(["readers", "perf-leads", "kernel-team"], roles) is Role.APPROVER
    assert role_of(["ci", "readers"], roles) is Role.RUNNER
    assert role_of(["Kernel-Team", "kernel-team ", ""], roles) is None
    assert role_of([], roles) is None
    assert role_of(["strangers"], roles | {"*": Role.VIEWER}) is Role.VIEWER
    assert role_of(["kernel-team"], roles | {"*": Role.VIEWER}) is Role.SUBMITTER


def test_groups_come_with_commas_or_as_several_headers() -> None:
    assert groups_in(["a, b b", "c,,"]) == {"a", "b b", "c"}
    # Nobody is everybody by a group that is called so.
    assert groups_in(["*", ""]) == set()
