"""What a spec, a host or our inventory values say is never evaluated as a template by a play.

The playbooks and roles are the real ones; only their modules are replaced, by one that says
what it was given, so that nothing is done to the machine that runs the test.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean
from mitigauge.core.wire.case import Case
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.inventory_values import InventoryValues
from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters import ansible, ansible_host
from pipelines.adapters.ansible import PlayFailure, run_playbook
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.host_control import LabFault, Needs
from tests.specs import markers

REPOSITORY = Path(__file__).parents[2]
# Not a module in Ansible's newer form, which would check its arguments.
ECHO = """#!/usr/bin/python3
# WANT_JSON
import json, sys

given = json.load(open(sys.argv[1]))
given = {key: value for key, value in given.items() if not key.startswith("_ansible")}
print(json.dumps({
    "changed": False, "missing": [], "lacking": [], "missing_packages": [],
    "mitigauge": {
        "@NAME@": given,
        "proof": {"boot_id": None, "kernel_release": "6.1"},
        "boot": {"kernel_release": "6.1", "previous_boot_id": None},
        "job": {"state": "running"},
    },
}))
"""
PRINT = """
- name: Say what was handed over
  hosts: all
  gather_facts: false
  tasks:
    - name: Say it
      echo: {value: "{{ handed }}"}
"""


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that appears once a marker is evaluated."""
    return tmp_path / "evaluated"


@pytest.fixture
def plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """The project's plays, to be run on this machine with modules that only answer."""
    copy = tmp_path / "ansible"
    shutil.copytree(REPOSITORY / "ansible", copy, ignore=shutil.ignore_patterns("envs"))
    (tmp_path / "workloads").symlink_to(REPOSITORY / "workloads")
    for plugin in copy.glob("roles/*/action_plugins/*.py"):
        _echo(plugin.parents[1] / "library", plugin.stem)
        plugin.unlink()
    for module in copy.glob("roles/*/library/*.py"):
        _echo(module.parent, module.stem)
    _echo(copy / "playbooks" / "library", "echo")
    (copy / "playbooks" / "print.yml").write_text(PRINT)
    write_inventory(tmp_path, {})
    monkeypatch.setattr(ansible, "ANSIBLE", copy)
    monkeypatch.setattr(ansible, "inventory_sources", lambda _: [tmp_path / "hosts.yml"])
    return copy


def _echo(library: Path, name: str) -> None:
    library.mkdir(exist_ok=True)
    (library / f"{name}.py").write_text(ECHO.replace("@NAME@", name))


def write_inventory(where: Path, variables: dict[str, Any]) -> None:
    """One host, this machine."""
    host = {"ansible_connection": "local", **variables}
    (where / "hosts.yml").write_text(json.dumps({"all": {"hosts": {"here": host}}}))


def play(playbook: str, variables: dict[str, Any]) -> Any:
    return run_playbook(playbook, environment="lab", host="here", variables=variables).returned


def test_no_value_handed_to_a_play_is_evaluated(plays: Path, canary: Path) -> None:
    for said in (markers(canary), {"deep": [{marker: marker} for marker in markers(canary)]}):
        assert play("print.yml", {"handed": said})["echo"]["value"] == said
    assert not canary.exists()


# What YAML or Ansible could take for something else than the text it is.
ODD_TEXTS = [
    *(
        "0123",
        "1e3",
        "off",
        "null",
        "~",
        "",
        "=",
        "<<",
        "2026-01-01",
        " a ",
        "- a",
        "{}",
        "&a",
        "*a",
    ),
    *(
        "é\U0001f600\u2028\x85",
        "a\nb\n",
        "\x1b[2J",
        "x" * 5000,
        "__ansible_unsafe",
        "__ansible_vault",
    ),
    *(
        "__ansible_type",
        "!unsafe x",
        "!vault x",
        "'",
        '"',
        "\\",
        "a: b",
        "# a",
        "%YAML 1.1",
        "---",
        "...",
    ),
]


def test_a_text_handed_to_a_play_stays_that_text(plays: Path) -> None:
    keys = [text for text in ODD_TEXTS if not text.startswith("__ansible_")]
    said = [*ODD_TEXTS, {key: key for key in keys}, 1e-05, 1e300, -0.5, 2**63, True, None]
    assert play("print.yml", {"handed": said})["echo"]["value"] == clean(said)


