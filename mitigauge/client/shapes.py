"""What the API takes and answers.

Written by `scripts/python_client` from the API's description.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AaRateView(TypedDict):
    """How often a doubled arm was called better or worse on a host: the measured false alarms."""

    workload: str
    metric: str
    comparisons: int
    """verdicts on a doubled arm, one a case and run"""
    alarms: int
    undecided: int
    rate_percent: float
    days: int
    """days of the host on which they were"""
    ci_low_percent: float
    """Clopper-Pearson, 95 %, of as many trials as days: cases of one may be alike"""
    ci_high_percent: float


class AbsenceView(TypedDict):
    """A time in which no run began on the host."""

    kind: AbsenceKind
    reason: str
    begun_by: str
    """empty: a rule"""
    began_at: str
    until: str | None
    ended_at: str | None
    ended_by: str


class Absent(TypedDict):
    """A collector that has nothing to show on this host."""

    collector: str
    reason: str


class Acceptance(TypedDict):
    """Why a change is taken as it is."""

    text: str
    expected: NotRequired[bool]
    """it was known to come"""


class AddedSubscription(TypedDict):
    """A subscription that was just made."""

    subscription: SubscriptionView
    secret: str
    """by which a webhook's signature is checked; it is shown this once. Empty: mail"""


class Annotation(TypedDict):
    """What somebody said."""

    id: int
    trend_id: int
    change_id: int | None
    about: str | None
    text: str
    said_by: str
    said_at: str


class Answer(TypedDict):
    """What was measured of one arm: a value, its effect, or why there is none."""

    kind: NotRequired[Literal["answer"]]
    state: CellState
    n: NotRequired[int]
    """boots that count"""
    value: NotRequired[Quantity | None]
    effect: NotRequired[Effect | None]
    more: NotRequired[dict[str, Quantity]]
    """further figures, by the names in the table's `more`"""
    claims: NotRequired[list[ClaimFigure]]
    note: NotRequired[str]
    """why there is no effect, or what to know of it"""
    href: NotRequired[str]
    """page of the dashboard behind it"""


class ApprovalInput(TypedDict):
    """What a person looked at before saying that it may run."""

    digest: str
    """of the revision: 12 hexadecimal digits or more"""


class ApprovalOutput(TypedDict):
    """A patch series' revision whose patches a person must look at before they run."""

    series: str
    title: str
    revision: str
    sender: str
    why: str
    """why nobody's word is enough"""


class ArmHead(TypedDict):
    """The arm that a column is of."""

    id: int
    name: str
    mode: NotRequired[str]
    kernel: NotRequired[str]
    """empty: the host's own"""
    is_baseline: NotRequired[bool]


class ArmPair(TypedDict):
    """An arm of A beside an arm of B."""

    name: str
    a: str
    """its name in A"""
    b: str
    mode_a: str
    mode_b: str
    is_baseline: bool
    how: Literal["baseline", "mode", "name"]


class ArmProfilesView(TypedDict):
    """One arm's profiles of a case on a host."""

    arm_id: int
    arm: str
    is_baseline: bool
    profiles: int
    samples: int
    overhead_percent: NotRequired[float | None]
    """what profiling cost, mean over boots"""
    total: NotRequired[float | None]
    """mean cost of everything, in the unit"""
    difference: NotRequired[float | None]
    """of everything together, from the baseline; none where costs are shares"""
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    functions: list[FunctionChange]
    """significant at q 5 %, largest first"""
    counters: list[CounterView]


class ArmTotal(TypedDict):
    """A column: an arm and what everything costs in it."""

    arm_id: int
    arm: str
    is_baseline: bool
    profiles: int
    total: NotRequired[float | None]
    """mean cost of everything, in the unit"""


class ArmView(TypedDict):
    """One arm of a comparison and how far it could be proven in force."""

    id: int
    name: str
    mode: str
    """family/mode, for example vmscape/ibpb"""
    title: str
    kernel: str
    """kernel release asked for; empty: the host's installed default"""
    is_baseline: bool
    is_aa: NotRequired[bool]
    """the baseline once more, to see false alarms"""
    cmdline: str
    """what the mode adds to the kernel command line on this fleet"""
    expected: list[str]
    """states that prove the mode, as a person reads them"""
    boots_effective: int
    boots_not_effective: int
    boots_failed: int
    observed: list[str]
    """what kernels said where the mode was not in force"""
    events: NotRequired[list[str]]
    """what of the hardware its mode works by, in words; free where emulated"""


class AttemptView(TypedDict):
    """One attempt at one step."""

    step: str
    epoch: int
    attempt: int
    outcome: str
    detail: str
    started_at: str
    finished_at: str | None


class AuditEntryView(TypedDict):
    """One change, or one that was refused for lack of rights."""

    id: int
    """grows from entry to entry; numbers may be missing"""
    at: str
    """by the database's clock, UTC"""
    actor: str
    """
    a token's name, proxy:USER, operator (the link of `serve`), a login of the command line, a
    mail's sender, or a worker
    """
    way: Way
    """by what the actor acted"""
    address: str
    """the client's address, or the machine's name"""
    request_id: str
    """of the HTTP request, as the access log has it; else empty"""
    job: str
    """what a worker acted for: `job 12`, `run 5`; else empty"""
    action: str
    """what was done: `experiment.submit`, `host.set-aside`, …"""
    subject_kind: str
    """what kind of thing was changed: `host`, `token`, …"""
    subject: str
    """its number or name"""
    before: dict[str, Any]
    """what changed, as it was; texts are cut"""
    after: dict[str, Any]
    """what changed, as it is since; texts are cut"""
    refused: str
    """why it was refused; empty: it was done"""


class AuditPage(TypedDict):
    """Entries, the newest first, and where the next ones begin."""

    entries: list[AuditEntryView]
    next_before: int | None
    """`before` of the next page; null where there is none"""


class BillRow(TypedDict):
    """How often an operation does what costs on real processors; counted, not priced."""

    event: str
    title: str
    a: float
    b: float
    difference: float
    exact: int | None
    """the difference as a whole number, where both sides did it the same each time"""


class BisectionAnswer(TypedDict):
    """
    What a bisection found out.

    *confidence* is of the culprit, that there are several, that it is none of these, or that it is
    one of *candidates*, by kind. Effects are percent of the parent.
    """

    kind: AnswerKind
    candidates: list[int]
    confidence: float | None
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    why: str
    what_it_takes: str
    flame_graph: FlameGraph | None
    reverts: list[RevertRecord]
    """of each candidate that was taken out of the last end"""
    verified_by: list[int]
    """experiments that verified it"""


class BisectionHead(TypedDict):
    """One bisection in a list."""

    id: int
    kind: BisectionKind
    title: str
    state: BisectionState
    why: str
    """what it does just now, or why it is in that state"""
    environment: str
    hosts: list[str]
    emulated: bool
    counted: bool
    """whether the hosts' time counts instructions"""
    case: str
    metric: str
    candidates: int
    boots: int
    """boots that were begun, those of the step in hand among them"""
    budget_boots: int
    seconds: float
    """seconds of building and measuring, of steps that are over"""
    budget_s: float
    answer: AnswerKind | None
    culprit: str
    """the title of the candidate that was found; empty: none was"""
    confidence: float | None
    submitted_by: str
    created_at: str
    finished_at: str | None


class BisectionProposal(TypedDict):
    """
    The fields of a request for a bisection, filled in from what was measured.

    One of *series* and *arms* says over what; where neither does, *why* says what is needed.
    """

    title: str
    """what became worse"""
    regression_id: int | None
    environment: str
    hosts: list[str]
    workload: str
    parameters: dict[str, str | int | float]
    metric: str
    mode: str
    """in which kernels of a series are booted"""
    series: str
    """the series whose revision was measured; empty: none was"""
    revision: str
    arms: str
    """an ordered list of arms, as YAML; empty: there is none"""
    changes: int | None
    """how many candidates there are; null: not known"""
    effect_percent: float | None
    why: str
    """what is proposed and why, in words"""


class BisectionRequest(TypedDict):
    """A bisection to be taken on. One of *series*, *arms* and *patches* says over what."""

    series: NotRequired[str]
    """a series' name or number"""
    revision: NotRequired[str]
    """v3; empty: the newest"""
    arms: NotRequired[str]
    """an ordered list of arms, as YAML"""
    patches: NotRequired[list[PatchText]]
    """patches in their order"""
    base: NotRequired[str]
    """what `patches` are applied to"""
    profile: NotRequired[str]
    """config profile of their kernels"""
    hosts: list[str]
    """hosts that are alike"""
    environment: str
    workload: NotRequired[str]
    parameters: NotRequired[dict[str, str | int | float]]
    metric: NotRequired[str]
    """empty: the workload's primary one"""
    mode: NotRequired[str]
    """in which kernels of a series are booted"""
    boots: NotRequired[int]
    """how many it may take"""
    hours: NotRequired[float]
    """of building and measuring that it may take"""
    confidence: NotRequired[float]
    """how sure it must be of what it names"""
    minimum_effect_percent: NotRequired[float]
    """ends that differ by less are refused"""
    regression: NotRequired[int | None]
    """the regression that it is started from, if one"""


class BisectionView(TypedDict):
    """One bisection whole."""

    id: int
    kind: BisectionKind
    title: str
    state: BisectionState
    why: str
    """what it does just now, or why it is in that state"""
    environment: str
    hosts: list[str]
    emulated: bool
    counted: bool
    """whether the hosts' time counts instructions"""
    case: str
    metric: str
    candidates: int
    boots: int
    """boots that were begun, those of the step in hand among them"""
    budget_boots: int
    seconds: float
    """seconds of building and measuring, of steps that are over"""
    budget_s: float
    answer: AnswerKind | None
    culprit: str
    """the title of the candidate that was found; empty: none was"""
    confidence: float | None
    submitted_by: str
    created_at: str
    finished_at: str | None
    workload: str
    parameters: dict[str, Any]
    unit: str
    higher_is_worse: bool
    minimum_effect_percent: float
    wanted_confidence: float
    source: Source
    changes: list[CandidateView]
    """in their order; the likeliest of very many"""
    left_out: int
    """candidates that are not among them"""
    points: list[PointView]
    """those that were built, measured or skipped"""
    steps: list[StepView]
    none_probability: float | None
    several_probability: float | None
    found: BisectionAnswer | None


class BootLine(TypedDict):
    """One boot in short, with every value it gave."""

    id: int
    comparison: str
    host: str
    arm: str
    block: int
    order: int
    attempt: int
    state: BootState
    reason: str
    nonce: str
    method: BootMethod
    kernel_boot_id: str | None
    """/proc/sys/kernel/random/boot_id"""
    kernel_release: str | None
    observed: str | None
    """the vulnerability state the mode is judged by"""
    values: dict[str, dict[str, list[float]]]
    """case id, then metric, then the iterations after warm-up"""


class BootPoint(TypedDict):
    """A boot's value for one case and metric."""

    boot_id: int
    """our id of the boot, as in /boots/{boot_id}"""
    block: int
    order: int
    """place within the block, from 1"""
    arm_id: int
    arm: str
    state: BootState
    counts: bool
    """whether the boot takes part in the comparison"""
    mean: float | None
    iterations: list[float]
    warmup: list[float]
    disturbed: list[float]
    """taken again, since the processor was slowed beside them; in no mean"""
    at: str | None


