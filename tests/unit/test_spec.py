"""Specs are refused before anything runs, with file, line and the known names."""

from __future__ import annotations

import dataclasses
import re

import pytest

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.case import BY_ARM
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_model import ExperimentSpec, cases_of
from mitigauge.measurement.modes.crossing import wanted_by
from mitigauge.measurement.modes.settings import GuestKernel, GuestVcpus, Settings
from mitigauge.measurement.workloads.definitions import Parameter
from tests.specs import CATALOG, HOSTS, SPEC


def read(text: str) -> ExperimentSpec:
    return read_spec(text, name="small.yml", catalog=CATALOG, hosts=HOSTS)


def refusal(old: str, new: str) -> str:
    assert old in SPEC
    with pytest.raises(InvalidInput) as refused:
        read(SPEC.replace(old, new, 1))
    return refused.value.message


def test_a_good_spec_is_read_with_off_as_a_word() -> None:
    spec = read(SPEC)
    assert [arm.name for arm in spec.comparisons[0].arms] == ["off", "on"]
    assert spec.comparisons[0].baseline == "off"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("knob/on", "knob/onn", "small.yml:12: unknown mode 'knob/onn'; did you mean 'knob/on'?"),
        ("knob/on", "knob/onn", "knob/loop, knob/off, knob/on"),
        ("workload: spin", "workload: spinn", "small.yml:14: unknown workload 'spinn'"),
        ("workload: spin", "workload: spinn", "known: jitter, packets, spin"),
        ("[alpha]", "[alhpa]", "small.yml:8: unknown host 'alhpa'; did you mean 'alpha'?"),
        ("[alpha]", "[alhpa]", "known: alpha, beta"),
        ("[alpha]", "[alpha, alpha]", "small.yml:8: host 'alpha' stands twice"),
        ("environment: lab", "environment: lob", "small.yml:3: unknown environment 'lob'"),
        ("    baseline: off\n", "", "small.yml:7: comparison 'knob' names no baseline; arms: off"),
        ("baseline: off", "baseline: of", "small.yml:9: baseline 'of' is no arm"),
        ("{name: on,", "{name: off,", "small.yml:12: duplicate arm 'off'"),
        ("mode: knob/on", "mode: knob/off", "small.yml:12: duplicate arm: knob/off on kernel"),
        ("iterations: 3", "primary: [tme]", "small.yml:16: unknown metric 'tme'"),
        ("iterations: 3", "primary: [tme]", "known: time"),
        ("size: [1, 2]", "size: [1, 3]", "small.yml:15: size: 3 refused; known values: 1, 2, 4"),
        ("size: [1, 2]", "sise: 1", "workload 'spin' has no parameter 'sise'"),
        ("iterations: 3", "iterations: 0", "small.yml:16: comparisons.0.workloads.0.iterations"),
        ("iterations: 3", "profile: {hz: 0}", "small.yml:16: comparisons.0.workloads.0.profile.hz"),
        ("iterations: 3", "profile: {hz: 5001}", "less than or equal to 5000"),
        ("iterations: 3", "profile: {hz: '99'}", "should be a valid integer"),
        ("iterations: 3", "profile: {rate: 9}", "small.yml:16: comparisons.0.workloads.0.profile"),
        ("iterations: 3", "profile: 99", "small.yml:16: comparisons.0.workloads.0.profile: "),
        (
            "iterations: 3",
            "profile: 99",
            "99 refused; say true, false, or {hz: 99, guest: true, off_cpu: true}",
        ),
        ("iterations: 3", "profile: yes", "'yes' refused; say true, false"),
        (
            "iterations: 3",
            "profile: {guest: true}",
            "small.yml:16: workload 'spin' has no guest to profile; with one: jitter, packets",
        ),
        ("iterations: 3", "profile: {guest: 1}", "should be a valid boolean"),
        ("seed: 7", "sede: 7", "small.yml:4: sede: Extra inputs"),
        ("blocks: 2", "blocks: 2\nblocks: 3", "small.yml:6: not valid YAML"),
        ("name: small", "name: [small", "not valid YAML"),
    ],
)
def test_a_bad_spec_is_refused_with_its_line(old: str, new: str, expected: str) -> None:
    assert expected in refusal(old, new)


DOUBLED = SPEC.replace("    baseline: off\n", "    baseline: off\n    aa: true\n")


def test_a_doubled_arm_is_the_baseline_under_another_name() -> None:
    [comparison] = read(DOUBLED).comparisons
    [(double, slowed_percent)] = comparison.doubles
    assert (double.name, double.mode, slowed_percent) == ("off-again", "knob/off", 0)
    assert read(SPEC).comparisons[0].doubles == []