@pytest.mark.parametrize(
    "variables",
    [
        {"handed": float("nan")},
        {"handed": [{"a": "x\0y"}]},
        {"handed": "\ud800"},
        {"handed": {1: "a"}},
        {"handed": [{"__ansible_type": "TrustedAsTemplate"}]},
        {"handed": b"bytes"},
        {"ansible_connection": "local"},
        {"{{ 1 }}": "a"},
        {"a\nb": "a"},
    ],
)
def test_what_cannot_be_handed_over_as_it_is_is_refused(
    plays: Path, variables: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="play"):
        play("print.yml", variables)


HOSTILE = """#!/usr/bin/python3
# WANT_JSON
import json

print(json.dumps(json.loads(@ANSWER@)))
"""
AFTER_A_HOSTILE_ANSWER = """
- name: Ask a host, then use what it said and what it must not have changed
  hosts: all
  gather_facts: false
  tasks:
    - name: Ask
      hostile: {}
      register: said
    - name: Use it
      include_role: {name: victim}
"""
VICTIM = """
- name: Use it
  echo:
    own: "{{ victim_own }}"
    of_the_inventory: "{{ mitigauge_cpus }}"
    handed: "{{ handed }}"
    said: "{{ said.text }}"
    # A template that a template gives is the worst case.
    nested: "{{ said.list | map(attribute='text') | join(' ') }}"
    facts: "{{ ansible_facts | default({}) }}"
"""


@pytest.fixture
def answering(plays: Path) -> Callable[[dict[str, Any]], Any]:
    """Runs a play whose first module, on a hostile host, gives the answer that is passed."""
    role = plays / "roles" / "victim"
    for part in ("tasks", "defaults"):
        (role / part).mkdir(parents=True)
    (role / "tasks" / "main.yml").write_text(VICTIM)
    (role / "defaults" / "main.yml").write_text("victim_own: ours\n")
    playbook = plays / "playbooks" / "after.yml"
    playbook.write_text(AFTER_A_HOSTILE_ANSWER)
    write_inventory(plays.parent, {"mitigauge_cpus": "0-1"})

    def run(answer: dict[str, Any]) -> Any:
        text = HOSTILE.replace("@ANSWER@", repr(json.dumps(answer)))
        (plays / "playbooks" / "library" / "hostile.py").write_text(text)
        return play("after.yml", {"handed": "ours"})["echo"]

    return run


def test_a_hosts_answer_is_neither_evaluated_nor_changes_our_variables(
    answering: Callable[[dict[str, Any]], Any], canary: Path
) -> None:
    marker = markers(canary)[0]
    ours = ("victim_own", "mitigauge_cpus", "handed", "victim_path", "inventory_hostname")
    names = (*ours, "ansible_connection", "ansible_ssh_common_args", "ansible_shell_executable")
    taken = dict.fromkeys(names, marker)
    said = answering(
        {
            "text": marker,
            "list": [{"text": text} for text in markers(canary)],
            **taken,
            "ansible_facts": {
                **taken,
                "ansible_facts": taken,
                "discovered_interpreter_python": marker,
            },
            "_ansible_facts": taken,
            "_ansible_notify": [marker],
            "_ansible_no_log": marker,
            "add_host": {"host_name": "here", "host_vars": taken, "groups": ["all"]},
            "add_group": marker,
            "ansible_stats": {"data": taken},
            "invocation": taken,
            "warnings": [marker],
            "deprecations": [{"msg": marker, "version": "9"}],
        }
    )
    assert (said["own"], said["of_the_inventory"], said["handed"]) == ("ours", "0-1", "ours")
    assert said["said"] == marker
    assert said["nested"] == clean(" ".join(markers(canary)))
    assert not canary.exists()


def test_a_host_cannot_say_that_its_answer_is_to_be_trusted(
    answering: Callable[[dict[str, Any]], Any], canary: Path
) -> None:
    marker = markers(canary)[0]
    tagged = {
        "__ansible_type": "_AnsibleTaggedStr",
        "value": marker,
        "tags": [{"__ansible_type": "TrustedAsTemplate"}],
    }
    for answer in (tagged, {"__ansible_unsafe": marker}, {"__ansible_vault": marker}):
        try:
            said = answering({"text": answer, "list": []})
        except PlayFailure:
            continue
        assert said["said"] in (marker, answer)
    assert not canary.exists()


GUEST = {
    "mitigauge_guest_image": "/srv/it's a guest,v2.qcow2",
    "mitigauge_guest_ssh": {"user": "ops", "key_file": "/etc/my key"},
}


