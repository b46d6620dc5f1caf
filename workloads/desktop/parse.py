"""Turn what `run` left in a case's directory into the one result schema.

The order of actions follows from the seed and the level from the log-ins, so both are made again
and compared. What every pass must have (a whole baseline, whole loops of every session) is counted.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import parsing, results, seal
from _kit.parsing import ParseError, field, number, whole
from _kit.wire.details import PassDetails
from actions import APPLICATIONS, DISK, KINDS, LOOP_KINDS, loop_order
from details import details, is_whole, scheduling
from load_curve import Action, by_kind, geometric_mean, percentile
from scheduling import SOURCES
from summary import actions_of, phase, summary

PHASES = ("baseline", "ramp", "steady")
MOST_ACTIONS = 2_000_000
# Guest and host have clocks of their own; the guest's is inside what the host waits.
TOLERANCE, SLACK_S = 0.05, 0.05
LONGEST_S = 7 * 86_400
UNITS = {
    **{f"{kind}_{what}": "s" for kind in KINDS for what in ("time", "p95", "max")},
    "response_time": "s", "cold_response_time": "s", "slowdown": "percent",
    "density": "sessions", "failed_actions": "count", "cpu_ready_time": "percent",
    "hypervisor_cpu_baseline": "percent", "hypervisor_cpu_steady": "percent",
    "hypervisor_cpu_max": "percent", "read_iops": "1/s", "write_iops": "1/s",
    "read_latency": "s", "write_latency": "s", "power": "W", "host_power": "W",
    "density_at_line": "sessions", "vcpu_migrations": "1/s", "other_migrations": "1/s",
    "idle_while_waiting": "percent", "idle_while_waiting_rate": "1/s",
}  # fmt: skip
HIGHER = {"density", "density_at_line", "read_iops", "write_iops"}
MOST_WATTS = 1_000_000
MOST_PROCESSORS = 1 << 16


def checked_actions(done: dict[str, Any], file: str, sessions: int) -> None:
    """Raise ParseError unless the actions are the seed's, at levels and times that can be."""
    entries = field(done, file, "actions", list)
    if not 1 <= len(entries) <= MOST_ACTIONS or not all(isinstance(e, dict) for e in entries):
        raise ParseError(f"{file}: actions: no list of 1 to {MOST_ACTIONS} objects")
    by_session: dict[int, list[dict[str, Any]]] = {}
    for place, entry in enumerate(entries):
        session = whole(entry, f"{file}: actions[{place}]", "session", 0, sessions - 1)
        checked_action(entry, f"{file}: actions[{place}]")
        by_session.setdefault(session, []).append(entry)
    if len(by_session) != sessions:
        raise ParseError(f"{file}: actions: {len(by_session)} sessions, the case has {sessions}")
    logins = sorted(own[0]["began"] for own in by_session.values())
    for session, own in by_session.items():
        checked_order(own, f"{file}: session {session}", session, logins)


def checked_action(entry: dict[str, Any], where: str) -> None:
    """Times and counters of one action."""
    whole(entry, where, "status", 0, 125)
    began, ended = (number(entry, where, name, most=LONGEST_S) for name in ("began", "ended"))
    began_ns, ended_ns = (whole(entry, where, f"{n}_ns", 1, 1 << 62) for n in ("began", "ended"))
    took = (ended_ns - began_ns) / 1e9
    if not 0 < took <= (ended - began) * (1 + TOLERANCE) + SLACK_S:
        raise ParseError(f"{where}: ended_ns: {took:g} s, but the host waited {ended - began:g}")
    for name in DISK:
        if whole(entry, where, name, 0) < whole(entry, where, f"{name}_before", 0):
            raise ParseError(f"{where}: {name}: less than before the action")


def checked_order(own: list[dict[str, Any]], where: str, session: int, logins: list[float]) -> None:
    """A session's actions, one after the other, in the order of the seed."""
    wanted = itertools.chain(
        [("login", 0)],
        ((kind, loop) for loop in itertools.count() for kind in loop_order(session, loop)),
    )
    before = dict.fromkeys(("ended", "ended_ns", *DISK), 0)
    for entry, (kind, loop) in zip(own, wanted):
        if (entry.get("kind"), entry.get("loop")) != (kind, loop):
            told = f"{entry.get('kind')!r:.20} of loop {entry.get('loop')!r:.20}"
            raise ParseError(f"{where}: {told}, the seed's order has {kind} of loop {loop}")
        if entry["began"] < before["ended"] or entry["began_ns"] < before["ended_ns"]:
            raise ParseError(f"{where}: {kind} of loop {loop} began before the last one ended")
        level = sum(login <= entry["began"] for login in logins)
        if entry.get("level") != level or isinstance(entry["level"], bool):
            raise ParseError(f"{where}: level: {entry.get('level')!r:.20}, the log-ins say {level}")
        for name in DISK:
            if entry[f"{name}_before"] < before[name]:
                raise ParseError(f"{where}: {name}_before: less than after the last action")
        before = {name: entry[name] for name in before}