def test_a_baseline_can_be_slowed_by_a_known_part() -> None:
    [comparison] = read(DOUBLED.replace("aa: true", "aa: true\n    slowed_percent: 3")).comparisons
    names = [(arm.name, arm.mode, percent) for arm, percent in comparison.doubles]
    assert names == [("off-again", "knob/off", 0), ("off-slowed", "knob/off", 3)]
    assert comparison.size == 4
    for wrong in ("-1", "21", "2.5", "true"):
        with pytest.raises(InvalidInput, match=r"comparisons\.0\.slowed_percent"):
            read(DOUBLED.replace("aa: true", f"slowed_percent: {wrong}"))


def test_an_arm_can_be_compared_with_itself_by_kexec() -> None:
    [comparison] = read(DOUBLED.replace("aa: true", "aa: kexec")).comparisons
    [(double, _)] = comparison.doubles
    assert (double.name, double.boot) == ("off-by-kexec", "kexec")
    assert comparison.size == 3
    methods = [comparison.method_of(arm) for arm in [*comparison.arms, double]]
    assert methods == ["reset", None, "kexec"]
    with pytest.raises(InvalidInput, match=r"comparisons\.0\.aa"):
        read(DOUBLED.replace("aa: true", "aa: warm"))


def test_with_its_double_one_arm_is_enough() -> None:
    alone = "      - {name: on, mode: knob/on}\n"
    assert len(read(DOUBLED.replace(alone, "")).comparisons[0].arms) == 1
    with pytest.raises(InvalidInput, match="one arm alone has nothing to be compared with"):
        read(SPEC.replace(alone, ""))


def test_the_doubled_arms_name_is_not_to_be_taken() -> None:
    with pytest.raises(InvalidInput, match="the doubled arm's name 'off-again' is taken"):
        read(DOUBLED.replace("name: on,", "name: off-again,"))


def test_the_doubled_arm_counts_as_one_of_nine() -> None:
    more = "".join(f"      - {{name: k{i}, mode: knob/on, kernel: '6.{i}'}}\n" for i in range(7))
    nine = SPEC.replace("    workloads:\n", f"{more}    workloads:\n")
    assert len(read(nine).comparisons[0].arms) == 9
    with pytest.raises(InvalidInput, match="at most 9 arms, the doubled ones among them"):
        read(nine.replace("    baseline: off\n", "    baseline: off\n    aa: true\n"))


def test_every_fault_is_reported_at_once() -> None:
    broken = SPEC.replace("knob/on", "nob/on").replace("[alpha]", "[gamma]")
    with pytest.raises(InvalidInput) as refused:
        read(broken)
    assert "unknown host 'gamma'" in refused.value.message
    assert "unknown mode 'nob/on'" in refused.value.message


def test_a_host_that_lacks_what_the_workload_needs_is_refused() -> None:
    text = SPEC.replace("[alpha]", "[beta]").replace("workload: spin", "workload: packets")
    text = text.replace("        cases: {size: [1, 2]}\n", "")
    with pytest.raises(InvalidInput, match="needs kvm, which host 'beta' lacks"):
        read(text)


def test_a_workload_that_cannot_set_its_guest_is_refused() -> None:
    text = SPEC.replace("knob/on", "machine/split")
    assert "machine/split" in text
    wanted = "sets machine.kernel_irqchip of a guest, which workload 'spin' cannot; .*: packets"
    with pytest.raises(InvalidInput, match=wanted):
        read(text)


ARMS = SPEC[SPEC.index("    arms:") : SPEC.index("    workloads:")]
CROSSED = SPEC.replace(ARMS, "    cross: [knob, machine]\n").replace(
    "workload: spin", "workload: packets"
)
CROSSED = CROSSED.replace("        cases: {size: [1, 2]}\n", "").replace(
    "baseline: off", "baseline: off.on"
)


def test_crossed_families_give_an_arm_for_every_combination() -> None:
    [comparison] = read(CROSSED).comparisons
    assert [(arm.name, arm.mode) for arm in comparison.arms] == [
        (f"{knob}.{machine}", f"knob/{knob}+machine/{machine}")
        for knob in ("off", "on", "loop")
        for machine in ("on", "split")
    ]