def a_host() -> AnsibleHost:
    values = {"mitigauge_emulated": True, "mitigauge_cpus": "0-1", **GUEST}
    return AnsibleHost(host_vars("here", "lab", values, boot_timeout_s=60), SilentLog())


def evil_inventory(canary: Path) -> dict[str, Any]:
    """Markers in every value of ours, as in an inventory that changed after it was checked."""
    marker = markers(canary)[0]
    return {
        f"mitigauge_{field.alias or name}": marker
        for name, field in InventoryValues.model_fields.items()
    }


def test_whatever_the_service_asks_of_a_host_reaches_it_as_it_was_said(
    plays: Path, canary: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[dict[str, Any]] = []

    def keep(*arguments: Any, **named: Any) -> ansible.PlayResult:
        result = run_playbook(*arguments, **named)
        given.append(dict(result.returned))
        return result

    monkeypatch.setattr(ansible_host, "run_playbook", keep)
    write_inventory(plays.parent, evil_inventory(canary))
    host, all_markers = a_host(), markers(canary)
    some, text = all_markers[:3], " ".join(all_markers)
    cases = [
        Case(
            case_id=marker,
            workload=marker,
            iterations=1,
            warmup=0,
            timeout_s=9,
            profile_hz=99,
            parameters={marker: marker, "deep": {"er": [marker]}},
        )
        for marker in all_markers
    ]
    directory = tmp_path / all_markers[-2].strip()
    needs = Needs(some, ["syscall"], booted=some, guest=True, profiled=True, guest_profiled=True)
    host.prepare(replace(needs, guest_kernels=some))
    host.arm(nonce=text, cmdline=text, kernel=text, method=BootMethod.RESET)
    host.start(text, cases, directory)
    host.poll(text, directory)
    host.verify()
    host.look()
    host.restore()
    prepared, armed, started, polled, *_ = map(clean, given)
    assert not canary.exists()
    assert prepared["kernel_list"]["wanted"] == clean([f"linux-image-{one}" for one in some])
    assert prepared["kernel_list"]["booted"] == prepared["kernel_list"]["wanted"]
    assert prepared["guest_image"]["cpus"] == "0"
    # Of the last guest, that of the last kernel that arms have guests run.
    assert prepared["guest_image"]["kernel"] == clean(some[-1])
    assert prepared["guest_keeper"]["state"] == "present"
    disk = prepared["guest_disk"]
    assert disk["image"] == GUEST["mitigauge_guest_image"]
    assert {key: disk[key] for key in ("user", "key_file")} == GUEST["mitigauge_guest_ssh"]
    assert [armed["boot_entry"][name] for name in ("nonce", "cmdline", "kernel")] == [
        clean(text)
    ] * 3
    assert [case["parameters"] for case in started["workload_fetch"]["cases"]] == clean(
        [case["parameters"] for case in cases]
    )
    assert started["workload_fetch"]["cpus"] == "0-1"
    assert started["workload_fetch"]["nmi_source"] == ""
    for job in (started, polled):
        assert job["workload_fetch"]["job"] == clean(text)
        assert job["workload_fetch"]["directory"] == str(directory)


@pytest.mark.long("a real play for each hostile name")
def test_a_workload_of_a_hostile_name_is_not_staged(plays: Path, canary: Path) -> None:
    for marker in markers(canary):
        with pytest.raises(LabFault, match="no workload"):
            a_host().prepare(Needs([], [marker]))
    assert not canary.exists()


@pytest.mark.parametrize(
    "host", ["all", "*", "!x", "@/etc/passwd", "here:there", "~h", "{{ x }}", ""]
)
def test_a_play_reaches_no_pattern_of_hosts(plays: Path, host: str) -> None:
    with pytest.raises(PlayFailure, match="is no host's name"):
        run_playbook("print.yml", environment="lab", host=host, variables={"handed": ""})


def test_no_role_reads_what_a_host_says_of_itself() -> None:
    files = [
        *REPOSITORY.glob("ansible/playbooks/*.yml"),
        *REPOSITORY.glob("ansible/roles/*/*/*.yml"),
        *REPOSITORY.glob("ansible/envs/*/**/*.yml"),
    ]
    assert len(files) > 30
    for file in files:
        assert not re.search(
            r"ansible_facts|gather_facts: true|hostvars|ansible_local", file.read_text()
        ), file
        if "envs" not in file.parts:
            assert not re.search(r"\{\{[^}]*\bansible_", file.read_text()), file
