"""Mutations of what is judged: domains, outliers, directions, trust in who answers."""

from __future__ import annotations

from tests.crash.mutation import Mutation

DOMAINS = "tests/unit/test_domains.py"
CHANGES = "tests/unit/test_stats_change_points.py"
DETECTION = "tests/unit/test_trend_detection.py"
TRENDS = "tests/db/test_trends.py"
IPERF = "tests/unit/test_workload_iperf.py"
SSH = "tests/unit/test_ssh_host_keys.py"
VARIANTS = "tests/unit/studies/test_variants.py"

FIGURES = (
    Mutation(
        "a time of 0 is a time",
        "mitigauge/core/stats/domain.py",
        "if self is Domain.TIME and value <= 0:",
        "if self is Domain.TIME and value < 0:",
        (DOMAINS,),
        "0 ns would be judged better by 100 %.",
    ),
    Mutation(
        "results have no domain",
        "mitigauge/measurement/results/schema.py",
        "        _check_domain(name, given, declared)\n",
        "",
        (DOMAINS,),
        "−100 ns would be judged better by 200 %.",
    ),
    Mutation(
        "compare takes what is below 0",
        "mitigauge/analysis/verdicts/boots_csv.py",
        "outside = (domain_of(unit) or Domain.COUNT).refuses(value)",
        'outside = ""',
        (DOMAINS,),
        "Percent of a negative number would be printed.",
    ),
    Mutation(
        "retransmits may wrap",
        "workloads/iperf/parse.py",
        "if told > sent_bytes / SMALLEST_SEGMENT_BYTES:",
        "if False:",
        (IPERF,),
        "4294967294 retransmits would be stored.",
    ),
    Mutation(
        "wild values stay in the test",
        "mitigauge/core/stats/change_points.py",
        "return far if far.mean() <= _MOST_OUTLIERS else np.zeros_like(far)",
        "return np.zeros_like(far)",
        (CHANGES,),
        "One value in a wrong unit would hide a step.",
    ),
    Mutation(
        "wild values beside a step take a good one with them",
        "mitigauge/core/stats/change_points.py",
        "far[place] = all(abs(values[place] - np.median(values[side])) > reach for side in sides)",
        "pass",
        (CHANGES,),
        "A step would be said a value too late.",
    ),
    Mutation(
        "the metric's direction is ignored",
        "mitigauge/tracking/trends/detection.py",
        'verdict="better" if larger == (terms.direction == "higher") else "worse",',
        'verdict="better" if not larger else "worse",',
        (DETECTION,),
        "More throughput would be said to be worse.",
    ),
    Mutation(
        "counted time is noted as a wrong clock",
        "mitigauge/tracking/trends/update.py",
        "if host.clock == Clock.COUNTED:",
        "if False:",
        (TRENDS,),
        "Every trend of a counted host would say that its clock is wrong.",
    ),
    Mutation(
        "tried patches are one line",
        "mitigauge/tracking/trends/values.py",
        "hashlib.sha256(' '.join(patches).encode()).hexdigest()[:16]",
        "len(patches)",
        ("tests/unit/test_trend_lines.py",),
        "Revisions of different series would be one trend.",
    ),
    Mutation(
        "the runner turns host keys off",
        "pipelines/adapters/ansible.py",
        '        "ANSIBLE_HOST_KEY_CHECKING": "True",\n',
        "",
        (SSH,),
        "Whoever answers at a host's address would get its root's commands.",
    ),
    Mutation(
        "a variant that clears less is not out",
        "mitigauge/tracking/studies/variants.py",
        "    if less:\n        return Gate.OUT",
        "    if False:\n        return Gate.OUT",
        (VARIANTS,),
        "The loop with the fewest branches would win.",
    ),
    Mutation(
        "a variant that is out is ranked",
        "mitigauge/tracking/studies/variants.py",
        " and variant.gate is not Gate.OUT",
        "",
        (VARIANTS,),
        "The loop with the fewest branches would stand first.",
    ),
    Mutation(
        "where nothing protects all pass",
        "mitigauge/tracking/studies/variants.py",
        "_gate(found) if protects else (Gate.UNKNOWN, NO_EVENT)",
        "_gate(found)",
        (VARIANTS,),
        "A case that runs no barrier would prove that none is missing.",
    ),
)