def checked_phases(done: dict[str, Any], file: str, case: dict[str, Any]) -> None:
    """Raise ParseError unless the phases follow one another and hold what they must."""
    sessions, loops = case["parameters"]["sessions"], case["parameters"]["loops"]
    told = field(done, file, "phases", dict)
    names = [name for name in PHASES if name != "ramp" or sessions > 1]
    if list(told) != names:
        raise ParseError(
            f"{file}: phases: {', '.join(map(str, told))[:80]}, not {', '.join(names)}"
        )
    last = 0.0
    for name in names:
        ends = told[name]
        if not isinstance(ends, list) or len(ends) != 2:
            raise ParseError(f"{file}: phases.{name}: no beginning and end")
        began, ended = (number({"at": end}, file, "at", most=LONGEST_S) for end in ends)
        if not last - 1e-3 <= began < ended:
            raise ParseError(f"{file}: phases.{name}: it does not follow the one before")
        last = ended
    ramp = told["ramp"][1] - told["ramp"][0] if "ramp" in told else 0.0
    if "ramp" in told and ramp < case["parameters"]["seconds"] - 0.01:
        raise ParseError(f"{file}: phases.ramp: {ramp:g} s, shorter than the case's ramp")
    for session in range(sessions):
        least, phase_name = (loops + 1, "baseline") if sessions == 1 else (loops, "steady")
        ended = whole_loops(done, session, *told[phase_name])
        if ended < least:
            raise ParseError(f"{file}: session {session} ended {ended} loops of {least}: cut off")


def whole_loops(done: dict[str, Any], session: int, began: float, ended: float) -> int:
    """How many loops the session began and ended within these times."""
    counts: dict[int, int] = {}
    for entry in done["actions"]:
        within = began <= entry["began"] and entry["ended"] <= ended
        if entry["session"] == session and entry["kind"] != "login" and within:
            counts[entry["loop"]] = counts.get(entry["loop"], 0) + 1
    return sum(count == len(LOOP_KINDS) for count in counts.values())


def checked_samples(done: dict[str, Any], file: str, case: dict[str, Any]) -> None:
    """Raise ParseError unless the counters only grow, and each phase begins and ends with one."""
    samples = field(done, file, "samples", list)
    processors = whole(done, file, "vcpus", case["parameters"]["sessions"], 1 << 16)
    ranges = field(done, file, "energy_range_uj", list)
    has_power = case["parameters"].get("power") == "rapl"
    if bool(ranges) != has_power or not all(type(r) is int and r > 0 for r in ranges):
        raise ParseError(f"{file}: energy_range_uj: not as the case's power asks")
    first: dict[str, float] = {}
    before: dict[str, float] = {}
    for place, sample in enumerate(samples):
        where = f"{file}: samples[{place}]"
        if not isinstance(sample, dict):
            raise ParseError(f"{where}: no object")
        now: dict[str, float] = {"at": number(sample, where, "at", most=LONGEST_S)}
        for name in ("busy", "all", "ran_ns", "waited_ns"):
            now[name] = whole(sample, where, name, 0, 1 << 62)
        energy = field(sample, where, "energy_uj", list)
        if len(energy) != len(ranges) or not all(
            type(e) is int and 0 <= e <= most for e, most in zip(energy, ranges)
        ):
            raise ParseError(f"{where}: energy_uj: {energy!r:.80}")
        if before:
            checked_growth(before, now, where)
            # The kernel adds a wait when it ends: a long one is all in one sample.
            checked_time("ran_ns", before, now, where, processors)
            checked_time("waited_ns", first, now, where, processors)
        first, before = first or now, now
    ats = [sample["at"] for sample in samples]
    for name, ends in done["phases"].items():
        if any(all(abs(at - end) > 0.05 for at in ats) for end in ends):
            raise ParseError(f"{file}: samples: none at an end of phase {name}")


def checked_growth(before: dict[str, float], now: dict[str, float], where: str) -> None:
    """Counters from one sample to the next: none falls, and no part outgrows the whole."""
    for name, was in before.items():
        if now[name] < was:
            raise ParseError(f"{where}: {name}: less than before")
    if now["busy"] - before["busy"] > now["all"] - before["all"]:
        raise ParseError(f"{where}: busy: more than all")


def checked_time(
    name: str, since: dict[str, float], now: dict[str, float], where: str, processors: int
) -> None:
    """So many processors had no more of it than there was time."""
    seconds = now["at"] - since["at"]
    if now[name] - since[name] > processors * (seconds * (1 + TOLERANCE) + 1) * 1e9:
        raise ParseError(f"{where}: {name}: more than {processors} processors have")