class BootView(TypedDict):
    """One boot with its proof, everything a figure can be traced to."""

    id: int
    comparison: str
    host: str
    arm: str
    block: int
    order: int
    attempt: int
    state: BootState
    reason: str
    nonce: str
    method: BootMethod
    kernel_boot_id: str | None
    """/proc/sys/kernel/random/boot_id"""
    kernel_release: str | None
    observed: str | None
    """the vulnerability state the mode is judged by"""
    experiment_id: int
    experiment: str
    emulated: bool
    clock: Clock
    mode: str
    loader_type: int | None
    """/proc/sys/kernel/bootloader_type, which shows whether kexec started the kernel"""
    build_id: str | None
    cmdline: str | None
    tainted: int | None
    microcode: str | None
    expected: list[str]
    vulnerabilities: dict[str, str]
    serial_tail: str
    results: list[ResultView]
    steps: list[AttemptView]
    fingerprint: dict[str, Any]
    started_at: str | None
    finished_at: str | None


class BootsView(TypedDict):
    """Boots of a run by one method."""

    method: BootMethod
    boots: int
    mean_s: float
    """from the reboot to the greeting of the SSH server"""


class BreakdownLine(TypedDict):
    """One figure of one row, by arm."""

    row: str
    figure: str
    cells: list[DetailCell]


class BreakdownRow(TypedDict):
    """What a row of a breakdown is of."""

    name: str
    title: str


class BreakdownView(TypedDict):
    """Figures by something that a pass has several of."""

    name: str
    title: str
    of: str
    help: str
    choose: Literal["row", "figure"]
    """what a page shows one of at a time, the other one down its side"""
    rows: list[BreakdownRow]
    figures: list[DetailFigure]
    lines: list[BreakdownLine]
    """those that any boot tells"""


class CandidateView(TypedDict):
    """One change, between point *position* − 1 and point *position*."""

    position: int
    name: str
    title: str
    message_id: str
    files: list[str]
    functions: list[str]
    prior: float
    prior_why: str
    probability: float | None
    """that it alone is the culprit"""


class CaseChoice(TypedDict):
    """What was chosen of one comparison of kernels in one mode."""

    comparison: str
    changed: list[str]
    """functions whose code differs between its kernels, 50 at most"""
    changed_count: int
    """how many there are"""
    objects: NotRequired[list[str]]
    """data that differ, 50 at most"""
    object_count: NotRequired[int]
    """how many there are"""
    measured: list[CaseReach]
    left_out: list[CaseReach]
    """those that are known to run none of them"""


class CaseProfilesView(TypedDict):
    """What the profiles of one case on one host say, arm by arm."""

    experiment_id: int
    case_id: int
    host: str
    system: Literal["host", "guest", "off-cpu"]
    event: str
    unit: str
    arms: list[ArmProfilesView]


class CaseReach(TypedDict):
    """A case, and what is known of it."""

    case: str
    runs: list[str] | None
    """the first 8 of what was changed that it runs; null: it cannot be told"""
    beside: NotRequired[list[str]]
    """the first 8 functions of what was changed that it runs where nothing differs"""
    why: NotRequired[str]
    """why it cannot be told whether it runs any of it"""
    kernel: NotRequired[str]
    """the kernel that it was counted on; empty: on none"""
    counted_at: NotRequired[str | None]


class CaseView(TypedDict):
    """One case of an experiment with every boot as a point."""

    experiment_id: int
    experiment: str
    comparison: str
    case_id: int
    case: str
    workload: str
    parameters: dict[str, str | int | float]
    host: str
    metrics: list[RowView]
    points: dict[str, list[BootPoint]]
    """by metric name"""
    noise: dict[str, NoiseView]
    """by metric name"""
    threads: bool
    """whether boots tell of threads by name"""
    arms: list[ArmView]
    emulated: bool
    clock: Clock


class Cause(TypedDict):
    """One thing that was another one after the change."""

    kind: CauseKind
    what: str
    """its name, for example microcode or packages.iperf3"""
    before: str
    after: str
    host: NotRequired[str]
    """where it changed; empty: on all hosts that were compared"""


class CellView(TypedDict):
    """One arm's answer for one case and metric on one host."""

    arm_id: int
    state: CellState
    n: int
    """boots that count"""
    blocks: int
    """blocks in which both this arm and the baseline count"""
    mean: float | None
    """geometric mean of boot means, in the metric's unit"""
    effect_percent: NotRequired[float | None]
    ci_low_percent: NotRequired[float | None]
    ci_high_percent: NotRequired[float | None]
    p: NotRequired[float | None]
    q: NotRequired[float | None]
    """of exploratory metrics, the false discovery rate"""
    mde_percent: NotRequired[float | None]
    """smallest detectable effect"""
    verdict: NotRequired[Verdict | None]
    bound: NotRequired[Bound]
    """
    what the figures say of the true change, where events of the hardware cost nothing: the true one
    is `at_least` or `at_most` this, or `nothing` is known
    """
    decided_after: NotRequired[int | None]
    """blocks after which the verdict fell; figures are of these blocks"""
    note: NotRequired[str]
    version: NotRequired[int]
    """2 and more: an earlier verdict no longer held"""
    reason: NotRequired[str]
    """why this version was written"""
    earlier: NotRequired[list[EarlierVerdict]]
    """what was said before, oldest first"""


class CheckRow(TypedDict):
    """What an arm costs against the baseline of its case: measured, and predicted."""

    case: str
    arm: str
    measured: NsInterval
    predicted: NsInterval
    missing: list[str]
    """events that differ and have no price"""
    holds: bool
    """whether both differ by no more than their errors together"""


class CheckRows(TypedDict):
    """One check with its rows."""

    check: CheckView
    rows: list[CheckRow]
    left_out: int
    """rows beyond the longest list; the counts have them"""


class CheckView(TypedDict):
    """How often predictions of a processor's prices held on what one host measured."""

    id: int
    processor: str
    title: str
    """of the processor; its name where its file is gone"""
    host: str
    """the one that measured"""
    emulated: bool
    clock: Clock
    measured: CheckedExperiment
    counted: CheckedExperiment
    at: str
    held: int
    checked: int
    """arms, each against the baseline of its case"""
    whole_held: int
    whole: int
    """of them, those where every event has a price"""
    signs_right: int
    signs: int
    """of them, those whose measured change is not zero"""


class CheckedExperiment(TypedDict):
    """An experiment that a check is of."""

    id: int
    name: str


class ClaimFigure(TypedDict):
    """A published figure that stands beside an answer. Percent, as the answer's effect."""

    source: str
    label: str
    """which of the source's figures"""
    low: float
    high: float
    outcome: str
    reason: str


class ClaimSourceView(TypedDict):
    """What one source claims about things this experiment has."""

    name: str
    title: str
    citation: str
    published: str | None
    claims: list[ClaimView]


class ClaimView(TypedDict):
    """One claim beside what was measured for it, if anything was."""

    title: str
    metric: str
    baseline: str
    mode: str
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str
    """why it came out so, in words"""
    arm: NotRequired[str]
    """the arm claimed about, where kernels differ and not modes"""
    note: NotRequired[str]
    """which of the source's figures of one case it is"""
    host: NotRequired[str]
    case_id: NotRequired[int | None]
    arm_id: NotRequired[int | None]
    effect_percent: NotRequired[float | None]
    ci_low_percent: NotRequired[float | None]
    ci_high_percent: NotRequired[float | None]
    bound: NotRequired[Bound]
    """what the figure says of the true change"""
    n: NotRequired[int]


class ClassPage(TypedDict):
    """What there is of one host class."""

    environment: str
    host_class: str
    hosts: list[str]
    workloads: list[str]
    trends: int
    changed: int


class CollectedChart(TypedDict):
    """One figure of a collector over the time of a case, arms over one another."""

    collector: str
    figure: str
    title: str
    unit: str
    seconds: list[float]
    """middles of the bins, from the first sample on"""
    lines: list[CollectedLine]


class CollectedLine(TypedDict):
    """One arm in one chart: the mean over its boots in each bin, and the boots' range."""

    arm_id: int
    arm: str
    boots: int
    """boots that count and have the series"""
    mean: float | None
    """over the measured iterations, mean of the boots"""
    values: list[float | None]
    """one a bin; null: nothing was sampled"""
    low: list[float | None]
    """the lowest boot in each bin"""
    high: list[float | None]


class CollectedView(TypedDict):
    """What was collected beside one case on one host."""

    experiment_id: int
    case_id: int
    host: str
    emulated: bool
    clock: Clock
    boots: int
    """boots that count and have anything"""
    cost_percent: float | None
    """largest part of the host's processors that collecting took in a boot"""
    charts: list[CollectedChart]
    reasons: list[ReasonTable]
    absent: list[Absent]


class Column(TypedDict):
    """A column of a table."""

    title: str
    right: NotRequired[bool]


class ComparisonForecast(TypedDict):
    """One comparison of the spec."""

    name: str
    arms: list[str]
    """names, the baseline first"""
    hosts: list[str]
    blocks: int
    """at most; it ends as soon as all is decided"""
    cases: int
    boots: int
    """at most, over all hosts"""
    values: int
    """values that are stored, at most"""


class ComparisonHead(TypedDict):
    """Arms sharing a baseline, on some hosts, over some cases."""

    id: int
    name: str
    family_title: str
    hosts: list[str]
    arms: list[ArmView]
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    factorial: NotRequired[bool]
    """whether its arms are those of a factorial design"""


class ComparisonView(TypedDict):
    """A comparison with its matrix."""

    id: int
    name: str
    family_title: str
    hosts: list[str]
    arms: list[ArmView]
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    factorial: NotRequired[bool]
    """whether its arms are those of a factorial design"""
    rows: list[RowView]


class ConsequenceView(TypedDict):
    """What one arm changed of costs of single operations, and of real work beside them."""

    host: str
    arm: str
    baseline: str
    mode: str
    micro: list[VerdictSummary]
    """decided changes of micro workloads"""
    macro: list[VerdictSummary]
    """
    primary metrics of other workloads in the same mode on the same host; empty: none was measured
    """


class ConsequencesView(TypedDict):
    """Of one experiment."""

    experiment_id: int
    cost_models: list[CostModelView]
    consequences: list[ConsequenceView]


class CostModelView(TypedDict):
    """Rate of exits × cost of one, beside the measured change of one case and metric."""

    case_id: int
    case: str
    metric: str
    metric_title: str
    host: str
    arm: str
    baseline: str
    cost_cases: list[str]
    """cases of the same boots that say what an exit costs"""
    blocks: int
    vcpus: float
    """virtual processors that share the exits"""
    rate: float
    """
    costed exits a second: all, where a case prices those to the kernel; else those to user space
    """
    base_rate: float
    cost_ns: float | None
    """of one, mean over their kinds; null: none came"""
    base_cost_ns: float | None
    share_percent: float
    """of a virtual processor's time, in exits"""
    base_share_percent: float
    by_rate: EstimateView
    """since there are more of them, or fewer"""
    by_cost: EstimateView
    """since each is dearer, or cheaper"""
    predicted: EstimateView
    measured: EstimateView
    rest: EstimateView
    """measured and not explained by exits"""
    explained_percent: float | None
    """predicted over measured; null: no change was measured"""


