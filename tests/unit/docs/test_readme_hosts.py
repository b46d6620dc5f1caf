"""README's steps for a host are those that the long test on a bare host follows.

Here, where every change of README is tested, and not only where there are hours for a lab.
"""

from __future__ import annotations

from tests.lab.readme_reader import commands, steps
from tests.unit.docs.pages import spans


def test_readme_shows_what_the_test_on_a_bare_host_follows() -> None:
    shown = [[command.split()[1] for command in commands(step)] for step in steps()]
    assert shown == [
        [], ["host"], ["host"], [], ["serve", "worker", "experiment", "experiment"],
        ["experiment"], ["host"],
    ]  # fmt: skip
    assert "make setup" in spans(steps()[0])
    assert {"ansible/envs/example", "ansible/envs/NAME"} <= set(spans(steps()[1]))
