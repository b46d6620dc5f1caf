"""Settings of a running kernel: written, kept, put back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.loading import load

module = load("ansible/roles/runtime_settings/library/runtime_settings.py")
KNOB = "proc/sys/kernel/knob"
PARAMETER = "sys/module/kvm/parameters/halt_poll_ns"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in ((KNOB, "0"), (PARAMETER, "200000")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text + "\n")
    return tmp_path


@pytest.fixture
def record(root: Path) -> Path:
    return root / "run" / "record.json"


def text(root: Path, name: str) -> str:
    return (root / name).read_text().strip()


def test_what_was_applied_goes_back_before_the_next(root: Path, record: Path) -> None:
    assert module.apply(root, record, {KNOB: "1"}) == {}
    assert text(root, KNOB) == "1"
    assert module.put_back(root, record) == [KNOB]
    assert module.apply(root, record, {PARAMETER: "0"}) == {}
    assert (text(root, KNOB), text(root, PARAMETER)) == ("0", "0")
    module.put_back(root, record)
    assert text(root, PARAMETER) == "200000"
    assert not record.exists()


def test_nothing_applied_is_nothing_to_put_back(root: Path, record: Path) -> None:
    assert module.put_back(root, record) == []
    assert module.apply(root, record, {}) == {}
    assert not record.exists()


def test_the_record_is_there_before_the_first_write(
    root: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(module, "keep", refuse)
    with pytest.raises(OSError, match="No space"):
        module.apply(root, record, {KNOB: "1"})
    assert text(root, KNOB) == "0"


def test_what_is_missing_is_named_and_the_rest_is_written(root: Path, record: Path) -> None:
    refused = module.apply(root, record, {"proc/sys/kernel/absent": "1", KNOB: "1"})
    assert refused == {"proc/sys/kernel/absent": "No such file or directory"}
    assert text(root, KNOB) == "1"


@pytest.mark.parametrize(
    "name", ["etc/passwd", "proc/sys/../../etc/passwd", "sys/module/kvm/parameters/../x", "/etc/x"]
)
def test_no_other_file_is_written(root: Path, record: Path, name: str) -> None:
    with pytest.raises(ValueError, match="neither a parameter of a module nor a sysctl"):
        module.apply(root, record, {name: "1"})


def test_a_record_that_is_no_record_names_the_way_out(root: Path, record: Path) -> None:
    record.parent.mkdir()
    record.write_text("[1]")
    with pytest.raises(module.SettingsError, match="reboot the host"):
        module.put_back(root, record)


def test_a_module_that_was_unloaded_is_no_error(root: Path, record: Path) -> None:
    module.apply(root, record, {PARAMETER: "0"})
    (root / PARAMETER).unlink()
    assert module.put_back(root, record) == []


@pytest.mark.parametrize(("state", "said"), [("applied", {"refused": {}}), ("restored", {})])
def test_the_module_applies_or_only_puts_back_as_it_is_asked(
    record: Path, monkeypatch: pytest.MonkeyPatch, state: str, said: dict[str, object]
) -> None:
    answers: list[dict[str, object]] = []

    class Asked:
        def __init__(self, **_: object) -> None:
            self.params = {"state": state, "record": str(record), "writes": {}}

        def exit_json(self, **answer: object) -> None:
            answers.append(answer)

        def fail_json(self, msg: str) -> None:
            raise AssertionError(msg)

    monkeypatch.setattr(module, "AnsibleModule", Asked)
    module.main()
    assert answers == [{"changed": False, "mitigauge": said}]