def checked_bmc(done: dict[str, Any], file: str, parameters: dict[str, Any]) -> None:
    """Raise ParseError unless there are readings in order where the case asks for them."""
    if ("bmc" in done) != (parameters.get("power") == "bmc"):
        raise ParseError(f"{file}: bmc: not as the case's power asks")
    last = 0.0
    for place, reading in enumerate(field(done, file, "bmc", list) if "bmc" in done else []):
        where = f"{file}: bmc[{place}]"
        if not isinstance(reading, dict):
            raise ParseError(f"{where}: no object")
        whole(reading, where, "watts", 1, MOST_WATTS)
        at = number(reading, where, "at", most=LONGEST_S)
        if at < last:
            raise ParseError(f"{where}: at: before the reading before it")
        last = at


def checked_sched(done: dict[str, Any], file: str, parameters: dict[str, Any]) -> None:
    """Raise ParseError unless the trace's figures can be, where the case asks for a trace."""
    if ("sched" in done) != (parameters.get("trace") == "sched"):
        raise ParseError(f"{file}: sched: not as the case's trace asks")
    if "sched" not in done:
        return
    sched, where = field(done, file, "sched", dict), f"{file}: sched"
    if whole(sched, where, "lost", 0):
        return
    window_ns = whole(sched, where, "window_ns", 1)
    processors = whole(sched, where, "processors", 1, MOST_PROCESSORS)
    began, ended = done["phases"]["steady"]
    if window_ns > (ended - began + 1) * 1e9:
        raise ParseError(f"{where}: window_ns: longer than the phase that it is of")
    idle_ns = whole(sched, where, "idle_while_waiting_ns", 0)
    times = whole(sched, where, "idle_while_waiting_times", 0)
    # Two processors at least, of which the one has what waits.
    if idle_ns > window_ns * (processors - 1) or bool(idle_ns) != bool(times):
        raise ParseError(f"{where}: idle_while_waiting_ns: {idle_ns} in {times} times")
    names = [f"migrations.{name}" for name in ("vcpu", "other")]
    names += [f"wakeups.{name}.{of}" for name in SOURCES for of in ("of_vcpus", "of_others")]
    events = whole(sched, where, "events", 0)
    whole(sched, where, "missing", 0)
    if sum(whole(sched, where, name, 0) for name in names) > events:
        raise ParseError(f"{where}: events: fewer than migrations and wake-ups")
    if set(sched["wakeups"]) != set(SOURCES):
        raise ParseError(f"{where}: wakeups: not by {', '.join(SOURCES)}")


def sample(path: Path, case: dict[str, Any]) -> tuple[dict[str, float], PassDetails]:
    """Metric → value of one pass, in the units of workload.yml, and its details."""
    done, file, parameters = parsing.read_object(path), path.name, case["parameters"]
    sessions, threshold = parameters["sessions"], parameters["threshold"]
    checked_actions(done, file, sessions)
    checked_phases(done, file, case)
    checked_samples(done, file, case)
    checked_bmc(done, file, parameters)
    checked_sched(done, file, parameters)
    line_ms = parameters.get("line_ms", 0)
    actions, told = actions_of(done), summary(done, sessions, threshold, line_ms)
    steady = done["phases"]["steady"]
    full = [a for a in actions if a.is_warm and steady[0] <= a.began]
    values = responses(actions, full, file)
    values |= host(done, told, file)
    values["failed_actions"] = float(len(done["actions"]) - len(actions))
    slowdown = told["load_curve"][-1]["slowdown"]
    if slowdown is None:
        raise ParseError(f"{file}: level {sessions} has too few actions that ended well")
    values["slowdown"] = slowdown
    if parameters.get("judge") == "density":
        values["density"] = density_of(told, threshold, file)
    if line_ms:
        values["density_at_line"] = density_at_line(told, file)
    if parameters.get("power") == "rapl":
        values["power"] = told["phases"]["steady"]["power_w"]
    if parameters.get("power") == "bmc":
        values["host_power"] = host_power(told, file)
    if is_whole(done.get("sched", {})):
        values |= scheduling(done["sched"])
    return values, details(done, told, parameters["profile"])


def responses(actions: list[Action], full: list[Action], file: str) -> dict[str, float]:
    """How long each kind took: log-ins over the whole pass, all others warm and under full load."""
    took = by_kind(full) | by_kind(a for a in actions if a.kind == "login")
    cold = by_kind(a for a in actions if a.loop == 0 and a.kind != "login")
    values = {}
    for kind in KINDS:
        if not took.get(kind) or (kind != "login" and not cold.get(kind)):
            raise ParseError(f"{file}: actions: no {kind} ended well, cold or under full load")
        values[f"{kind}_time"] = statistics.median(took[kind])
        values[f"{kind}_p95"] = percentile(took[kind], 0.95)
        values[f"{kind}_max"] = max(took[kind])
    values["response_time"] = geometric_mean(statistics.median(took[k]) for k in LOOP_KINDS)
    values["cold_response_time"] = geometric_mean(statistics.median(cold[k]) for k in LOOP_KINDS)
    return values


