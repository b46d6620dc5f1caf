"""Plays on this machine, without SSH, through the adapter."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import NotFound
from mitigauge.core.hostile_text import clean
from pipelines.adapters import ansible
from pipelines.adapters.ansible import (
    PlayCancelled,
    PlayEvent,
    PlayFailure,
    PlayTimedOut,
    PlayUnreachable,
    run_playbook,
)

INVENTORY = """
all:
  hosts:
    here: {ansible_connection: local}
    there: {ansible_connection: local}
    away: {ansible_host: 127.0.0.1, ansible_port: 1}
"""
# A module of ours: returns what it is told to.
ANSWER = """#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule

module = AnsibleModule({"answer": {"type": "dict"}, "changes": {"type": "bool"}})
module.exit_json(changed=module.params["changes"], mitigauge=module.params["answer"])
"""
PLAY = """
- name: A play
  hosts: all
  gather_facts: false
  tasks:
    - name: First
      answer:
        changes: true
        answer: {restored: {governor: powersave}, who: "{{ who }}"}
    - name: Second
      answer:
        changes: false
        answer: {restored: {boot_entry: true}, text: "a\\0b"}
"""
FAILING = """
- name: A play
  hosts: all
  gather_facts: false
  tasks:
    - name: Break it
      ansible.builtin.fail:
        msg: "no such knob \\e[2J"
"""
SLEEPING = """
- name: A play
  hosts: all
  gather_facts: false
  tasks:
    - name: Begin
      answer: {changes: false, answer: {}}
    - name: Hang
      ansible.builtin.command: sleep 4242{{ mark }}
"""


@pytest.fixture
def plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """Where plays can be put; hosts here and there are this machine, away is not reachable."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "answer.py").write_text(ANSWER)
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(INVENTORY)
    monkeypatch.setattr(ansible, "inventory_sources", lambda _: [inventory])
    return tmp_path


def run(plays: Path, text: str, host: str = "here", **options: Any) -> ansible.PlayResult:
    playbook = plays / "play.yml"
    playbook.write_text(text)
    options.setdefault("variables", {})
    return run_playbook(str(playbook), environment="lab", host=host, **options)


def sleeping(mark: str) -> bool:
    """Whether the play's command still runs."""
    wanted = f"sleep\0004242{mark}\0".encode()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes() == wanted:
                return True
        except OSError:
            continue  # ended while we looked
    return False


def test_answers_are_merged_and_events_told_as_they_come(plays: Path, home: Path) -> None:
    events: list[PlayEvent] = []
    result = run(plays, PLAY, variables={"who": "here"}, on_event=events.append)
    assert result.returned == {
        "restored": {"governor": "powersave", "boot_entry": True},
        "who": "here",
        "text": "a\N{REPLACEMENT CHARACTER}b",
    }
    assert (result.ok, result.changed) == (2, 1)
    assert [(e.task, e.status) for e in events] == [("First", "changed"), ("Second", "ok")]
    assert list((home / "ansible-runner").iterdir()) == []


def test_plays_of_two_hosts_run_in_threads_at_once(plays: Path) -> None:
    playbook = plays / "play.yml"
    playbook.write_text(PLAY)
    answers: dict[str, Any] = {}

    def one(host: str) -> None:
        answers[host] = run_playbook(
            str(playbook), environment="lab", host=host, variables={"who": host}
        ).returned["who"]

    threads = [threading.Thread(target=one, args=(host,)) for host in ("here", "there")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert answers == {"here": "here", "there": "there"}


def test_a_failure_names_task_host_and_what_was_said(plays: Path) -> None:
    with pytest.raises(PlayFailure, match=r"play.yml on here: task 'Break it' failed: no such"):
        run(plays, FAILING)


def test_an_unreachable_host_is_told_from_a_broken_play(plays: Path) -> None:
    with pytest.raises(PlayUnreachable, match="on away: unreachable"):
        run(plays, PLAY, host="away", variables={"who": "?"})


def test_an_unknown_host_is_a_failure_with_ansibles_words(plays: Path) -> None:
    with pytest.raises(PlayFailure, match="nowhere"):
        run(plays, FAILING, host="nowhere")


def test_an_unknown_environment_is_refused_with_the_known_ones(home: Path) -> None:
    with pytest.raises(NotFound, match="lab"):
        run_playbook("ping.yml", environment="moon", host="here", variables={})


def test_a_play_that_takes_too_long_is_stopped_with_all_it_started(plays: Path) -> None:
    with pytest.raises(PlayTimedOut, match="not done within 6 s"):
        run(plays, SLEEPING, variables={"mark": "1"}, timeout_s=6)
    assert not sleeping("1")


def test_a_play_whose_lease_is_lost_is_stopped_with_all_it_started(plays: Path, home: Path) -> None:
    with pytest.raises(PlayCancelled, match="the lease was lost"):
        run(plays, SLEEPING, variables={"mark": "2"}, check_alive=lambda: not sleeping("2"))
    assert not sleeping("2")
    assert list((home / "ansible-runner").iterdir()) == []


class DatabaseGone(Exception):
    """What writing an event may meet."""


def test_an_event_that_cannot_be_written_ends_the_play_and_is_raised(plays: Path) -> None:
    def write(event: PlayEvent) -> None:
        raise DatabaseGone

    with pytest.raises(DatabaseGone):
        run(plays, SLEEPING, variables={"mark": "3"}, on_event=write)
    assert not sleeping("3")


def test_a_lease_that_cannot_be_asked_for_ends_the_play_and_is_raised(plays: Path) -> None:
    def ask() -> bool:
        if sleeping("4"):
            raise DatabaseGone
        return True

    with pytest.raises(DatabaseGone):
        run(plays, SLEEPING, variables={"mark": "4"}, check_alive=ask)
    assert not sleeping("4")


def test_what_a_host_says_cannot_carry_control_characters() -> None:
    said = {"a\0": ["\x1b[2J", 1, None, {"deep": "x\ud800y"}], "fine": "Grüße\n\ttab"}
    gone = "\N{REPLACEMENT CHARACTER}"
    assert clean(said) == {
        f"a{gone}": [f"{gone}[2J", 1, None, {"deep": f"x{gone}y"}],
        "fine": "Grüße\n\ttab",
    }
