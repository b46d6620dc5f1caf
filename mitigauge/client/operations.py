"""Every route of the API as a method.

Written by `scripts/python_client` from the API's description.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mitigauge.client import shapes
from mitigauge.client.transport import Parameter, Transport, in_path


class Client(Transport):
    """Asks one service: see :class:`Transport`. Answers are dictionaries of `shapes`."""

    def live(self) -> shapes.Health:
        """The process answers."""
        asked: dict[str, Parameter] = {}
        found: shapes.Health = self._json("GET", "/api/v1/health/live", asked)
        return found

    def ready(self) -> shapes.Health:
        """The database answers and its schema is at head; 503 with the way out otherwise."""
        asked: dict[str, Parameter] = {}
        found: shapes.Health = self._json("GET", "/api/v1/health/ready", asked)
        return found

    def list_experiments(
        self,
        *,
        before: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
        find: str | None = None,
        state: Sequence[shapes.ExperimentState] | None = None,
        who: str | None = None,
        since: str | None = None,
        until: str | None = None,
        host: str | None = None,
        workload: str | None = None,
        mode: str | None = None,
        verdict: shapes.Verdict | None = None,
        sort: shapes.Sort | None = None,
    ) -> shapes.ExperimentPage:
        """Experiments, newest first, a page at a time: by `offset`, or from `before` on."""
        asked: dict[str, Parameter] = {
            "before": before,
            "offset": offset,
            "limit": limit,
            "find": find,
            "state": state,
            "who": who,
            "since": since,
            "until": until,
            "host": host,
            "workload": workload,
            "mode": mode,
            "verdict": verdict,
            "sort": sort,
        }
        found: shapes.ExperimentPage = self._json("GET", "/api/v1/experiments", asked)
        return found

    def submit_experiment(self, text: str, *, name: str | None = None) -> shapes.ExperimentHead:
        """
        Submit a spec (YAML). It is refused whole, with line and known names, or planned whole.
        """
        asked: dict[str, Parameter] = {"name": name}
        found: shapes.ExperimentHead = self._json_of_text(
            "POST", "/api/v1/experiments", asked, text
        )
        return found

    def list_choices(self) -> shapes.ExperimentChoices:
        """
        What the list can be filtered by: submitters, hosts, workloads and modes that there are.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.ExperimentChoices = self._json("GET", "/api/v1/experiments/choices", asked)
        return found

    def show_experiment(self, experiment_id: int) -> shapes.ExperimentHead:
        """One experiment with its arms and runs; its matrices are at ``/matrix``."""
        asked: dict[str, Parameter] = {}
        found: shapes.ExperimentHead = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}", asked
        )
        return found

    def show_whole(self, experiment_id: int) -> shapes.WholeExperimentView:
        """
        The experiment with its matrices, and each of its boots with its values, where not too many.

        Where there are more, `iterations.jsonl` has them piece by piece.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.WholeExperimentView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/whole", asked
        )
        return found

    def show_matrix(self, experiment_id: int) -> shapes.MatrixView:
        """Every matrix of the experiment, from verdicts as they were stored."""
        asked: dict[str, Parameter] = {}
        found: shapes.MatrixView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/matrix", asked
        )
        return found

    def cancel_experiment(self, experiment_id: int) -> shapes.ProgressView:
        """Ask an experiment to stop; its hosts are restored first. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.ProgressView = self._json(
            "POST", f"/api/v1/experiments/{in_path(experiment_id)}/cancel", asked
        )
        return found

    def show_progress(self, experiment_id: int) -> shapes.ProgressView:
        """Where it stands right now."""
        asked: dict[str, Parameter] = {}
        found: shapes.ProgressView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/progress", asked
        )
        return found

    def show_log(
        self, experiment_id: int, *, after: int | None = None, limit: int | None = None
    ) -> list[shapes.EventView]:
        """The event log, oldest first, from *after* on."""
        asked: dict[str, Parameter] = {"after": after, "limit": limit}
        found: list[shapes.EventView] = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/log", asked
        )
        return found

    def show_case(
        self, experiment_id: int, case_id: int, *, host: str | None = None
    ) -> shapes.CaseView:
        """One case on one host, every boot a point."""
        asked: dict[str, Parameter] = {"host": host}
        found: shapes.CaseView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/cases/{in_path(case_id)}", asked
        )
        return found

    def show_collected(
        self, experiment_id: int, case_id: int, *, host: str | None = None
    ) -> shapes.CollectedView:
        """What was collected once a second beside one case on one host, arms over one another."""
        asked: dict[str, Parameter] = {"host": host}
        found: shapes.CollectedView = self._json(
            "GET",
            f"/api/v1/experiments/{in_path(experiment_id)}/cases/{in_path(case_id)}/collected",
            asked,
        )
        return found

    def show_consequences(self, experiment_id: int) -> shapes.ConsequencesView:
        """
        What exits explain of its changes, and what costs of single operations did to real work.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.ConsequencesView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/consequences", asked
        )
        return found

    def show_claims(self, experiment_id: int) -> list[shapes.ClaimSourceView]:
        """Published figures about what the experiment measures, set beside its own."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.ClaimSourceView] = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/claims", asked
        )
        return found

    def report(
        self, experiment_id: int, *, format: Literal["text", "markdown"] | None = None
    ) -> str:
        """The matrix as text for a mailing list, plain or Markdown."""
        asked: dict[str, Parameter] = {"format": format}
        return self._text("GET", f"/api/v1/experiments/{in_path(experiment_id)}/report", asked)

    def list_specs(self) -> list[shapes.ReadyMadeHead]:
        """The specs that come with the service, by name."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.ReadyMadeHead] = self._json("GET", "/api/v1/specs", asked)
        return found

    def show_spec(self, name: str) -> shapes.ReadyMadeSpec:
        """One of them with its text."""
        asked: dict[str, Parameter] = {}
        found: shapes.ReadyMadeSpec = self._json("GET", f"/api/v1/specs/{in_path(name)}", asked)
        return found

    def check_spec(self, text: str, *, name: str | None = None) -> shapes.SpecForecast:
        """What a spec (YAML) would plan, or what is wrong with it. Nothing is stored."""
        asked: dict[str, Parameter] = {"name": name}
        found: shapes.SpecForecast = self._json_of_text("POST", "/api/v1/forecasts", asked, text)
        return found

    def matrix_as_csv(self, experiment_id: int) -> str:
        """Every cell of the matrices as a row."""
        asked: dict[str, Parameter] = {}
        return self._text("GET", f"/api/v1/experiments/{in_path(experiment_id)}/matrix.csv", asked)

    def matrix_as_json(self, experiment_id: int) -> shapes.ExperimentView:
        """The experiment with its matrices, as a file."""
        asked: dict[str, Parameter] = {}
        found: shapes.ExperimentView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/matrix.json", asked
        )
        return found

    def iterations_as_csv(
        self, experiment_id: int, *, case: int | None = None, host: str | None = None
    ) -> str:
        """Every value as a row, warm-ups and iterations that were taken again included."""
        asked: dict[str, Parameter] = {"case": case, "host": host}
        return self._text(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/iterations.csv", asked
        )

    def iterations_as_json(
        self, experiment_id: int, *, case: int | None = None, host: str | None = None
    ) -> str:
        """The same, a line of JSON each."""
        asked: dict[str, Parameter] = {"case": case, "host": host}
        return self._text(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/iterations.jsonl", asked
        )

    def table_file(
        self,
        experiment_id: int,
        kind: str,
        suffix: Literal["txt", "md", "csv", "json"],
        *,
        figures: bool | None = None,
        case: int | None = None,
        host: str | None = None,
        metric: str | None = None,
        seconds: float | None = None,
        figure: str | None = None,
        arm: str | None = None,
        function: str | None = None,
        other: int | None = None,
    ) -> str:
        """A table as text for a mailing list, as Markdown, as CSV, or as JSON."""
        asked: dict[str, Parameter] = {
            "figures": figures,
            "case": case,
            "host": host,
            "metric": metric,
            "seconds": seconds,
            "figure": figure,
            "arm": arm,
            "function": function,
            "other": other,
        }
        return self._text(
            "GET",
            f"/api/v1/experiments/{in_path(experiment_id)}/tables/{in_path(kind)}.{in_path(suffix)}",
            asked,
        )

    def show_table(
        self,
        experiment_id: int,
        kind: str,
        *,
        case: int | None = None,
        host: str | None = None,
        metric: str | None = None,
        seconds: float | None = None,
        figure: str | None = None,
        arm: str | None = None,
        function: str | None = None,
        other: int | None = None,
    ) -> shapes.TableView:
        """A table of any kind: matrix, counters, threads, loss, details, functions and others."""
        asked: dict[str, Parameter] = {
            "case": case,
            "host": host,
            "metric": metric,
            "seconds": seconds,
            "figure": figure,
            "arm": arm,
            "function": function,
            "other": other,
        }
        found: shapes.TableView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/tables/{in_path(kind)}", asked
        )
        return found

    def show_loss(
        self, experiment_id: int, *, case: int | None = None, metric: str | None = None
    ) -> shapes.LossView:
        """Two families of modes crossed, by processor; of all primary metrics, or of one case's."""
        asked: dict[str, Parameter] = {"case": case, "metric": metric}
        found: shapes.LossView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/loss", asked
        )
        return found

    def show_counters(
        self, experiment_id: int, *, case: int | None = None, host: str | None = None
    ) -> shapes.CountersView:
        """Counters of one operation over all arms, of every case that counts or of one."""
        asked: dict[str, Parameter] = {"case": case, "host": host}
        found: shapes.CountersView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/counters", asked
        )
        return found

    def show_threads(
        self, experiment_id: int, *, case: int | None = None, host: str | None = None
    ) -> shapes.ThreadsView:
        """Wake-ups, run time and wait time by thread name, of every case that tells or of one."""
        asked: dict[str, Parameter] = {"case": case, "host": host}
        found: shapes.ThreadsView = self._json(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/threads", asked
        )
        return found

    def show_details(
        self, experiment_id: int, case_id: int, *, host: str | None = None
    ) -> shapes.DetailsView:
        """What one case on one host tells besides its metrics: a curve over a load, breakdowns."""
        asked: dict[str, Parameter] = {"host": host}
        found: shapes.DetailsView = self._json(
            "GET",
            f"/api/v1/experiments/{in_path(experiment_id)}/cases/{in_path(case_id)}/details",
            asked,
        )
        return found

    def loss_report(
        self,
        experiment_id: int,
        *,
        case: int | None = None,
        metric: str | None = None,
        format: Literal["text", "markdown", "csv"] | None = None,
    ) -> str:
        """The same as text for a mailing list, as Markdown, or as CSV."""
        asked: dict[str, Parameter] = {"case": case, "metric": metric, "format": format}
        return self._text("GET", f"/api/v1/experiments/{in_path(experiment_id)}/loss/report", asked)

    def counters_report(
        self,
        experiment_id: int,
        *,
        case: int | None = None,
        host: str | None = None,
        format: Literal["text", "markdown", "csv"] | None = None,
    ) -> str:
        """The same as text for a mailing list, as Markdown, or as CSV."""
        asked: dict[str, Parameter] = {"case": case, "host": host, "format": format}
        return self._text(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/counters/report", asked
        )

    def threads_report(
        self,
        experiment_id: int,
        *,
        case: int | None = None,
        host: str | None = None,
        seconds: float | None = None,
        format: Literal["text", "markdown", "csv"] | None = None,
    ) -> str:
        """
        The same as text for a mailing list, as Markdown, or as CSV (in 5 s, if nothing is said).
        """
        asked: dict[str, Parameter] = {
            "case": case,
            "host": host,
            "seconds": seconds,
            "format": format,
        }
        return self._text(
            "GET", f"/api/v1/experiments/{in_path(experiment_id)}/threads/report", asked
        )

    def details_report(
        self,
        experiment_id: int,
        case_id: int,
        *,
        host: str | None = None,
        format: Literal["text", "markdown", "csv"] | None = None,
    ) -> str:
        """The same as text for a mailing list, as Markdown, or as CSV."""
        asked: dict[str, Parameter] = {"host": host, "format": format}
        return self._text(
            "GET",
            f"/api/v1/experiments/{in_path(experiment_id)}/cases/{in_path(case_id)}/details/report",
            asked,
        )

    def show_boot(self, boot_id: int) -> shapes.BootView:
        """One boot: proof, raw iterations, steps, fingerprint, console."""
        asked: dict[str, Parameter] = {}
        found: shapes.BootView = self._json("GET", f"/api/v1/boots/{in_path(boot_id)}", asked)
        return found

    def raw_output(self, digest: str) -> bytes:
        """A raw file by its SHA-256, always as a download."""
        asked: dict[str, Parameter] = {}
        return self._content("GET", f"/api/v1/blobs/{in_path(digest)}", asked)

    def list_hosts(
        self, *, find: str | None = None, state: Sequence[shapes.HostState] | None = None
    ) -> list[shapes.HostSummary]:
        """Hosts by environment and name."""
        asked: dict[str, Parameter] = {"find": find, "state": state}
        found: list[shapes.HostSummary] = self._json("GET", "/api/v1/hosts", asked)
        return found

    def show_host(self, name: str, *, environment: str | None = None) -> shapes.HostView:
        """
        One host with its fingerprints and experiments; *environment* where several have the name.
        """
        asked: dict[str, Parameter] = {"environment": environment}
        found: shapes.HostView = self._json("GET", f"/api/v1/hosts/{in_path(name)}", asked)
        return found

    def resume_host(self, environment: str, name: str) -> shapes.HostView:
        """Use a host again that was set aside. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.HostView = self._json(
            "POST", f"/api/v1/hosts/{in_path(environment)}/{in_path(name)}/resume", asked
        )
        return found

    def set_host_aside(self, environment: str, name: str, body: shapes.Reason) -> shapes.HostView:
        """Let no run begin on a host until somebody resumes it; one that holds it goes on."""
        asked: dict[str, Parameter] = {}
        found: shapes.HostView = self._json(
            "POST", f"/api/v1/hosts/{in_path(environment)}/{in_path(name)}/set-aside", asked, body
        )
        return found

    def reserve_host(
        self, environment: str, name: str, body: shapes.Reservation
    ) -> shapes.HostView:
        """Keep a host for oneself: no run begins on it before then; one that holds it goes on."""
        asked: dict[str, Parameter] = {}
        found: shapes.HostView = self._json(
            "POST", f"/api/v1/hosts/{in_path(environment)}/{in_path(name)}/reserve", asked, body
        )
        return found

    def release_host(self, environment: str, name: str) -> shapes.HostView:
        """
        Let runs begin on a reserved host again. A body is not read.

        To break what somebody else reserved needs the right to set hosts aside.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.HostView = self._json(
            "POST", f"/api/v1/hosts/{in_path(environment)}/{in_path(name)}/release", asked
        )
        return found

    def diff(
        self,
        *,
        basis: Literal["operation", "share", "raw"] | None = None,
        merge: bool | None = None,
        a: str,
        b: str,
        experiment: int | None = None,
        case: int | None = None,
        host: str | None = None,
        b_experiment: int | None = None,
        b_case: int | None = None,
        b_host: str | None = None,
        tree: str | None = None,
        where: Literal["host", "guest", "off-cpu"] | None = None,
    ) -> bytes:
        """The diff of *b* against *a*, in binary: see docs/profiles.md."""
        asked: dict[str, Parameter] = {
            "basis": basis,
            "merge": merge,
            "a": a,
            "b": b,
            "experiment": experiment,
            "case": case,
            "host": host,
            "b_experiment": b_experiment,
            "b_case": b_case,
            "b_host": b_host,
            "tree": tree,
            "where": where,
        }
        return self._content("GET", "/api/v1/profiles/diff", asked)

    def diff_as_svg(
        self,
        *,
        basis: Literal["operation", "share", "raw"] | None = None,
        merge: bool | None = None,
        a: str,
        b: str,
        experiment: int | None = None,
        case: int | None = None,
        host: str | None = None,
        b_experiment: int | None = None,
        b_case: int | None = None,
        b_host: str | None = None,
        tree: str | None = None,
        where: Literal["host", "guest", "off-cpu"] | None = None,
    ) -> str:
        """The same diff, drawn by inferno or FlameGraph if one is installed with the service."""
        asked: dict[str, Parameter] = {
            "basis": basis,
            "merge": merge,
            "a": a,
            "b": b,
            "experiment": experiment,
            "case": case,
            "host": host,
            "b_experiment": b_experiment,
            "b_case": b_case,
            "b_host": b_host,
            "tree": tree,
            "where": where,
        }
        return self._text("GET", "/api/v1/profiles/diff.svg", asked)

    def instructions(
        self,
        *,
        function: str | None = None,
        basis: Literal["operation", "share", "raw"] | None = None,
        a: str,
        b: str,
        experiment: int | None = None,
        case: int | None = None,
        host: str | None = None,
        b_experiment: int | None = None,
        b_case: int | None = None,
        b_host: str | None = None,
        tree: str | None = None,
        where: Literal["host", "guest", "off-cpu"] | None = None,
    ) -> shapes.InstructionTable:
        """A function's instructions on both sides, as they ran, with their samples."""
        asked: dict[str, Parameter] = {
            "function": function,
            "basis": basis,
            "a": a,
            "b": b,
            "experiment": experiment,
            "case": case,
            "host": host,
            "b_experiment": b_experiment,
            "b_case": b_case,
            "b_host": b_host,
            "tree": tree,
            "where": where,
        }
        found: shapes.InstructionTable = self._json("GET", "/api/v1/profiles/instructions", asked)
        return found

    def exact_counts(
        self,
        *,
        function: str | None = None,
        a: str,
        b: str,
        experiment: int,
        case: int,
        host: str,
        b_experiment: int | None = None,
        b_case: int | None = None,
        b_host: str | None = None,
    ) -> shapes.ExactTable:
        """What an operation runs on both sides, to the instruction, as an emulator counted it."""
        asked: dict[str, Parameter] = {
            "function": function,
            "a": a,
            "b": b,
            "experiment": experiment,
            "case": case,
            "host": host,
            "b_experiment": b_experiment,
            "b_case": b_case,
            "b_host": b_host,
        }
        found: shapes.ExactTable = self._json("GET", "/api/v1/profiles/exact", asked)
        return found

    def exact_flame_graph(
        self,
        *,
        merge: bool | None = None,
        a: str,
        b: str,
        experiment: int,
        case: int,
        host: str,
        b_experiment: int | None = None,
        b_case: int | None = None,
        b_host: str | None = None,
    ) -> bytes:
        """Sampled stacks with exact counts as their totals, in binary: see docs/exact.md."""
        asked: dict[str, Parameter] = {
            "merge": merge,
            "a": a,
            "b": b,
            "experiment": experiment,
            "case": case,
            "host": host,
            "b_experiment": b_experiment,
            "b_case": b_case,
            "b_host": b_host,
        }
        return self._content("GET", "/api/v1/profiles/exact/graph", asked)

    def groups(
        self,
        *,
        experiment: int,
        case: int,
        where: Literal["host", "guest", "off-cpu"] | None = None,
    ) -> list[shapes.ProfileGroupView]:
        """What a case's profiles can be compared with: other arms, hosts and experiments."""
        asked: dict[str, Parameter] = {"experiment": experiment, "case": case, "where": where}
        found: list[shapes.ProfileGroupView] = self._json("GET", "/api/v1/profiles/groups", asked)
        return found

    def case_profiles(
        self,
        *,
        experiment: int,
        case: int,
        host: str,
        where: Literal["host", "guest", "off-cpu"] | None = None,
    ) -> shapes.CaseProfilesView:
        """Every arm's profiles of a case on a host: totals, functions that explain, counters."""
        asked: dict[str, Parameter] = {
            "experiment": experiment,
            "case": case,
            "host": host,
            "where": where,
        }
        found: shapes.CaseProfilesView = self._json("GET", "/api/v1/profiles/case", asked)
        return found

    def functions(
        self,
        *,
        experiment: int,
        case: int,
        host: str,
        where: Literal["host", "guest", "off-cpu"] | None = None,
        basis: Literal["operation", "share", "raw"] | None = None,
        measure: Literal["self", "total"] | None = None,
        sort: Literal["difference", "cost", "q", "name"] | None = None,
        arm: str | None = None,
        upwards: bool | None = None,
        search: str | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> shapes.FunctionsView:
        """Functions of a case's profiles over all its arms, each against the baseline."""
        asked: dict[str, Parameter] = {
            "experiment": experiment,
            "case": case,
            "host": host,
            "where": where,
            "basis": basis,
            "measure": measure,
            "sort": sort,
            "arm": arm,
            "upwards": upwards,
            "search": search,
            "offset": offset,
            "limit": limit,
        }
        found: shapes.FunctionsView = self._json("GET", "/api/v1/profiles/functions", asked)
        return found

    def show_pair(
        self,
        *,
        a: int,
        b: int,
        find: str | None = None,
        workload: str | None = None,
        only: Literal["", "differs"] | None = None,
        hosts: Sequence[str] | None = None,
        sort: shapes.PairSort | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> shapes.PairView:
        """
        Rows that experiments a and b have in common: both effects and their difference.

        All common rows are judged together, whatever is filtered.
        """
        asked: dict[str, Parameter] = {
            "a": a,
            "b": b,
            "find": find,
            "workload": workload,
            "only": only,
            "hosts": hosts,
            "sort": sort,
            "offset": offset,
            "limit": limit,
        }
        found: shapes.PairView = self._json("GET", "/api/v1/pairs", asked)
        return found

    def show_prices(self) -> shapes.Prices:
        """Prices by processor, and the newest 200 checks of what they predict."""
        asked: dict[str, Parameter] = {}
        found: shapes.Prices = self._json("GET", "/api/v1/prices", asked)
        return found

    def show_price_check(self, check_id: int) -> shapes.CheckRows:
        """One check: what was measured and what was predicted of each arm."""
        asked: dict[str, Parameter] = {}
        found: shapes.CheckRows = self._json(
            "GET", f"/api/v1/prices/checks/{in_path(check_id)}", asked
        )
        return found

    def show_queue(self) -> list[shapes.HostQueue]:
        """Hosts that run something, for which something waits, or that somebody keeps."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.HostQueue] = self._json("GET", "/api/v1/queue", asked)
        return found

    def list_series(
        self, *, find: str | None = None, state: Sequence[shapes.RevisionState] | None = None
    ) -> list[shapes.SeriesHead]:
        """The newest series, each with where its newest revision stands."""
        asked: dict[str, Parameter] = {"find": find, "state": state}
        found: list[shapes.SeriesHead] = self._json("GET", "/api/v1/series", asked)
        return found

    def show_series(self, name: str) -> shapes.SeriesView:
        """One series with its revisions, the first one first."""
        asked: dict[str, Parameter] = {}
        found: shapes.SeriesView = self._json("GET", f"/api/v1/series/{in_path(name)}", asked)
        return found

    def show_line(self, name: str) -> shapes.SeriesLine:
        """What was said of each case and mode, revision by revision; the worst first."""
        asked: dict[str, Parameter] = {}
        found: shapes.SeriesLine = self._json("GET", f"/api/v1/series/{in_path(name)}/line", asked)
        return found

    def show_revision(self, name: str, *, label: str | None = None) -> shapes.RevisionView:
        """One revision whole: `v3`, or `v3+fix-7`; without a label the newest."""
        asked: dict[str, Parameter] = {"label": label}
        found: shapes.RevisionView = self._json(
            "GET", f"/api/v1/series/{in_path(name)}/revision", asked
        )
        return found

    def approve_revision(
        self, name: str, revision: str, body: shapes.ApprovalInput
    ) -> shapes.RevisionView:
        """Say that a revision's patches, those of that digest, may run on our hosts."""
        asked: dict[str, Parameter] = {}
        found: shapes.RevisionView = self._json(
            "POST", f"/api/v1/series/{in_path(name)}/{in_path(revision)}/approve", asked, body
        )
        return found

    def start_revision(
        self, name: str, revision: str, body: shapes.StartRequest | None
    ) -> shapes.JobView:
        """
        Have an approved revision built and measured.

        Cases that are known to run nothing of what it changes are left out, unless `all_cases` is
        true.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.JobView = self._json(
            "POST", f"/api/v1/series/{in_path(name)}/{in_path(revision)}/start", asked, body
        )
        return found

    def list_requests(self, *, waiting: bool | None = None) -> list[shapes.RequestView]:
        """Requests that came by mail, the newest first."""
        asked: dict[str, Parameter] = {"waiting": waiting}
        found: list[shapes.RequestView] = self._json("GET", "/api/v1/requests", asked)
        return found

    def show_request(self, request_id: int) -> shapes.RequestWhole:
        """One request with its whole mail."""
        asked: dict[str, Parameter] = {}
        found: shapes.RequestWhole = self._json(
            "GET", f"/api/v1/requests/{in_path(request_id)}", asked
        )
        return found

    def approve_request(self, request_id: int, body: shapes.RequestApproval) -> shapes.RequestView:
        """Say that the mail of that digest is meant: its diff may then run on our hosts."""
        asked: dict[str, Parameter] = {}
        found: shapes.RequestView = self._json(
            "POST", f"/api/v1/requests/{in_path(request_id)}/approve", asked, body
        )
        return found

    def ignore_request(self, request_id: int) -> shapes.RequestView:
        """Leave a request alone: it gets no answer. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.RequestView = self._json(
            "POST", f"/api/v1/requests/{in_path(request_id)}/ignore", asked
        )
        return found

    def list_bisections(
        self, *, find: str | None = None, state: Sequence[shapes.BisectionState] | None = None
    ) -> list[shapes.BisectionHead]:
        """The newest bisections, and what each one answered."""
        asked: dict[str, Parameter] = {"find": find, "state": state}
        found: list[shapes.BisectionHead] = self._json("GET", "/api/v1/bisections", asked)
        return found

    def start_bisection(self, body: shapes.BisectionRequest) -> shapes.BisectionView:
        """
        Have a bisection taken on: over an approved revision, patches, or an ordered list of arms.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.BisectionView = self._json("POST", "/api/v1/bisections", asked, body)
        return found

    def propose_bisection(
        self,
        *,
        regression: int | None = None,
        experiment: int | None = None,
        case: int | None = None,
        host: str | None = None,
        arm: str | None = None,
        metric: str | None = None,
    ) -> shapes.BisectionProposal:
        """
        What `POST /api/bisections` could be sent for a regression, or for a cell of an experiment.

        Give `regression`, or all of `experiment`, `case`, `host`, `arm` and `metric`. Nothing
        is started.
        """
        asked: dict[str, Parameter] = {
            "regression": regression,
            "experiment": experiment,
            "case": case,
            "host": host,
            "arm": arm,
            "metric": metric,
        }
        found: shapes.BisectionProposal = self._json("GET", "/api/v1/bisections/proposal", asked)
        return found

    def show_bisection(self, bisection_id: int) -> shapes.BisectionView:
        """One bisection: candidates with their probability, steps, what was skipped, the answer."""
        asked: dict[str, Parameter] = {}
        found: shapes.BisectionView = self._json(
            "GET", f"/api/v1/bisections/{in_path(bisection_id)}", asked
        )
        return found

    def show_patch(self, bisection_id: int, position: int) -> str:
        """The patch of a candidate, from 1, as it is applied."""
        asked: dict[str, Parameter] = {}
        return self._text(
            "GET", f"/api/v1/bisections/{in_path(bisection_id)}/patches/{in_path(position)}", asked
        )

    def cancel_bisection(self, bisection_id: int) -> shapes.BisectionView:
        """Stop a bisection and the experiment that it waits for. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.BisectionView = self._json(
            "POST", f"/api/v1/bisections/{in_path(bisection_id)}/cancel", asked
        )
        return found

    def list_jobs(
        self,
        *,
        own: bool | None = None,
        find: str | None = None,
        state: Sequence[shapes.JobState] | None = None,
    ) -> list[shapes.JobView]:
        """The newest jobs."""
        asked: dict[str, Parameter] = {"own": own, "find": find, "state": state}
        found: list[shapes.JobView] = self._json("GET", "/api/v1/jobs", asked)
        return found

    def show_job(self, job_id: int) -> shapes.JobWhole:
        """One job with the latest lines of its log and its latest attempts."""
        asked: dict[str, Parameter] = {}
        found: shapes.JobWhole = self._json("GET", f"/api/v1/jobs/{in_path(job_id)}", asked)
        return found

    def cancel_job(self, job_id: int) -> shapes.JobView:
        """End a job: what it builds is stopped within seconds. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.JobView = self._json("POST", f"/api/v1/jobs/{in_path(job_id)}/cancel", asked)
        return found

    def list_workers(self) -> list[shapes.WorkerView]:
        """Workers of the last week: what each can do, what it lacks, when it was last seen."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.WorkerView] = self._json("GET", "/api/v1/workers", asked)
        return found

    def list_kernels(self) -> list[shapes.KernelView]:
        """Kernels that were built here or brought in."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.KernelView] = self._json("GET", "/api/v1/kernels", asked)
        return found

    def build_kernel(self, body: shapes.KernelRequest) -> shapes.JobView:
        """
        Have a kernel built: its code may then run as root on hosts. The same order is one job.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.JobView = self._json("POST", "/api/v1/kernels", asked, body)
        return found

    def show_kernel(self, name: str) -> shapes.KernelView:
        """One kernel, by its release, its label, or how its digest begins."""
        asked: dict[str, Parameter] = {}
        found: shapes.KernelView = self._json("GET", f"/api/v1/kernels/{in_path(name)}", asked)
        return found

    def list_weekly(self) -> list[shapes.WeeklyLine]:
        """Reports that were made, the newest week first."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.WeeklyLine] = self._json("GET", "/api/v1/weekly", asked)
        return found

    def show_weekly(self, week: str) -> shapes.WeeklyView:
        """One week's report, arranged for reading."""
        asked: dict[str, Parameter] = {}
        found: shapes.WeeklyView = self._json("GET", f"/api/v1/weekly/{in_path(week)}", asked)
        return found

    def weekly_file(
        self,
        week: str,
        *,
        format: Literal["text", "markdown", "html", "json", "mail"] | None = None,
    ) -> bytes:
        """The report as a file: text, Markdown, HTML, JSON, or a mail with its pictures."""
        asked: dict[str, Parameter] = {"format": format}
        return self._content("GET", f"/api/v1/weekly/{in_path(week)}/report", asked)

    def list_trends(
        self,
        *,
        environment: str | None = None,
        host_class: str | None = None,
        workload: str | None = None,
        mode: str | None = None,
        find: str | None = None,
        changed: bool | None = None,
        still_open: bool | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> shapes.TrendPage:
        """Trends, the newest change first, those without one last."""
        asked: dict[str, Parameter] = {
            "environment": environment,
            "host_class": host_class,
            "workload": workload,
            "mode": mode,
            "find": find,
            "changed": changed,
            "still_open": still_open,
            "offset": offset,
            "limit": limit,
        }
        found: shapes.TrendPage = self._json("GET", "/api/v1/trends", asked)
        return found

    def list_classes(self) -> list[shapes.ClassPage]:
        """Host classes that have trends."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.ClassPage] = self._json("GET", "/api/v1/trends/classes", asked)
        return found

    def show_stability(self) -> list[shapes.Stability]:
        """How far verdicts agree where the same two arms were compared again."""
        asked: dict[str, Parameter] = {}
        found: list[shapes.Stability] = self._json("GET", "/api/v1/trends/stability", asked)
        return found

    def show_trend(self, trend_id: int) -> shapes.TrendView:
        """One trend with its values, changes and annotations."""
        asked: dict[str, Parameter] = {}
        found: shapes.TrendView = self._json("GET", f"/api/v1/trends/{in_path(trend_id)}", asked)
        return found

    def annotate(self, trend_id: int, body: shapes.NewAnnotation) -> shapes.Annotation:
        """Say something of a trend, or of one of its changes."""
        asked: dict[str, Parameter] = {}
        found: shapes.Annotation = self._json(
            "POST", f"/api/v1/trends/{in_path(trend_id)}/annotations", asked, body
        )
        return found

    def accept_change(self, change_id: int, body: shapes.Acceptance) -> shapes.TrendChange:
        """Take a change as it is. Later values that say otherwise make its next version."""
        asked: dict[str, Parameter] = {}
        found: shapes.TrendChange = self._json(
            "POST", f"/api/v1/trends/changes/{in_path(change_id)}/accept", asked, body
        )
        return found

    def list_regressions(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        state: Sequence[shapes.RegressionState] | None = None,
        owner: str | None = None,
        environment: str | None = None,
        host_class: str | None = None,
        workload: str | None = None,
        find: str | None = None,
        since: str | None = None,
    ) -> shapes.RegressionPage:
        """Regressions: the open first, of these the newest."""
        asked: dict[str, Parameter] = {
            "offset": offset,
            "limit": limit,
            "state": state,
            "owner": owner,
            "environment": environment,
            "host_class": host_class,
            "workload": workload,
            "find": find,
            "since": since,
        }
        found: shapes.RegressionPage = self._json("GET", "/api/v1/regressions", asked)
        return found

    def file_regression(self, body: shapes.NewRegression) -> shapes.RegressionView:
        """Take a cell of an experiment that is worse for a regression."""
        asked: dict[str, Parameter] = {}
        found: shapes.RegressionView = self._json("POST", "/api/v1/regressions", asked, body)
        return found

    def show_regression(self, regression_id: int) -> shapes.RegressionView:
        """One regression with its history."""
        asked: dict[str, Parameter] = {}
        found: shapes.RegressionView = self._json(
            "GET", f"/api/v1/regressions/{in_path(regression_id)}", asked
        )
        return found

    def change_regression(
        self, regression_id: int, body: shapes.RegressionChange
    ) -> shapes.RegressionView:
        """Change state, owner, bug, or say something; 409 where somebody was quicker."""
        asked: dict[str, Parameter] = {}
        found: shapes.RegressionView = self._json(
            "POST", f"/api/v1/regressions/{in_path(regression_id)}", asked, body
        )
        return found

    def list_subscriptions(self, *, everybody: bool | None = None) -> list[shapes.SubscriptionView]:
        """One's own subscriptions, the newest first."""
        asked: dict[str, Parameter] = {"everybody": everybody}
        found: list[shapes.SubscriptionView] = self._json("GET", "/api/v1/subscriptions", asked)
        return found

    def add_subscription(self, body: shapes.NewSubscription) -> shapes.AddedSubscription:
        """Subscribe. The secret of a webhook is in this answer alone."""
        asked: dict[str, Parameter] = {}
        found: shapes.AddedSubscription = self._json("POST", "/api/v1/subscriptions", asked, body)
        return found

    def pause_subscription(self, subscription_id: int) -> shapes.SubscriptionView:
        """
        Tell nothing for a while; what happens meanwhile is not told later. A body is not read.
        """
        asked: dict[str, Parameter] = {}
        found: shapes.SubscriptionView = self._json(
            "POST", f"/api/v1/subscriptions/{in_path(subscription_id)}/pause", asked
        )
        return found

    def resume_subscription(self, subscription_id: int) -> shapes.SubscriptionView:
        """Tell again, from now on. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.SubscriptionView = self._json(
            "POST", f"/api/v1/subscriptions/{in_path(subscription_id)}/resume", asked
        )
        return found

    def remove_subscription(self, subscription_id: int) -> shapes.SubscriptionView:
        """End one; the answer is how it was. A body is not read."""
        asked: dict[str, Parameter] = {}
        found: shapes.SubscriptionView = self._json(
            "POST", f"/api/v1/subscriptions/{in_path(subscription_id)}/remove", asked
        )
        return found

    def feed_regressions(
        self,
        *,
        state: Sequence[shapes.RegressionState] | None = None,
        owner: str | None = None,
        environment: str | None = None,
        host_class: str | None = None,
        workload: str | None = None,
        find: str | None = None,
        since: str | None = None,
    ) -> str:
        """Regressions, those that changed last first; filtered as their list."""
        asked: dict[str, Parameter] = {
            "state": state,
            "owner": owner,
            "environment": environment,
            "host_class": host_class,
            "workload": workload,
            "find": find,
            "since": since,
        }
        return self._text("GET", "/api/v1/feeds/regressions.atom", asked)

    def feed_experiments(
        self,
        *,
        find: str | None = None,
        state: Sequence[shapes.ExperimentState] | None = None,
        who: str | None = None,
        since: str | None = None,
        until: str | None = None,
        host: str | None = None,
        workload: str | None = None,
        mode: str | None = None,
        verdict: shapes.Verdict | None = None,
        sort: shapes.Sort | None = None,
    ) -> str:
        """Experiments, those that changed last first; filtered as their list."""
        asked: dict[str, Parameter] = {
            "find": find,
            "state": state,
            "who": who,
            "since": since,
            "until": until,
            "host": host,
            "workload": workload,
            "mode": mode,
            "verdict": verdict,
            "sort": sort,
        }
        return self._text("GET", "/api/v1/feeds/experiments.atom", asked)

    def feed_series(self) -> str:
        """Series, those with the newest revision first."""
        asked: dict[str, Parameter] = {}
        return self._text("GET", "/api/v1/feeds/series.atom", asked)

    def feed_weekly(self) -> str:
        """Reports of weeks that are over, the newest first."""
        asked: dict[str, Parameter] = {}
        return self._text("GET", "/api/v1/feeds/weekly.atom", asked)

    def home(self) -> shapes.HomeView:
        """The service at a glance, the same for everybody."""
        asked: dict[str, Parameter] = {}
        found: shapes.HomeView = self._json("GET", "/api/v1/home", asked)
        return found

    def search(self, *, q: str, limit: int | None = None) -> shapes.SearchView:
        """What has each of the words: the newest few of each kind, with how many there are."""
        asked: dict[str, Parameter] = {"q": q, "limit": limit}
        found: shapes.SearchView = self._json("GET", "/api/v1/search", asked)
        return found

    def list_audit_entries(
        self,
        *,
        before: int | None = None,
        limit: int | None = None,
        actor: str | None = None,
        action: shapes.Action | None = None,
        subject_kind: shapes.SubjectKind | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
        refused: bool | None = None,
    ) -> shapes.AuditPage:
        """Entries of the audit log, the newest first, a page at a time."""
        asked: dict[str, Parameter] = {
            "before": before,
            "limit": limit,
            "actor": actor,
            "action": action,
            "subject_kind": subject_kind,
            "subject": subject,
            "since": since,
            "until": until,
            "refused": refused,
        }
        found: shapes.AuditPage = self._json("GET", "/api/v1/audit", asked)
        return found

    def export_audit_entries(
        self,
        *,
        actor: str | None = None,
        action: shapes.Action | None = None,
        subject_kind: shapes.SubjectKind | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
        refused: bool | None = None,
    ) -> str:
        """All entries, the oldest first, a line of JSON each."""
        asked: dict[str, Parameter] = {
            "actor": actor,
            "action": action,
            "subject_kind": subject_kind,
            "subject": subject,
            "since": since,
            "until": until,
            "refused": refused,
        }
        return self._text("GET", "/api/v1/audit/export", asked)