def host(done: dict[str, Any], told: dict[str, Any], file: str) -> dict[str, float]:
    """Processors of the host, and the guests' disks from the first log-in to the end."""
    phases = told["phases"]
    whole_pass = phase(done, done["phases"]["baseline"][0], done["phases"]["steady"][1])
    values = {
        "cpu_ready_time": phases["steady"]["cpu_ready_percent"],
        "hypervisor_cpu_baseline": phases["baseline"]["host_cpu_percent"],
        "hypervisor_cpu_steady": phases["steady"]["host_cpu_percent"],
        "hypervisor_cpu_max": whole_pass["host_cpu_max_percent"],
        "read_iops": whole_pass["read_iops"],
        "write_iops": whole_pass["write_iops"],
        "read_latency": whole_pass["read_latency_s"],
        "write_latency": whole_pass["write_latency_s"],
    }
    for name, value in values.items():
        if value is None:
            raise ParseError(f"{file}: {name}: no request reached a disk")
    return values


def density_of(told: dict[str, Any], threshold: float, file: str) -> float:
    """Sessions at the case's threshold; ParseError where it was not passed."""
    [found] = [d["sessions"] for d in told["density"] if d["threshold"] == threshold]
    if found is None:
        curve = told["load_curve"][-1]
        raise ParseError(
            f"{file}: density: {curve['sessions']} sessions are {curve['slowdown']:.0f} % slower, "
            f"the threshold is {threshold} %: raise sessions, or lower threshold"
        )
    return float(found)


def density_at_line(told: dict[str, Any], file: str) -> float:
    """Sessions at the case's response time; ParseError where it was not passed, or by one alone."""
    found, last = told["line"], told["load_curve"][-1]
    if found["alone_ms"] is None:
        raise ParseError(f"{file}: density_at_line: one session alone did not end every action")
    limits = f"one session alone takes {found['alone_ms']:.0f} ms, line_ms is {found['line_ms']}"
    if found["slowdown"] <= 0:
        raise ParseError(f"{file}: density_at_line: {limits}: raise line_ms")
    if found["sessions"] is None:
        raise ParseError(
            f"{file}: density_at_line: {last['sessions']} sessions are {last['slowdown']:.0f} % "
            f"slower; {limits}: raise sessions, or lower line_ms"
        )
    return float(found["sessions"])


def host_power(told: dict[str, Any], file: str) -> float:
    """Mean watts under full load by the BMC; ParseError where it told none then."""
    watts = told["phases"]["steady"]["host_power_w"]
    if watts is None:
        raise ParseError(f"{file}: bmc: no reading under full load: raise loops")
    return float(watts)


def parse(directory: Path) -> dict[str, Any]:
    """Result of the case in `directory`; ParseError if a file is not as promised."""
    case = parsing.checked_case(directory, sessions=int, seconds=int, loops=int, threshold=int)
    if field(case, parsing.CASE, "parameters.profile", str) not in APPLICATIONS:
        raise ParseError(f"{parsing.CASE}: parameters.profile: known are {', '.join(APPLICATIONS)}")
    if "line_ms" in case["parameters"]:
        whole(case, parsing.CASE, "parameters.line_ms", 0)
    whole(case, parsing.CASE, "parameters.sessions", 1, 512)
    whole(case, parsing.CASE, "parameters.loops", 1, 100)
    record = parsing.read_object(directory / parsing.RUN_RECORD)

    def samples(kind: str, count: int) -> list[tuple[dict[str, float], PassDetails]]:
        names = [f"{kind}-{index:02}.json" for index in range(1, count + 1)]
        seal.require_whole(directory, record, names)
        return [sample(directory / name, case) for name in names]

    warmup, iterations = samples("warmup", case["warmup"]), samples("iteration", case["iterations"])
    metrics = {
        name: results.metric(
            UNITS[name], "higher" if name in HIGHER else "lower",
            [one[name] for one, _ in warmup], [one[name] for one, _ in iterations],
        )
        # What one of them cannot tell is no figure of the case.
        for name in iterations[0][0] if all(name in one for one, _ in warmup + iterations)
    }  # fmt: skip
    told = [of_pass for _, of_pass in iterations]
    return results.result("desktop", case, record, metrics, details=told)


if __name__ == "__main__":
    sys.exit(parsing.main(parse, sys.argv[1:]))