def test_a_crossed_arm_is_proven_by_both_its_modes() -> None:
    wanted = wanted_by("knob/on+machine/split", CATALOG.families)
    assert wanted.settings.options() == ("knob=on",)
    assert wanted.settings.guest() == {"machine.kernel_irqchip": "split"}
    assert [expectation.equals for expectation in wanted.expect] == ["Mitigation: Knob"]
    assert (wanted.family, wanted.mode) == ("knob+machine", "on+split")
    assert wanted.lab_cmdline == ("setcpuid=ibpb",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[knob, machine]", "[knob, nob]"), "unknown family 'nob'"),
        (("[knob, machine]", "[knob, knob]"), "family 'knob' stands twice"),
        (("    cross: [knob, machine]\n", ""), "give one of `arms`, the families to `cross`"),
        (("    cross: [knob, machine]\n", "    cross: [knob]\n" + ARMS), "give one of `arms`, the"),
        (("off.on", "off.off"), "baseline 'off.off' is no arm"),
    ],
)
def test_a_cross_that_cannot_be_is_refused(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        read(CROSSED.replace(*change))


def test_two_modes_that_set_the_same_option_are_refused() -> None:
    text = SPEC.replace("mode: knob/on", "mode: knob/on+knob/loop")
    with pytest.raises(InvalidInput, match="names a family twice"):
        read(text)


def test_a_list_of_points_gives_each_case_once() -> None:
    text = SPEC.replace("cases: {size: [1, 2]}", "cases: [{size: [1, 2]}, {size: 2}, {size: 4}]")
    wanted = read(text).comparisons[0].workloads[0]
    cases = cases_of(CATALOG.workloads["spin"], wanted)
    assert [case["size"] for case in cases] == [1, 2, 4]


def test_a_metric_that_no_case_reports_cannot_be_primary() -> None:
    text = SPEC.replace("workload: spin", "workload: packets")
    text = text.replace("{size: [1, 2]}", "{protocol: tcp}")
    text = text.replace("iterations: 3", "primary: [loss]")
    with pytest.raises(InvalidInput, match="unknown metric 'loss'; known: throughput"):
        read(text)


def test_a_number_out_of_bounds_is_refused() -> None:
    text = SPEC.replace("workload: spin", "workload: packets")
    text = text.replace("{size: [1, 2]}", "{seconds: 61}")
    with pytest.raises(InvalidInput, match="seconds: 61 refused; must be at most 60"):
        read(text)


@pytest.mark.parametrize(
    ("said", "hz"), [("true", 99), ("false", None), ("{hz: 199}", 199), ("{}", 99)]
)
def test_a_profile_is_asked_for_in_short_or_with_its_frequency(said: str, hz: int | None) -> None:
    spec = read(SPEC.replace("iterations: 3", f"profile: {said}"))
    profile = spec.comparisons[0].workloads[0].profile
    assert (profile.hz if profile else None) == hz


def test_without_a_word_nothing_is_profiled() -> None:
    assert read(SPEC).comparisons[0].workloads[0].profile is None


def test_a_host_in_counted_time_is_refused_a_guest_system_by_name() -> None:
    workload = CATALOG.workloads["spin"].model_copy(update={"guest": True})
    catalog = Catalog(CATALOG.root)
    catalog.workloads["spin"] = workload
    for clock in Clock:
        hosts = {
            environment: {
                name: dataclasses.replace(host, clock=clock) for name, host in known.items()
            }
            for environment, known in HOSTS.items()
        }
        if clock is Clock.REAL:
            assert read_spec(SPEC, name="small.yml", catalog=catalog, hosts=hosts)
            continue
        # Without a guest there is nothing to refuse.
        assert read_spec(SPEC, name="small.yml", catalog=CATALOG, hosts=hosts)
        with pytest.raises(InvalidInput) as refused:
            read_spec(SPEC, name="small.yml", catalog=catalog, hosts=hosts)
        said = refused.value.message
        assert said.startswith("small.yml:14: workload 'spin' boots a guest system")
        assert "takes too long on host 'alpha'" in said
        assert said.endswith("whose time counts instructions; in real time: none")


def with_vcpus(*values: int | str, by_arm: bool = False) -> str:
    """What is said of a spec in which the case, or with *by_arm* the arms, may set `vcpus`."""
    catalog = Catalog(CATALOG.root)
    spin = CATALOG.workloads["spin"]
    vcpus = Parameter(values=(1, 4, BY_ARM))
    catalog.workloads["spin"] = spin.model_copy(
        update={"guest_settings": ("vcpus",), "parameters": {**spin.parameters, "vcpus": vcpus}}
    )
    knob = CATALOG.families["knob"]
    setting = {
        name: mode.model_copy(update={"settings": Settings(guest_vcpus=GuestVcpus(count))})
        for count, (name, mode) in enumerate(knob.modes.items(), start=1)
    }
    catalog.families["knob"] = knob.model_copy(update={"modes": setting if by_arm else knob.modes})
    chosen = f", vcpus: [{', '.join(map(str, values))}]" if values else ""
    try:
        read_spec(
            SPEC.replace("size: [1, 2]", f"size: [1, 2]{chosen}"),
            name="small.yml",
            catalog=catalog,
            hosts=HOSTS,
        )
    except InvalidInput as refused:
        return refused.message
    return ""


def test_a_case_leaves_to_the_arms_what_they_set_and_nothing_else() -> None:
    assert with_vcpus() == with_vcpus(1, 4) == with_vcpus(BY_ARM, by_arm=True) == ""
    for values in ((), (4,), (BY_ARM, 4)):
        said = with_vcpus(*values, by_arm=True)
        assert "arm 'off' sets vcpus of the guest: the case's vcpus is 'arm' where" in said
    said = with_vcpus(BY_ARM)
    assert said.startswith("small.yml:15: ")
    assert "arm 'off' does not set vcpus of the guest" in said


def test_a_guest_of_an_operators_image_takes_no_profile() -> None:
    hosts = {"lab": {"alpha": dataclasses.replace(HOSTS["lab"]["alpha"], guest_image="/g.qcow2")}}
    text = SPEC.replace("workload: spin", "workload: packets")
    text = text.replace("        cases: {size: [1, 2]}\n", "")
    assert read_spec(text, name="small.yml", catalog=CATALOG, hosts=hosts)
    text = text.replace("iterations: 3", "profile: {guest: true}")
    with pytest.raises(InvalidInput, match=r"'alpha' are of the image '/g.qcow2', which takes no"):
        read_spec(text, name="small.yml", catalog=CATALOG, hosts=hosts)
    assert read_spec(text, name="small.yml", catalog=CATALOG, hosts=HOSTS)


def test_guests_that_run_the_kernel_under_test_need_one_that_is_named() -> None:
    catalog = Catalog(CATALOG.root)
    spin, knob = CATALOG.workloads["spin"], CATALOG.families["knob"]
    catalog.workloads["spin"] = spin.model_copy(update={"guest_settings": ("kernel",)})
    as_host = knob.modes["on"].model_copy(
        update={"settings": Settings(guest_kernel=GuestKernel("as-host"))}
    )
    catalog.families["knob"] = knob.model_copy(update={"modes": knob.modes | {"on": as_host}})
    with pytest.raises(InvalidInput, match="'on' has no kernel that its guests could run as well"):
        read_spec(SPEC, name="small.yml", catalog=catalog, hosts=HOSTS)
    named = SPEC.replace("mode: knob/on", "mode: knob/on, kernel: 7.2.12-mg1")
    assert named != SPEC
    read_spec(named, name="small.yml", catalog=catalog, hosts=HOSTS)


def test_only_workloads_that_boot_a_guest_are_refused_on_the_lab_as_it_is() -> None:
    assert {name for name, one in Catalog().workloads.items() if one.guest} == {
        "desktop", "fio", "iperf",
    }  # fmt: skip


def test_a_word_that_went_is_refused_by_name_with_the_way_out() -> None:
    text = SPEC.replace("    baseline:", "    tournament: true\n    baseline:")
    with pytest.raises(InvalidInput, match=r"`tournament` went: leave it out, and every arm is"):
        read_spec(text, name="small.yml", catalog=CATALOG, hosts=HOSTS)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("workload: nothing, metric: x, at_most: 1", r"small.yml:19: there is no workload"),
        ("workload: spin, metric: nothing, at_most: 1", r"small.yml:19: spin has no metric"),
        ("workload: spin, metric: time, at_most: 1, mode: a/b", r"small.yml:19: there is no mode"),
        (
            "workload: spin, metric: time, at_most: 1, case: {tset: 1}",
            r"small.yml:19: spin has no parameter",
        ),
        ("workload: spin, metric: time", r"give one of at_most, at_least and worse_by_percent"),
    ],
)
def test_a_limit_of_what_there_is_not_is_named_by_its_line(line: str, place: str) -> None:
    text = f"{SPEC}limits:\n- {{{line}}}\n"
    with pytest.raises(InvalidInput, match=place):
        read_spec(text, name="small.yml", catalog=CATALOG, hosts=HOSTS)