class CounterArm(TypedDict):
    """A column."""

    arm_id: int
    name: str
    mode: str
    kernel: str
    """empty: the host's own"""
    is_baseline: bool


class CounterCell(TypedDict):
    """One counter in one arm: what an operation costs, and the change against the baseline."""

    arm_id: int
    state: CellState
    n: int
    """boots that count"""
    mean: float | None
    """of an operation, in the row's unit"""
    change_percent: NotRequired[float | None]
    low_percent: NotRequired[float | None]
    high_percent: NotRequired[float | None]
    verdict: NotRequired[Verdict | None]
    note: NotRequired[str]
    claims: list[CounterClaim]


class CounterClaim(TypedDict):
    """A published change that stands beside a cell."""

    source: str
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str


class CounterRow(TypedDict):
    """A counter, or the case's primary metric above them."""

    metric: str
    title: str
    unit: str
    direction: Literal["lower", "higher"]
    is_counter: bool
    cells: list[CounterCell]


class CounterTable(TypedDict):
    """One case on one host."""

    comparison: str
    case_id: int
    case: str
    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    arms: list[CounterArm]
    """the baseline first"""
    rows: list[CounterRow]
    absent: list[str]
    """counters that this host does not count; never zero"""


class CounterView(TypedDict):
    """One hardware counter: mean over boots, and against the baseline."""

    counter: str
    mean: float
    n: int
    difference_percent: NotRequired[float | None]
    low_percent: NotRequired[float | None]
    high_percent: NotRequired[float | None]


class CountersView(TypedDict):
    """The counter tables of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[CounterTable]
    left_out: int
    """tables beyond the limit, or not asked for"""


class Counts(TypedDict):
    """Verdicts on primary metrics that were given this week."""

    worse: NotRequired[int]
    better: NotRequired[int]
    same: NotRequired[int]
    undecided: NotRequired[int]


class CurveLine(TypedDict):
    """One arm's curve."""

    arm_id: int
    boots: int
    points: list[CurvePoint]


class CurvePoint(TypedDict):
    """The value at one load, over an arm's boots."""

    load: float
    boots: int
    """that tell a value there"""
    value: float
    low: float | None
    """null: one boot"""
    high: float | None


class CurveView(TypedDict):
    """A value over a load, arms over one another."""

    title: str
    load: str
    count: str
    value: DetailFigure
    reached: DetailFigure
    lines: list[CurveLine]
    thresholds: list[ReachedRow]


class DataTable(TypedDict):
    """Rows of cells, one for each column. Columns of arms begin with the baseline's."""

    caption: NotRequired[str]
    columns: list[TableColumn]
    rows: list[list[TextCell | Quantity | Answer]]
    more: NotRequired[dict[str, str]]
    """titles of further figures, with their unit"""
    claims: NotRequired[Literal["beside", "below"]]
    """where a text has claims: in a column if it fits, or a line each"""
    claims_title: NotRequired[str]
    crossed: NotRequired[bool]
    """the first two columns cross: a page may show them as rows and columns"""
    notes: NotRequired[list[TableNote]]


class DetailArm(TypedDict):
    """An arm, in the comparison's order."""

    arm_id: int
    name: str
    mode: str
    is_baseline: bool
    boots: int
    """that count and tell details"""


class DetailCell(TypedDict):
    """One figure of one arm over its boots, with 95 % intervals; exploratory, without a verdict."""

    arm_id: int
    boots: int
    """that have a value"""
    of: int
    """that count and tell details"""
    value: float | None
    """mean over the boots, geometric where the unit acts by factors"""
    low: float | None
    """null: one boot, or not reached in all"""
    high: float | None
    at_least: bool
    """some boots never reached it and count as the most that was tried"""
    change_percent: float | None
    """against the baseline, boots compared within blocks"""
    change_low: float | None
    """for all arms at once (Dunnett)"""
    change_high: float | None
    note: str


class DetailFigure(TypedDict):
    """One quantity."""

    name: str
    title: str
    unit: str
    direction: Literal["lower", "higher"]
    help: str


class DetailsView(TypedDict):
    """What one case on one host tells besides its metrics."""

    experiment_id: int
    experiment: str
    comparison: str
    case_id: int
    case: str
    workload: str
    host: str
    emulated: bool
    clock: Clock
    declared: bool
    """whether the workload tells anything besides its metrics"""
    arms: list[DetailArm]
    untold: int
    """boots that count and measured the case, but tell nothing that can be shown"""
    curve: CurveView | None
    breakdowns: list[BreakdownView]


class DiffArray(TypedDict):
    """Where one array is."""

    type: Literal["int32", "float32", "float64", "uint8"]
    offset: int
    """in bytes, from the end of the header"""
    length: int
    """in items"""


class DiffHeader(TypedDict):
    """The header of a diff's binary answer; it says where each of the arrays is that follow."""

    a: DiffSide
    b: DiffSide
    exact: bool
    """totals are exact counts; the shape alone is sampled"""
    basis: Literal["operation", "share", "raw"]
    bases: list[Literal["operation", "share", "raw"]]
    """those that both sides have"""
    unit: str
    title: str
    host: str
    emulated: bool
    counted: bool
    """time counts instructions on a side"""
    event: str
    merged: bool
    """threads and compiled clones are one"""
    rules_version: int
    names: list[str]
    """by symbol; the first is the root's"""
    raw_names: dict[str, list[str]]
    """by symbol: the names that the rules made one"""
    renamed: dict[str, str]
    """by symbol: the name that the function has in side a"""
    pruned: DiffPruned
    experiment: int | None
    case: int | None
    where: Literal["host", "guest", "off-cpu"]
    """the system that was profiled"""
    wheres: list[Literal["host", "guest", "off-cpu"]]
    """the systems of which the case has profiles"""
    svg_by: str | None
    """the program that can draw an SVG here"""
    arrays: dict[str, DiffArray]


class DiffPruned(TypedDict):
    """Frames that are left out for their width, and their cost on each side in the unit."""

    nodes: int
    a: float
    b: float


class DiffSide(TypedDict):
    """One side of a diff: its boots together."""

    label: str
    of: Selection | None
    """null for imported profiles"""
    boots: int
    samples: int
    lost: int
    """samples that the recording host had to drop"""
    operations: float | None
    total: float
    """mean cost of everything, in the diff's unit"""
    unknown_percent: float
    """of the weight, with a frame without a name"""
    truncated_percent: float
    """of the weight, without its outer frames"""
    idle_percent: float
    """left out, because the processor waited"""


class Document(TypedDict):
    """The whole report, in the order in which it is read."""

    week: str
    title: str
    subject: str
    """of the mail"""
    lead: list[list[Span]]
    sections: list[Section]


class DriftView(TypedDict):
    """A moment from which on the host was another one: its fingerprint changed."""

    at: str
    from_id: int
    """the fingerprint before"""
    to_id: int
    back: bool
    """whether the host had shown this one before"""
    changed: list[FactChangeView]


class EarlierVerdict(TypedDict):
    """What was said of an arm, and no longer holds."""

    version: int
    verdict: Verdict | None
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    n: int
    blocks: int
    at: str
    reason: str


class Effect(TypedDict):
    """A difference from a baseline, by default in percent of it, signed as measured."""

    value: float
    low: NotRequired[float | None]
    """of the 95 % interval; null: there is none"""
    high: NotRequired[float | None]
    unit: NotRequired[str]
    """`percent`: of the baseline"""
    n: NotRequired[int | None]
    """boots, or blocks, that it rests on"""
    p: NotRequired[float | None]
    q: NotRequired[float | None]
    """false discovery rate, where many are looked at"""
    verdict: NotRequired[Verdict | None]
    mde: NotRequired[float | None]
    """smallest detectable effect, in the same unit"""
    bound: NotRequired[Bound]
    """what the value says of the true difference"""
    note: NotRequired[str]


class Entry(TypedDict):
    """One thing that is told in a few lines."""

    head: list[Span]
    lines: list[list[Span]]
    picture: NotRequired[Picture | None]


class EntryView(TypedDict):
    """One entry of a regression's history."""

    id: int
    at: str
    by: str
    kind: EntryKind
    before: str
    after: str
    text: str


class EstimateView(TypedDict):
    """Percent of the baseline's time per unit of work, with its 95 % interval over blocks."""

    percent: float
    low: float
    high: float


class EventView(TypedDict):
    """One line of a run's event log."""

    id: int
    run_id: int | None
    host: str
    at: str
    kind: str
    text: str


class ExactFunctionRow(TypedDict):
    """Instructions of a function an operation; + is more in B."""

    function: str
    """empty: what no symbol covers"""
    module: str
    """kernel, a module of it, or a program's file"""
    was: NotRequired[str]
    """its name in A's kernel, where B's has another one"""
    a: float
    b: float
    difference: float
    exact: int | None
    """the difference as a whole number, where both sides ran the same each time"""
    low: NotRequired[float | None]
    """of the difference, 95 %; where boots differ"""
    high: NotRequired[float | None]
    mark: NotRequired[Literal["", "new", "gone", "renamed"]]


class ExactLineRow(TypedDict):
    """An instruction on both sides; a side that lacks it has no place and no text."""

    place_a: int | None
    place_b: int | None
    text_a: str
    text_b: str
    a: float
    """how often an operation runs it"""
    b: float
    repeats_a: NotRequired[float]
    """of them, those of one string instruction that repeats itself"""
    repeats_b: NotRequired[float]
    mark: NotRequired[Literal["", "new", "gone", "renamed"]]


class ExactSide(TypedDict):
    """One side: the mean of its boots, of one operation."""

    label: str
    of: Selection
    boots: int
    instructions: float
    """all that ran, whatever it was for"""
    steady: int
    """of them, those that each operation ran, each time as often"""
    counted_ns: float
    """what the instructions take in counted time"""
    measured_ns: float
    """what the workload measured of the same operations"""
    lines: float
    """of 64 bytes of code that each operation runs through"""
    pages: float
    """of 4 KiB of code that each operation runs through"""
    missing: list[str]
    """why boots of this side have no counts"""


class ExactTable(TypedDict):
    """Two arms of a case by exact counts, the largest difference first."""

    title: str
    host: str
    a: ExactSide
    b: ExactSide
    why_none: str
    """why there is nothing to compare; empty otherwise"""
    difference: float
    """instructions an operation, B - A"""
    exact: int | None
    """
    of those that each operation runs, the same number each time, B - A; none where a function has
    others beside them
    """
    low: NotRequired[float | None]
    """of the difference, 95 %; where boots differ"""
    high: NotRequired[float | None]
    functions: list[ExactFunctionRow]
    left_out: int
    """functions beyond the longest list, of the least difference"""
    footprint: list[FootprintRow]
    bill: list[BillRow]
    """events that either side has"""
    predictions: list[PredictedCost]
    """one for each processor with prices"""
    function: str
    """whose instructions are listed; empty: of none"""
    instructions: list[ExactLineRow]


class ExperimentChoices(TypedDict):
    """What experiments can be filtered by: whatever one of them has."""

    who: list[str]
    hosts: list[str]
    workloads: list[str]
    modes: list[str]
    """FAMILY/MODE"""


class ExperimentHead(TypedDict):
    """One experiment without its matrices."""

    id: int
    name: str
    question: str
    state: ExperimentState
    submitted_by: str
    """who may cancel it beside approvers and admins"""
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    hosts: list[str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    boots_done: int
    boots_total: int
    headline: NotRequired[str]
    """verdicts by kind, and the plainest effect, in words"""
    worst_effect_percent: NotRequired[float | None]
    """the plainest effect, where it is for the worse; null: nothing is worse"""
    recorded: NotRequired[Recorded | None]
    """null: it ran here"""
    environment: str
    seed: int
    spec_text: str
    comparisons: list[ComparisonHead]
    runs: list[RunView]
    host_facts: NotRequired[dict[str, HostFacts]]
    """by host name"""


class ExperimentPage(TypedDict):
    """Some experiments of those that were asked for."""

    experiments: list[ExperimentSummary]
    total: int
    """on all pages, whatever `before` and `offset` leave out"""
    offset: int
    next: int | None
    """`before` of the next page; null: this is the last, or not newest first"""
    next_offset: int | None
    """`offset` of the next page beside the same `before`; null: this is the last"""


class ExperimentSummary(TypedDict):
    """A line in the list of experiments."""

    id: int
    name: str
    question: str
    state: ExperimentState
    submitted_by: str
    """who may cancel it beside approvers and admins"""
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    hosts: list[str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    boots_done: int
    boots_total: int
    headline: NotRequired[str]
    """verdicts by kind, and the plainest effect, in words"""
    worst_effect_percent: NotRequired[float | None]
    """the plainest effect, where it is for the worse; null: nothing is worse"""
    recorded: NotRequired[Recorded | None]
    """null: it ran here"""


class ExperimentView(TypedDict):
    """One experiment with its matrices."""

    id: int
    name: str
    question: str
    state: ExperimentState
    submitted_by: str
    """who may cancel it beside approvers and admins"""
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    hosts: list[str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    boots_done: int
    boots_total: int
    headline: NotRequired[str]
    """verdicts by kind, and the plainest effect, in words"""
    worst_effect_percent: NotRequired[float | None]
    """the plainest effect, where it is for the worse; null: nothing is worse"""
    recorded: NotRequired[Recorded | None]
    """null: it ran here"""
    environment: str
    seed: int
    spec_text: str
    comparisons: list[ComparisonView]
    runs: list[RunView]
    host_facts: NotRequired[dict[str, HostFacts]]
    """by host name"""


class FactChangeView(TypedDict):
    """A fact that differs; null: the host did not show it."""

    name: str
    before: str | None
    after: str | None


class FingerprintView(TypedDict):
    """What the host was at one time; absent facts are null, never zero."""

    id: int
    digest: str
    first_seen_at: str
    last_seen_at: str
    boots: int
    facts: dict[str, Any]


class FlameGraph(TypedDict):
    """The stored profiles of parent and culprit: side *a* and side *b*, arms of the experiment."""

    experiment_id: int
    case_id: int
    host: str
    a: str
    b: str


class FootprintRow(TypedDict):
    """What each operation asks of caches and branch predictors, counted in pieces, not in time."""

    figure: Literal[
        "lines",
        "pages",
        "taken",
        "indirect",
        "returns",
        "data_lines",
        "data_written",
        "data_pages",
        "data_seldom",
    ]
    title: str
    a: float
    b: float
    difference: float
    exact: int | None
    """the difference as a whole number, where all boots of each side agree"""


class Found(TypedDict):
    """One thing that was found."""

    kind: FoundKind
    id: str
    """number, or the name that commands and addresses take"""
    title: str
    detail: str
    """state and the like, in one line"""
    href: str | None
    """its page of the dashboard; null: it has none"""


class FoundGroup(TypedDict):
    """What was found of one kind: the best few, and how many there are."""

    kind: FoundKind
    total: int
    found: list[Found]


class FunctionChange(TypedDict):
    """A function whose own cost differs between an arm and the baseline."""

    function: str
    difference: float
    """of its own cost, in the summary's unit; + is costlier"""
    low: float
    high: float
    q: float
    percent_of_total: NotRequired[float | None]
    """of the difference of everything together"""


class FunctionCost(TypedDict):
    """What a function costs in one arm, in the view's unit."""

    own: float
    """by itself"""
    total: float
    """with all that it calls; recursion counted once"""
    difference: NotRequired[float | None]
    """of the asked measure, from the baseline; + is costlier"""
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    q: NotRequired[float | None]
    """over the functions of all arms together"""
    name: NotRequired[str]
    """what the arm's kernel calls it, where that differs"""


class FunctionOverArms(TypedDict):
    """One function; a cell for each arm, null where the arm has no profile."""

    function: str
    cells: list[FunctionCost | None]


class FunctionsView(TypedDict):
    """Some functions of a case on a host over all arms."""

    experiment_id: int
    experiment: str
    case_id: int
    case: str
    host: str
    emulated: bool
    counted: bool
    system: Literal["host", "guest", "off-cpu"]
    systems: list[Literal["host", "guest", "off-cpu"]]
    """those of which the case has profiles"""
    event: str
    """empty where there is no profile yet"""
    unit: str
    basis: str
    bases: list[str]
    measure: Literal["self", "total"]
    arms: list[ArmTotal]
    """the baseline first"""
    functions: list[FunctionOverArms]
    offset: int
    found: int
    """functions that fit the search"""
    most: float
    """largest cost of the asked measure of any arm: a common scale"""


class Health(TypedDict):
    """An answer at all is what counts."""

    status: str
    version: NotRequired[str]
    """the service's own"""


class HomeView(TypedDict):
    """The service at a glance, the same for everybody."""

    now: str
    running: list[RunningNow]
    running_total: int
    waiting: list[WaitingForHosts]
    waiting_total: int
    """runs that wait for a host"""
    regressions: list[RegressionSummary]
    """those that nobody took yet, the newest"""
    regression_counts: dict[str, int]
    approvals: list[ApprovalOutput]
    requests: int
    """mails whose sender nothing proves, to be looked at"""
    hosts: list[HostForAPerson]
    jobs: list[JobView]
    """jobs that failed within the last days"""
    workers: int
    """that work now"""
    latest: list[ExperimentSummary]
    """experiments that ended last"""
    experiments: int
    """of all times"""


class HostFacts(TypedDict):
    """What a host was while this experiment ran, from its proofs; unknown facts stay empty."""

    name: str
    host_class: NotRequired[str]
    emulated: NotRequired[bool]
    clock: NotRequired[Clock]
    processor: NotRequired[str]
    microcode: NotRequired[str]
    kernels: NotRequired[list[str]]
    """releases that boots really ran"""
    smt: NotRequired[str]
    governor: NotRequired[str]


class HostForAPerson(TypedDict):
    """A host on which nothing will run until a person does something."""

    host: str
    environment: str
    why: str
    waiting: int
    """runs that wait for it"""


class HostForecast(TypedDict):
    """What the spec asks of one host."""

    host: str
    boots: int
    """at most"""
    measuring_s: float
    """what the workloads' files say that measuring takes"""
    takes_s: float | None
    """boots and measuring, by the boots that were made on the host before; null: none was"""
    emulated: bool | None
    """null: the host took part in nothing yet"""
    waiting: int
    """runs that hold it or wait for it now"""
    kept: str
    """why no run begins on it at present; empty: one may"""


class HostHoursView(TypedDict):
    """What the host's time went into, in runs that are over. Seconds."""

    runs: int
    held_s: float
    measuring_s: float
    booting_s: float
    other_s: float
    wasted_s: float
    """of held_s: boots that count for nothing"""
    lost_s: float
    """set aside or reserved: no run could begin"""


class HostPair(TypedDict):
    """A host of A beside a host of B."""

    a: str
    b: str
    how: Literal["same", "asked", "name", "only"]
    """
    same: one host; asked: by `hosts`; name: of one name in two environments; only: the one that was
    left on either side
    """


class HostQueue(TypedDict):
    """What a host does and what waits for it, in the order in which it will run."""

    host: str
    environment: str
    kept: NotRequired[str]
    """why no run begins on it; empty: nothing stands against it"""
    running: QueuedRun | None
    waiting: list[QueuedRun]


class HostSummary(TypedDict):
    """A line in the list of hosts."""

    name: str
    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    """what the host's time is, as its inventory says now"""
    capabilities: list[str]
    power: NotRequired[str | None]
    """driver that switches its power; none: a person must; null: not known"""
    leased_by: NotRequired[str]
    """experiment that holds the host; empty: free"""
    last_seen_at: str | None
    set_aside_at: str | None
    """no run begins on the host since then; null: it is in use"""
    set_aside_reason: NotRequired[str]
    set_aside_by: NotRequired[str]
    """who set it aside by hand; empty: a rule did"""
    reserved_by: NotRequired[str]
    """who has it for a while; empty: nobody"""
    reserved_until: str | None
    """null: nobody has reserved it"""
    reserved_reason: NotRequired[str]
    probe_at: str | None
    """when a run may try again whether the host is fine"""
    boots: int
    lab_faults: int


class HostTimeView(TypedDict):
    """What the host of a run did with its time, in seconds."""

    total_s: float
    booting_s: float
    measuring_s: float
    other_s: float
    """neither booting nor measuring: plays, judging, waiting"""
    boots: list[BootsView]


class HostView(TypedDict):
    """One host with what it was when it ran."""

    name: str
    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    """what the host's time is, as its inventory says now"""
    capabilities: list[str]
    power: NotRequired[str | None]
    """driver that switches its power; none: a person must; null: not known"""
    leased_by: NotRequired[str]
    """experiment that holds the host; empty: free"""
    last_seen_at: str | None
    set_aside_at: str | None
    """no run begins on the host since then; null: it is in use"""
    set_aside_reason: NotRequired[str]
    set_aside_by: NotRequired[str]
    """who set it aside by hand; empty: a rule did"""
    reserved_by: NotRequired[str]
    """who has it for a while; empty: nobody"""
    reserved_until: str | None
    """null: nobody has reserved it"""
    reserved_reason: NotRequired[str]
    probe_at: str | None
    """when a run may try again whether the host is fine"""
    boots: int
    lab_faults: int
    fingerprints: list[FingerprintView]
    drift: list[DriftView]
    """newest first"""
    noise: list[MetricNoiseView]
    hours: HostHoursView
    absences: list[AbsenceView]
    """newest first"""
    queue: HostQueue | None
    aa: list[AaRateView]
    experiments: list[ExperimentSummary]


class InstructionPart(TypedDict):
    """A run of code: a function, or a part that the compiler put elsewhere (`f.cold`)."""

    name_a: str
    """empty where A lacks it"""
    name_b: str
    rows: list[InstructionRow]


class InstructionRow(TypedDict):
    """An instruction on both sides, or on the one that has it."""

    a: float | None
    """none where no boot of A counts"""
    b: float | None
    difference: float | None
    low: NotRequired[float | None]
    """of the difference, 95 %; none without replicates"""
    high: NotRequired[float | None]
    q: NotRequired[float | None]
    """over the instructions of this function"""
    place_a: int | None
    """bytes after the function's start; none: A lacks it"""
    text_a: str
    place_b: int | None
    text_b: str
    samples_a: int
    """of all boots together"""
    samples_b: int
    mark: Literal["", "new", "gone"]


class InstructionSum(TypedDict):
    """All instructions that both sides have, or that one of them has."""

    a: float | None
    """none where no boot of A counts"""
    b: float | None
    difference: float | None
    low: NotRequired[float | None]
    """of the difference, 95 %; none without replicates"""
    high: NotRequired[float | None]
    q: NotRequired[float | None]
    """over the instructions of this function"""
    kind: Literal["both", "new", "gone"]
    instructions: int


class InstructionTable(TypedDict):
    """A function's instructions on both sides, as the kernel patched them in memory."""

    title: str
    function: str
    a: str
    b: str
    boots_a: int
    boots_b: int
    missing_a: int
    """boots whose code of this function was not kept"""
    missing_b: int
    other_code_a: int
    """boots left out: their code is not that of most"""
    other_code_b: int
    host: str
    system: Literal["host", "guest", "off-cpu"]
    emulated: bool
    counted: bool
    event: str
    basis: str
    unit: str
    skid: str
    """how far a sample may stand from what took the time"""
    why_none: NotRequired[str]
    """why there is no instruction to show"""
    functions: list[str]
    """those with instructions, the hottest first"""
    sums: list[InstructionSum]
    parts: list[InstructionPart]


class JobAttemptView(TypedDict):
    """One attempt at a step."""

    epoch: int
    worker: str
    outcome: str
    detail: str
    started_at: str
    finished_at: str | None


class JobEventView(TypedDict):
    """A line of a job's log."""

    id: int
    at: str
    text: str


class JobView(TypedDict):
    """One job as it stands."""

    id: int
    kind: JobKind
    subject: str
    """what it is about: a revision's or bisection's number"""
    title: str
    need: Ability
    """what a worker must be able to do for it"""
    state: JobState
    progress: str
    """what it does or waits for now"""
    error: str
    """why it failed, or why the last try did"""
    waits: NotRequired[str]
    """why nobody works on it; empty where somebody may"""
    result: dict[str, Any]
    """`kernels`: ids; `experiment`: its id"""
    asked_by: str
    cancelled_by: str
    failures: int
    """of our side, in a row"""
    created_at: str
    started_at: str | None
    finished_at: str | None
    wake_at: str
    """not before then is it gone on with"""


class JobWhole(TypedDict):
    """One job with its log and its latest attempts."""

    id: int
    kind: JobKind
    subject: str
    """what it is about: a revision's or bisection's number"""
    title: str
    need: Ability
    """what a worker must be able to do for it"""
    state: JobState
    progress: str
    """what it does or waits for now"""
    error: str
    """why it failed, or why the last try did"""
    waits: NotRequired[str]
    """why nobody works on it; empty where somebody may"""
    result: dict[str, Any]
    """`kernels`: ids; `experiment`: its id"""
    asked_by: str
    cancelled_by: str
    failures: int
    """of our side, in a row"""
    created_at: str
    started_at: str | None
    finished_at: str | None
    wake_at: str
    """not before then is it gone on with"""
    events: list[JobEventView]
    attempts: list[JobAttemptView]


class KernelRequest(TypedDict):
    """A kernel to be built."""

    base: str
    """a source package, or NAME@REVISION of a tree"""
    profile: NotRequired[str]
    """a config profile of ours"""
    label: NotRequired[str]
    """for people"""
    layouts: NotRequired[int]
    loose: NotRequired[bool]
    """whether patches may apply with less context"""
    anew: NotRequired[bool]
    """whether what was built is built again"""
    patches: NotRequired[list[PatchText]]


class KernelView(TypedDict):
    """One kernel."""

    id: int
    release: str | None
    digest: str
    state: KernelState
    label: str
    imported: bool
    base: str
    profile: str
    toolchain: str
    layout: str
    patches: list[PatchView]
    loosely: list[str]
    config_refused: list[str]
    build_id: str | None
    content_digest: str | None
    package_bytes: int | None
    log_sha256: str | None
    error: str
    started_at: str
    finished_at: str | None


class LevelRatio(TypedDict):
    """B's mean over A's, in percent, from the boots' means: confounded with host and week."""

    percent: float
    low_percent: float | None
    """of the 95 % interval; null: one boot"""
    high_percent: float | None


class LinePoint(TypedDict):
    """What one revision's experiment says of a row; null where it has no such row."""

    revision: str
    experiment_id: int
    case_id: int
    state: CellState
    n: int
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    verdict: Verdict | None
    bound: Bound
    """what the figures say of the true change"""
    baseline: str
    """the arm it is compared with"""
    across: bool
    """whether the baseline runs on another kernel"""


class LineRow(TypedDict):
    """One case and arm over the revisions, in their order."""

    comparison: str
    host: str
    emulated: bool
    counted: bool
    """whether the host's time counts instructions"""
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    arm: str
    points: list[LinePoint | None]
    first_worse: str
    """the first revision that is worse by more than counts as no difference"""


class LogInWays(TypedDict):
    """By what one may log in, beside a token."""

    single_sign_on: str
    """what the button calls it; empty: there is none"""


class LossAxis(TypedDict):
    """One of the two families, and its modes in the order of the arms."""

    family: str
    modes: list[str]


class LossBlock(TypedDict):
    """One host's cells, in the order of the axes; combinations without an arm are left out."""

    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    cells: list[LossCell]


class LossCell(TypedDict):
    """One mode of the first family with one of the second, on one host."""

    first: str
    second: str
    arm_id: int
    arm: str
    is_baseline: bool
    state: CellState
    n: int
    """boots that count"""
    mean: float | None
    """in the metric's unit"""
    loss_percent: NotRequired[float | None]
    low_percent: NotRequired[float | None]
    high_percent: NotRequired[float | None]
    mde_percent: NotRequired[float | None]
    verdict: NotRequired[Verdict | None]
    note: NotRequired[str]
    observed: list[str]
    """what kernels said where the mode was not in force"""
    claims: list[LossClaim]


class LossChoice(TypedDict):
    """A metric of a case that a table can be asked for."""

    case_id: int
    case: str
    metric: str
    metric_title: str
    primary: bool


class LossClaim(TypedDict):
    """A published loss that stands beside a cell."""

    source: str
    label: str
    """which of the source's figures, a processor perhaps"""
    low_percent: float
    high_percent: float
    outcome: ClaimOutcome
    reason: str


class LossTable(TypedDict):
    """One metric of one case over the crossed modes, host by host."""

    comparison: str
    case_id: int
    case: str
    workload: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    primary: bool
    rest: str
    """what else these arms have in common: other modes, a kernel"""
    baseline: str
    """the baseline's arm, and its mode"""
    first: LossAxis
    second: LossAxis
    blocks: list[LossBlock]


class LossView(TypedDict):
    """The loss matrices of an experiment, primary metrics first."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[LossTable]
    choices: list[LossChoice]
    """every case and metric that has a table"""
    left_out: int
    """tables that were not asked for, or are beyond the limit"""


class MatrixView(TypedDict):
    """Every matrix of an experiment, from verdicts as they were stored."""

    experiment_id: int
    rows: dict[str, list[RowView]]
    """by comparison id"""


class MetricNoiseView(TypedDict):
    """How much a metric scatters on a host: standard deviations in percent, medians over cases."""

    workload: str
    metric: str
    cases: int
    boot_percent: float | None
    """boot to boot, the iterations' share removed"""
    iteration_percent: float | None
    boot_mean_percent: float | None
    """of a boot's mean, as it was seen"""
    worst_percent: float | None
    """the noisiest case"""


class MetricValues(TypedDict):
    """Raw values of one metric, in order."""

    unit: str
    direction: Literal["lower", "higher"]
    warmup: list[float]
    values: list[float]
    mean: float
    disturbed: list[float]
    """taken again, since the processor was slowed beside them; in no mean"""
    slowdowns: list[float]
    """
    of a fixed loop beside each of the values, over its fastest time on the host; empty where the
    workload times none
    """
    disturbed_slowdowns: list[float]
    slowdown_limit: float | None


class Missing(TypedDict):
    """Something that a worker cannot do, and why."""

    what: str
    why: str


class MovedTo(TypedDict):
    """Another case of the workload whose cost changed at the same time, the other way."""

    trend_id: int
    case: str
    difference: float
    """in the metric's unit"""


class NewAnnotation(TypedDict):
    """What somebody says of a trend, or of one of its changes."""

    text: str
    change_id: NotRequired[int | None]


class NewRegression(TypedDict):
    """A cell of an experiment that somebody takes for a regression."""

    experiment_id: int
    host: str
    case_id: int
    arm: str
    metric: str
    owner: NotRequired[str]
    bug: NotRequired[str]
    note: NotRequired[str]


class NewSubscription(TypedDict):
    """What somebody wants to hear of, and how."""

    kind: SubscriptionKind
    subject: NotRequired[str]
    """
    of which one: a series' name, ENVIRONMENT/HOST, or WORKLOAD/CASE, the case by its title; empty
    for the other kinds
    """
    trend_id: NotRequired[int | None]
    """for a case: a trend of it"""
    way: TellWay
    address: str
    """a mail address or a URL"""
    template: NotRequired[Template]
    """of a webhook's body"""
    at_once: NotRequired[bool]
    """within seconds, instead of a digest a day (mail) or 15 minutes"""


class NoiseView(TypedDict):
    """Standard deviations in percent of the value; null where the boots cannot tell."""

    boot_mean_percent: NotRequired[float | None]
    """what boots' means showed"""
    boot_percent: NotRequired[float | None]
    """of it, from boot to boot"""
    iteration_percent: NotRequired[float | None]
    """of one iteration within a boot"""
    boot_cost_s: NotRequired[float | None]
    """a boot's own time, for each of its cases"""
    iteration_cost_s: NotRequired[float | None]
    recommended_iterations: NotRequired[int | None]
    """a boot next time, from the variances and costs above"""
    two_groups: NotRequired[list[str]]
    """arms whose boots fall into two groups"""


class NsInterval(TypedDict):
    """Nanoseconds an operation more, with the 95 % interval."""

    ns: float
    low: float
    high: float


class OtherThreads(TypedDict):
    """Names that are no row, in the boot with the most of them."""

    names: int
    wakeups: float
    """theirs in a second, the largest of all boots"""


class OtherTrend(TypedDict):
    """A trend of the same case that is not the same: another unit, other parameters."""

    id: int
    why: str


class PairCell(TypedDict):
    """What one experiment stored of a row."""

    case_id: int
    host: str
    arm: str
    baseline: str
    """name of the arm that the effect is against"""
    state: CellState
    n: int
    """boots that count"""
    blocks: int
    mean: float | None
    """of the arm, in the metric's unit"""
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    verdict: Verdict | None
    bound: Bound
    stopped_early: bool
    """decided before its budget's end: effect overstated"""
    profiled: bool


class PairFact(TypedDict):
    """Something that both experiments have, such as a kernel."""

    what: str
    a: str
    b: str
    differs: bool


class PairRow(TypedDict):
    """One case, metric and arm on one pair of hosts."""

    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    primary: bool
    arm: str
    host: str
    """A's host, or `A's beside B's`"""
    clock: Clock
    a: PairCell
    b: PairCell
    judgement: PairJudgement
    difference_percent: float | None
    """B's effect over A's"""
    low_percent: float | None
    """of the 95 % interval of this row alone"""
    high_percent: float | None
    is_points: bool
    """percentage points, for counts and shares"""
    p: float | None
    q: float | None
    """false discovery rate over all rows that are compared"""
    detectable_percent: float | None
    """smallest true difference that would be seen in 80 % of repetitions"""
    note: str
    level: NotRequired[LevelRatio | None]
    baseline_level: NotRequired[LevelRatio | None]


class PairSide(TypedDict):
    """One of both experiments."""

    id: int
    name: str
    question: str
    state: ExperimentState
    environment: str
    emulated: bool
    counted: bool
    started_at: str | None
    finished_at: str | None
    hosts: list[str]


class PairView(TypedDict):
    """Two experiments as one matrix."""

    a: PairSide
    b: PairSide
    sentence: str
    """the answer"""
    notices: list[str]
    """what to know before reading the rows"""
    facts: list[PairFact]
    """those that differ come first"""
    hosts: list[HostPair]
    arms: list[ArmPair]
    workloads: list[str]
    matched: int
    """rows that both have, whatever is filtered"""
    compared: int
    """of these, those whose effects have intervals on both sides"""
    differing: int
    unmatched: list[UnmatchedCount]
    total: int
    """rows that the filters leave, on all pages"""
    offset: int
    next_offset: int | None
    """null: this page is the last"""
    rows: list[PairRow]


class PatchChange(TypedDict):
    """One patch in both revisions; positions from 1. *lines*: a diff of the two diffs."""

    change: Change
    before: int | None
    after: int | None
    title: str
    title_before: str
    lines: list[str]
    cut: NotRequired[int]


class PatchText(TypedDict):
    """One patch as it is sent."""

    title: NotRequired[str]
    """empty: its number"""
    text: str
    """as `git format-patch` writes it, or the diff alone"""


class PatchView(TypedDict):
    """One patch of a kernel; *digest*: SHA-256 of its text."""

    title: str
    digest: str


class Picture(TypedDict):
    """A line of values over time."""

    id: str
    title: str
    """what it shows, for those who do not see it"""
    unit: str
    points: list[Point]
    changed_at: NotRequired[str | None]
    """where the level changed"""
    zero: NotRequired[bool]
    """whether 0 belongs into it, as for effects"""


class Point(TypedDict):
    """One value of a picture, with its interval if it has one."""

    at: str
    value: float
    low: NotRequired[float | None]
    high: NotRequired[float | None]


class PointLevel(TypedDict):
    """What one point showed in one step, in the metric's unit."""

    point: int
    boots: int
    mean: float | None
    """geometric mean of the boots' means"""
    deviation_percent: float | None
    """standard deviation of the boots; of two"""
    effect_percent: float | None
    """against the step's first point"""


class PointView(TypedDict):
    """One point that is skipped, was built, or was measured."""

    position: int
    mode: str
    kernel: str
    """the kernel's release; empty: none was built for it yet"""
    skipped: str
    """why it is not measured; empty: it may be"""
    without: int | None
    """of the revert: the candidate that is taken out"""


class PredictedCost(TypedDict):
    """What the difference costs an operation on a processor: predicted, never measured."""

    processor: str
    title: str
    ns: float
    low: float
    """95 %, of the errors of the prices"""
    high: float
    parts: list[PredictedPart]
    missing: list[str]
    """events that differ and have no price there"""
    checked: int
    """predictions of this processor checked on real hosts so far"""
    held: int
    """of them, those that held"""


class PredictedPart(TypedDict):
    """What one event adds to a prediction."""

    event: str
    times: float
    """more of it an operation in B, or fewer"""
    ns: float
    source: str
    """who says what it costs"""


class PriceView(TypedDict):
    """What one event costs on a processor, ns, with its 95 % interval and who says so."""

    event: str
    title: str
    ns: float
    low: float
    high: float
    source: str
    url: str
    """of the source; empty where it has none"""


class Prices(TypedDict):
    """All prices that are known, and the newest checks of them."""

    processors: list[ProcessorPrices]
    checks: list[CheckView]
    """newest first"""
    more: int
    """older checks that are not listed"""


class ProblemView(TypedDict):
    """How the API says no: what is wrong, and the way out."""

    error: str
    message: str
    hint: NotRequired[str]
    request_id: NotRequired[str]
    """by which the service's log names the request"""


class ProcessorPrices(TypedDict):
    """One file of prices/processors/."""

    processor: str
    title: str
    microarchitecture: str
    microcode: str
    prices: list[PriceView]


class ProfileGroupView(TypedDict):
    """Boots of one arm on one host whose profiles are of one kind of case."""

    experiment_id: int
    experiment: str
    case_id: int
    host: str
    emulated: bool
    clock: Clock
    arm: str
    event: str
    """groups of different events cannot be compared"""
    profiles: int


class ProgressView(TypedDict):
    """Live state of an experiment; sent whole by server-sent events on each change."""

    experiment_id: int
    state: ExperimentState
    runs: list[RunView]
    boots_done: int
    boots_total: int
    seconds_left: float | None
    last_event_id: int
    is_over: bool
    """nothing more comes: its last verdicts are written too"""


class Quantity(TypedDict):
    """A value in its unit; without one, the words that stand in its place."""

    kind: NotRequired[Literal["quantity"]]
    value: NotRequired[float | None]
    unit: NotRequired[str]
    low: NotRequired[float | None]
    """of its 95 % interval over boots"""
    high: NotRequired[float | None]
    boots: NotRequired[int]
    """that have a value"""
    of: NotRequired[int]
    """boots that could have one"""
    at_least: NotRequired[bool]
    """some boots count as the most that was tried"""
    whole: NotRequired[bool]
    """told in whole numbers, from 100 on"""
    words: NotRequired[str]
    """in place of a value"""


class QueuedRun(TypedDict):
    """A run that has a host, or waits for it. Seconds from now; null: cannot be told yet."""

    run_id: int
    experiment_id: int
    experiment: str
    comparison: str
    submitted_by: str
    state: RunState
    takes_s: float | None
    """what is left of it"""
    takes_low_s: float | None
    takes_high_s: float | None
    starts_in_s: float | None
    starts_low_s: float | None
    starts_high_s: float | None
    not_known: NotRequired[str]
    """why its start cannot be told"""


class ReachedRow(TypedDict):
    """The load at which the curve first reaches a threshold, by arm."""

    threshold: float
    is_own: bool
    """the case's own threshold"""
    cells: list[DetailCell]


class ReadyMadeHead(TypedDict):
    """One of them in the list."""

    name: str
    """its file's name without `.yml`"""
    question: str
    """what it asks, as one line"""
    environment: str


class ReadyMadeSpec(TypedDict):
    """One of them, whole."""

    name: str
    """its file's name without `.yml`"""
    question: str
    """what it asks, as one line"""
    environment: str
    text: str
    """YAML, as `POST /api/experiments` takes it"""


class Reason(TypedDict):
    """Why a host is taken from runs."""

    reason: str


class ReasonRow(TypedDict):
    """How often guests exited for one reason, by arm."""

    reason: str
    per_second: list[float | None]
    """over the measured iterations, one an arm; null: not collected"""


class ReasonTable(TypedDict):
    """Exits by their reason, most frequent first."""

    title: str
    source: str
    """what counted them"""
    arms: list[str]
    rows: list[ReasonRow]


class Recorded(TypedDict):
    """Where an experiment was recorded that was loaded from a file."""

    at: str
    """when the experiment ended there"""
    host: str
    """its hosts and their clocks, for people"""


class RegressionChange(TypedDict):
    """What somebody changes of a regression; what is not given stays as it is."""

    version: int
    """as it was shown; refused if it has grown"""
    state: NotRequired[RegressionState | None]
    owner: NotRequired[str | None]
    """who works on it; empty: nobody"""
    bug: NotRequired[str | None]
    """the address of a bug; empty: none"""
    bisection_id: NotRequired[int | None]
    duplicate_of: NotRequired[int | None]
    """the regression that it joins"""
    note: NotRequired[str]


class RegressionPage(TypedDict):
    """Some of the regressions."""

    regressions: list[RegressionSummary]
    total: int
    next: int | None
    """offset of the next page"""
    counts: dict[str, int]
    """of all that match but for their state"""


class RegressionSummary(TypedDict):
    """A line in the list of regressions."""

    id: int
    origin: Origin
    state: RegressionState
    owner: str
    """empty: nobody"""
    owner_name: str
    """the owner as people read it; empty: nobody"""
    bug: str
    """address; empty: none"""
    environment: str
    host_class: str
    hosts: list[str]
    emulated: bool
    clock: Clock
    workload: str
    case: str
    """the case's title"""
    metric: str
    metric_title: str
    mode: str
    before: str
    """what it was compared with"""
    effect_percent: float | None
    """null: the level before is 0"""
    ci_low_percent: float | None
    ci_high_percent: float | None
    happened_at: str
    found_at: str
    changed_at: str
    duplicate_of: int | None
    bisection_id: int | None
    version: int


class RegressionView(TypedDict):
    """One regression with its evidence and its history."""

    id: int
    origin: Origin
    state: RegressionState
    owner: str
    """empty: nobody"""
    owner_name: str
    """the owner as people read it; empty: nobody"""
    bug: str
    """address; empty: none"""
    environment: str
    host_class: str
    hosts: list[str]
    emulated: bool
    clock: Clock
    workload: str
    case: str
    """the case's title"""
    metric: str
    metric_title: str
    mode: str
    before: str
    """what it was compared with"""
    effect_percent: float | None
    """null: the level before is 0"""
    ci_low_percent: float | None
    ci_high_percent: float | None
    happened_at: str
    found_at: str
    changed_at: str
    duplicate_of: int | None
    bisection_id: int | None
    version: int
    trend_id: int | None
    change_id: int | None
    experiment_id: int | None
    """null: it was deleted"""
    case_id: int | None
    arm: str
    """of a cell: the arm's name"""
    duplicates: list[int]
    """regressions that joined this one"""
    history: list[EntryView]
    """the newest last"""


class Renamed(TypedDict):
    """A symbol that has another name in the later revision, and nowhere its old one."""

    before: str
    after: str
    times: int


class RequestApproval(TypedDict):
    """Which mail a person looked at before saying that it is meant."""

    digest: str
    """of the mail: 12 hexadecimal digits or more"""


class RequestView(TypedDict):
    """One mail that asks for something. *mail_sha256*: the mail, in the blob store."""

    id: int
    message_id: str
    sender: str
    subject: str
    attested: Attested
    asked: RequestKind
    line: str
    state: RequestState
    why: str
    mail_sha256: str
    received_at: str
    receipt_at: str | None
    result_at: str | None
    failures: int
    error: str
    about: str


class RequestWhole(TypedDict):
    """One request with its mail, as hostile as any mail."""

    id: int
    message_id: str
    sender: str
    subject: str
    attested: Attested
    asked: RequestKind
    line: str
    state: RequestState
    why: str
    mail_sha256: str
    received_at: str
    receipt_at: str | None
    result_at: str | None
    failures: int
    error: str
    about: str
    mail: str
    """as it came, headers and all, up to the limit"""
    cut: bool
    """whether more of it stands in the blob store"""


class Reservation(TypedDict):
    """What a host is reserved for, and until when."""

    reason: str
    until: str


class ResultView(TypedDict):
    """What one case gave within one boot."""

    case_id: int
    case: str
    state: Literal["planned", "running", "measured", "failed", "lab_fault"]
    metrics: dict[str, MetricValues]
    lab_faults: list[dict[str, str | int]]
    tools: dict[str, str]
    started_at: str | None
    finished_at: str | None
    raw_sha256: str | None
    """raw tool output, at /blobs/{sha256}"""
    error: NotRequired[str]


class RevertRecord(TypedDict):
    """What the last end did without a candidate. Percent, with 95 % intervals."""

    candidate: int
    outcome: RevertOutcome
    blocks: int
    """those that have the last end with and without it"""
    change_percent: float
    """against the last end with it"""
    change_low_percent: float
    change_high_percent: float
    off_percent: float | None
    """against the candidate's parent"""
    off_low_percent: float | None
    off_high_percent: float | None


class RevisionView(TypedDict):
    """One revision."""

    id: int
    number: int
    label: str
    digest: str
    title: str
    retest: str
    state: RevisionState
    why: str
    message_id: str
    sender: str
    attested: Attested
    sent_at: str | None
    received_at: str
    base_commit: str
    letter: str
    changelog: str
    strays: list[str]
    loosely: NotRequired[list[str]]
    """patches that did not apply as they are, and how they did"""
    patches: list[SeriesPatch]
    changes: list[PatchChange]
    renamed: list[Renamed]
    all_cases: NotRequired[bool]
    """cases that run nothing of what it changes are wanted too"""
    choices: NotRequired[list[CaseChoice]]
    """which cases of each comparison of kernels in one mode are measured, and why; none: all are"""
    experiment_id: int | None
    approved_by: str


class RowView(TypedDict):
    """One case and metric on one host: a row of the matrix."""

    case_id: int
    case: str
    workload: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    primary: bool
    delta_percent: float
    """'same': the interval lies within ± this"""
    host: str
    counter: NotRequired[bool]
    """whether it stands in the counter table instead"""
    profiled: bool
    """whether a separate pass of the case is profiled"""
    disturbed: NotRequired[int]
    """iterations taken again, since the processor was slowed beside them"""
    unsteady: NotRequired[int]
    """iterations that count though disturbed: the processor never came to rest"""
    cells: list[CellView]


class RunView(TypedDict):
    """One comparison on one host: what is leased, advanced and resumed."""

    id: int
    comparison: str
    host: str
    state: RunState
    step: str
    detail: NotRequired[str]
    """the step in words, for example 'booting loop'"""
    block: NotRequired[int | None]
    """current block, from 1"""
    blocks: int
    boots_done: int
    boots_total: int
    boots_effective: int
    """whose mode was proven in force; others never count"""
    lab_faults: int
    error: NotRequired[str]
    stopped_after: NotRequired[int | None]
    """blocks after which every primary metric was decided"""
    started_at: str | None
    finished_at: str | None
    seconds_left: NotRequired[float | None]
    """None: nothing measured yet to tell from"""
    seconds_left_low: NotRequired[float | None]
    verdict_changes: NotRequired[int]
    """how often its matrix has changed"""
    seconds_left_high: NotRequired[float | None]
    host_time: NotRequired[HostTimeView | None]
    """once it is over"""


class RunningNow(TypedDict):
    """A run that has its host."""

    host: str
    environment: str
    run: QueuedRun
    boots_done: int
    boots_total: int


class SearchView(TypedDict):
    """What was found, by kind; kinds of which nothing was found are left out."""

    query: str
    groups: list[FoundGroup]


class Section(TypedDict):
    """One part of the report."""

    id: str
    title: str
    about: NotRequired[list[list[Span]]]
    entries: NotRequired[list[Entry]]
    tables: NotRequired[list[Table]]
    more: NotRequired[str]
    """what was left out"""


class Selection(TypedDict):
    """The boots of an arm, on a host, in an experiment: one side of a diff."""

    experiment_id: int
    case_id: int
    host: str
    arm: str


class SeriesHead(TypedDict):
    """One series in a list."""

    id: int
    name: str
    title: str
    spec: str
    watched: bool
    revisions: int
    newest: str
    state: RevisionState | None
    why: str
    experiment_id: int | None
    received_at: str | None


class SeriesLine(TypedDict):
    """The line of a series; *left_out*: rows beyond the first 200."""

    revisions: list[str]
    rows: list[LineRow]
    left_out: int


class SeriesPatch(TypedDict):
    """One patch of a revision; *sha256*: of its text."""

    title: str
    message_id: str
    sha256: str
    files: list[str]
    fixes: list[str]
    closes: NotRequired[list[str]]
    """addresses of its `Closes:` tags, as they were written"""


class SeriesView(TypedDict):
    """One series with its revisions, the first one first."""

    id: int
    name: str
    title: str
    spec: str
    base: str
    profile: str
    loose: bool
    archive: str
    watched: bool
    created_at: str
    revisions: list[RevisionView]
    looked_at: NotRequired[str | None]
    archive_error: NotRequired[str]
    set_aside: NotRequired[list[str]]


class SessionView(TypedDict):
    """Who asks, and what that allows."""

    subject: str
    """a token's name, proxy: or oidc: and a user, operator; empty: nobody"""
    role: Role
    means: Means
    """by what one is known"""
    rights: list[Right]


class Source(TypedDict):
    """Where kernels come from, and whom a report is for. What does not apply is empty."""

    base: str
    """the source package that patches are applied to"""
    profile: str
    """the config profile of the kernels"""
    tree: str
    """the directory of the git tree"""
    good: str
    """the first end's commit"""
    bad: str
    """the last end's commit"""
    revision: str
    """series and revision, as `vmscape-bhb v4`"""
    message_id: str
    """the revision's first mail"""
    subject: str
    to: list[str]
    cc: list[str]
    references: list[str]
    notes: list[str]
    """what a reader should know of it"""


class Span(TypedDict):
    """Some words in a line."""

    text: str
    tone: NotRequired[Literal["", "worse", "better", "emulated", "bad", "faint"]]
    href: NotRequired[str]
    """path of the dashboard; empty: leads nowhere"""


class SpecForecast(TypedDict):
    """What a spec, in which nothing is wrong, would plan. Nothing is stored."""

    name: str
    question: str
    environment: str
    comparisons: list[ComparisonForecast]
    hosts: list[HostForecast]
    boots: int
    """at most, over all hosts"""
    takes_s: float | None
    """until the last host is done, were all of them free; null: cannot be told"""


class Stability(TypedDict):
    """How far verdicts agree where the same two arms were compared again."""

    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    workload: str
    """empty: of all workloads"""
    questions: int
    """case, metric and pair of arms that were judged again"""
    pairs: int
    """a verdict and the next one of the same question"""
    agreed: int
    opposite: int
    """better, then worse; or worse, then better"""
    undecided: int
    """one of the two was undecided"""
    agreed_percent: float
    ci_low_percent: float
    ci_high_percent: float


class StartRequest(TypedDict):
    """How a revision is measured."""

    all_cases: NotRequired[bool]
    """also cases that are known to run nothing of what it changes"""


class StepView(TypedDict):
    """One experiment of a bisection."""

    number: int
    points: list[int]
    blocks: int
    purpose: str
    why: str
    verifies: int | None
    profiled: bool
    experiment_id: int
    experiment_state: ExperimentState
    case_id: int
    over: bool
    outcome: str
    levels: list[PointLevel]
    boots: int
    measured_s: float


class SubscriptionView(TypedDict):
    """One subscription."""

    id: int
    owner: str
    kind: SubscriptionKind
    subject: str
    """of which one; empty where the kind says it all"""
    way: TellWay
    to: str
    """the mail address, or the URL without most of its path"""
    template: Template
    at_once: bool
    state: SubscriptionState
    why: str
    """why it is paused, or what went wrong last; empty: nothing"""
    created_at: str
    told_at: str | None
    """when something was told last"""


class Table(TypedDict):
    """Figures beside one another."""

    caption: NotRequired[str]
    columns: list[Column]
    rows: list[list[list[Span]]]


class TableChoice(TypedDict):
    """Another table of the same kind that can be asked for."""

    title: str
    query: dict[str, str]


class TableColumn(TypedDict):
    """One column: what it holds, and how much of it a text shows."""

    key: str
    title: str
    kind: NotRequired[Literal["text", "quantity", "answer"]]
    arm: NotRequired[ArmHead | None]
    parts: NotRequired[list[Literal["change", "interval", "n", "verdict"]]]
    """of an effect, each in a column; none: in one"""
    with_interval: NotRequired[bool]
    """whether a quantity's interval is shown"""


class TableNote(TypedDict):
    """A line below a table."""

    text: str
    label: NotRequired[str]


class TableSection(TypedDict):
    """Tables of one thing, with what their figures mean."""

    title: str
    meaning: NotRequired[str]
    href: NotRequired[str]
    """page of what it is of"""
    emulated: NotRequired[bool]
    counted: NotRequired[bool]
    """whether the host's time counts instructions"""
    tables: list[DataTable]
    notes: NotRequired[list[TableNote]]


class TableView(TypedDict):
    """All tables of one kind that were asked for."""

    table: str
    """the kind"""
    title: str
    experiment_id: int
    experiment: str
    state: str
    emulated: NotRequired[bool]
    counted: NotRequired[bool]
    notes: NotRequired[list[str]]
    """said before the first table"""
    sections: list[TableSection]
    choices: NotRequired[list[TableChoice]]
    more: NotRequired[str]
    """what was left out"""


class TextCell(TypedDict):
    """Words, perhaps with a page behind them."""

    kind: NotRequired[Literal["text"]]
    text: str
    title: NotRequired[str]
    """the longer name, where there is room"""
    href: NotRequired[str]
    """path of the dashboard"""
    mark: NotRequired[str]
    """what else to know of it, in a word"""


class ThreadCell(TypedDict):
    """One name in one arm."""

    arm_id: int
    n: int
    """boots that tell of the name"""
    wakeups: ThreadFigure | None
    """in a second"""
    run: ThreadFigure | None
    """ms in a second; null: the host does not tell"""
    wait: ThreadFigure | None
    """ms in a second in which threads were ready and had no processor"""
    claims: NotRequired[list[CounterClaim]]
    """published changes of the wake-ups"""


class ThreadFigure(TypedDict):
    """A rate over an arm's boots, and its change against the baseline."""

    mean: float
    low: float | None
    """95 % interval over boots; null: of one boot"""
    high: float | None
    change_percent: NotRequired[float | None]
    low_percent: NotRequired[float | None]
    high_percent: NotRequired[float | None]
    q: NotRequired[float | None]
    """false discovery rate over all names of the table"""
    note: NotRequired[str]


class ThreadRow(TypedDict):
    """Threads of one name, numbers merged."""

    name: str
    own: bool
    """of the load: the case's metric counts their wake-ups"""
    threads: int
    """at most so many at a time"""
    cells: list[ThreadCell]


class ThreadTableView(TypedDict):
    """One case on one host."""

    comparison: str
    case_id: int
    case: str
    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    window_s: float
    """seconds that the case asks for, else 5"""
    measured_s: float
    """seconds of all windows of a boot, the mean"""
    arms: list[CounterArm]
    """the baseline first"""
    rows: list[ThreadRow]
    """own names first, then by wake-ups"""
    left_out: int
    """names beyond the limit of a page"""
    others: OtherThreads | None


class ThreadsView(TypedDict):
    """Threads by name over the arms of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[ThreadTableView]
    left_out: int
    """tables beyond the limit, or not asked for"""


class TrendChange(TypedDict):
    """A place in a trend where its level changed, as it is said now or was said before."""

    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    mode: str
    """family/mode"""
    line: str
    """patch series or configuration of kernels built here; often empty"""
    id: int
    """stays the same for all versions of the change"""
    trend_id: int
    version: int
    kind: ChangeKind
    state: ChangeState
    verdict: Literal["better", "worse"]
    before: float
    """geometric mean of the values before, in the metric's unit"""
    after: float
    effect_percent: float | None
    """null: the level before is 0"""
    ci_low_percent: float | None
    ci_high_percent: float | None
    p: float
    """of the permutation test that found it"""
    values_before: int
    values_after: int
    at: str
    """the first value at the new level"""
    earliest_at: str
    """the change lies between these two (95 %)"""
    latest_at: str
    until: str | None
    """of one that went away: the first value without it"""
    run_before: int
    """run of the last value before"""
    run_after: int
    """run of the first value after"""
    experiment_before: int
    experiment_after: int
    hosts: list[str]
    """hosts that have it"""
    causes: list[Cause]
    """empty: nothing known changed"""
    moved_to: list[MovedTo]
    found_at: str
    """when it was seen first"""
    written_at: str
    superseded_at: NotRequired[str | None]
    """null: this is what is said now"""
    reason: NotRequired[str]
    """why this version was written"""
    said_by: NotRequired[str]
    """who accepted or expected it"""
    said: NotRequired[str]


class TrendLevel(TypedDict):
    """Values between two changes."""

    first: int
    """place of its first value, from 0"""
    end: int
    """place after its last value"""
    mean: float


class TrendPage(TypedDict):
    """Some trends: those whose change is newest first, then those without one."""

    trends: list[TrendSummary]
    total: int
    next: int | None
    """`offset` of the next page; null: this is the last"""


class TrendPoint(TypedDict):
    """One value: an arm of one run."""

    run_id: int
    experiment_id: int
    case_id: int
    at: str
    value: float
    """geometric mean of the boots' means, in the metric's unit"""
    low: float | None
    """95 % interval from the boots; null: one boot"""
    high: float | None
    boots: int
    host: str
    kernel: str
    arm: str
    profiled: bool
    """whether its boots have profiles of the case"""
    outlier: bool
    turned: list[str]
    """
    kernel, microcode, firmware and the like that are others than at the host's value before, in
    words
    """


class TrendSummary(TypedDict):
    """A line in the list of trends."""

    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    mode: str
    """family/mode"""
    line: str
    """patch series or configuration of kernels built here; often empty"""
    id: int
    primary: bool
    values: int
    first_at: str | None
    """null, as the next two: not looked at yet"""
    last_at: str | None
    level: float | None
    """since the last change, in the metric's unit"""
    open_changes: int
    change: TrendChange | None
    """the newest one; null: none"""
    sparkline: list[float]
    """the newest values, in percent of the level"""
    notes: list[str]
    """what to know before believing it"""


class TrendView(TypedDict):
    """One trend with its values."""

    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    workload: str
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Literal["lower", "higher"]
    mode: str
    """family/mode"""
    line: str
    """patch series or configuration of kernels built here; often empty"""
    id: int
    primary: bool
    delta_percent: float
    """a smaller change is none"""
    level: float | None
    values: list[TrendPoint]
    """by time; the newest ones where there are many"""
    left_out: NotRequired[int]
    """older values that are not shown"""
    levels: list[TrendLevel]
    changes: list[TrendChange]
    """what is said now, by time"""
    earlier: list[TrendChange]
    """versions that no longer hold, newest first"""
    annotations: list[Annotation]
    others: list[OtherTrend]
    notes: list[str]


class UnmatchedCount(TypedDict):
    """So many rows stand in no pair, and why."""

    reason: Unmatched
    rows: int


class VerdictSummary(TypedDict):
    """One verdict, in short."""

    case_id: int
    case: str
    metric_title: str
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: NotRequired[Bound]
    """what the figure says of the true change"""
    verdict: str | None


class WaitingForHosts(TypedDict):
    """What waits for one host."""

    host: str
    environment: str
    runs: int
    starts_in_s: float | None
    """the first of them; null: cannot be told"""
    not_known: str
    """why its start cannot be told"""


class WeeklyLine(TypedDict):
    """A line in the list of weekly reports."""

    week: str
    in_words: str
    complete: bool
    """whether the week was over when the report was made"""
    version: int
    made_at: str
    sent_at: str | None
    new_worse: int
    new_better: int
    open_worse: int
    counts: Counts


class WeeklyView(TypedDict):
    """One week's report, arranged for reading."""

    week: str
    in_words: str
    complete: bool
    version: int
    made_at: str
    before: str | None
    """the week before it that has a report"""
    after: str | None
    document: Document


class WholeExperimentView(TypedDict):
    """One experiment with each of its boots: everything a program would want."""

    id: int
    name: str
    question: str
    state: ExperimentState
    submitted_by: str
    """who may cancel it beside approvers and admins"""
    emulated: bool
    counted: NotRequired[bool]
    """whether a host's time counts instructions"""
    hosts: list[str]
    created_at: str
    started_at: str | None
    finished_at: str | None
    boots_done: int
    boots_total: int
    headline: NotRequired[str]
    """verdicts by kind, and the plainest effect, in words"""
    worst_effect_percent: NotRequired[float | None]
    """the plainest effect, where it is for the worse; null: nothing is worse"""
    recorded: NotRequired[Recorded | None]
    """null: it ran here"""
    environment: str
    seed: int
    spec_text: str
    comparisons: list[ComparisonView]
    runs: list[RunView]
    host_facts: NotRequired[dict[str, HostFacts]]
    """by host name"""
    boots: list[BootLine]


class WorkerView(TypedDict):
    """A worker, what it can do, and when it was last seen."""

    name: str
    machine: str
    version: str
    schema_revision: str
    alive: bool
    stopped: bool
    """whether it ended by itself"""
    jobs: list[Ability]
    hosts: dict[str, list[str]]
    """environment → hosts that it reaches"""
    architecture: str
    lacks: list[Missing]
    started_at: str
    seen_at: str


Ability = Literal["kernels", "archives", "mail", "letters", "backups", "digests"]
AbsenceKind = Literal["set_aside", "reserved"]
Action = Literal[
    "experiment.submit",
    "experiment.cancel",
    "experiment.begin",
    "experiment.end",
    "experiment.import",
    "experiment.judge",
    "job.ask",
    "job.begin",
    "job.end",
    "job.cancel",
    "host.set-aside",
    "host.resume",
    "host.reserve",
    "host.release",
    "token.create",
    "token.revoke",
    "session.begin",
    "session.end",
    "series.add",
    "series.set",
    "series.approve",
    "series.retest",
    "request.decide",
    "request.approve",
    "request.ignore",
    "kernel.import",
    "kernel.remove",
    "bisection.start",
    "bisection.cancel",
    "bisection.end",
    "trend.annotate",
    "trend.accept",
    "regression.file",
    "regression.change",
    "subscription.add",
    "subscription.pause",
    "subscription.resume",
    "subscription.remove",
    "claims.import",
    "profile.import",
    "report.make",
    "mail.send",
    "backup.take",
    "backup.remove",
    "backup.restore",
    "database.prune",
    "database.upgrade",
]
AnswerKind = Literal["found", "several", "none_of_these", "refused", "undecided"]
Attested = Literal["pass", "fail", "missing"]
BisectionKind = Literal["patches", "commits", "arms"]
BisectionState = Literal["running", "finished", "failed", "cancelled"]
BootMethod = Literal["reset", "kexec", "within"]
BootState = Literal[
    "planned",
    "booting",
    "measuring",
    "effective",
    "not_effective",
    "wrong_kernel",
    "did_not_boot",
    "lab_fault",
    "invalid",
    "skipped",
]
Bound = Literal["exact", "at_least", "at_most", "nothing"]
CauseKind = Literal[
    "kernel",
    "mitigations",
    "microcode",
    "firmware",
    "bios_setting",
    "processor",
    "tools",
    "workload",
    "mode",
    "host",
]
CellState = Literal["baseline", "measured", "not_effective", "no_data"]
Change = Literal["same", "changed", "new", "gone"]
ChangeKind = Literal["lasting", "went_away", "withdrawn"]
ChangeState = Literal["open", "accepted", "expected"]
ClaimOutcome = Literal["reproduced", "contradicted", "undecided", "not_measured", "emulated"]
Clock = Literal["real", "counted"]
EntryKind = Literal["found", "state", "owner", "bug", "bisection", "joined", "note"]
ExperimentState = Literal["queued", "running", "finished", "failed", "cancelled"]
FoundKind = Literal[
    "experiment", "regression", "bisection", "series", "trend", "host", "kernel", "week"
]
HostState = Literal["free", "in-use", "reserved", "set-aside"]
JobKind = Literal[
    "kernel", "revision", "bisection", "archives", "mailbox", "weekly", "backup", "digests"
]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]
KernelState = Literal["building", "built", "failed", "removed"]
Means = Literal["nothing", "token", "session", "proxy"]
Origin = Literal["trend", "cell"]
PairJudgement = Literal["differs", "no-difference-seen", "not-compared"]
PairSort = Literal["difference", "plan", "q"]
RegressionState = Literal[
    "new", "confirmed", "assigned", "known", "fixed", "false", "not-worth-it", "duplicate"
]
RequestKind = Literal["test", "fix", "stop", "unclear"]
RequestState = Literal["waiting", "accepted", "refused", "done", "ignored"]
RevertOutcome = Literal["gone", "part", "nothing", "worse"]
RevisionState = Literal[
    "refused",
    "waiting",
    "approved",
    "building",
    "measuring",
    "failed",
    "set_aside",
    "nothing_runs_it",
]
Right = Literal[
    "read",
    "submit",
    "cancel own",
    "cancel any",
    "resume a host",
    "reserve a host",
    "set a host aside or break a reservation",
    "approve a series",
    "read the audit log",
    "triage regressions and trends",
    "subscribe",
    "see and end everybody's subscriptions",
]
Role = Literal["viewer", "runner", "submitter", "approver", "admin"]
RunState = Literal["queued", "running", "finished", "failed", "cancelled"]
Sort = Literal["newest", "oldest", "name", "effect"]
SubjectKind = Literal[
    "experiment",
    "job",
    "host",
    "token",
    "session",
    "series",
    "request",
    "kernel",
    "bisection",
    "trend",
    "regression",
    "subscription",
    "claims",
    "profile",
    "report",
    "mail",
    "backup",
    "database",
]
SubscriptionKind = Literal["my-regressions", "new-regressions", "series", "case", "host", "week"]
SubscriptionState = Literal["active", "paused"]
TellWay = Literal["mail", "webhook"]
Template = Literal["json", "slack", "mattermost", "matrix"]
Unmatched = Literal[
    "only-in-a", "only-in-b", "host-only-in-a", "host-only-in-b", "other-clock", "other-unit"
]
Verdict = Literal["better", "worse", "same", "undecided"]
Way = Literal["web", "api", "command", "mail", "worker"]
