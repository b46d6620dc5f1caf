/** The matrices of an experiment, and the filter that they share. */

import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { matricesQuery } from "../api/queries";
import type { Comparison, Experiment, Matrices } from "../api/types";
import { tablePath } from "../tables/paths";
import { marks } from "../picture/keep";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { useSearch } from "../ui/use-search";
import { ClearButton, LargeFilters, SmallFilters, type Change } from "./filters";
import { PLAIN_UP_TO_ROWS } from "./limits";
import { Matrix } from "./matrix";
import { chosen, isFiltered, matrixQuery, type MatrixQuery } from "./query";

/** The matrices come after the experiment's head: of a large one they are most of the page. */
export function Comparisons({ experiment }: { experiment: Experiment }) {
  const query = useQuery(matricesQuery(experiment.id));
  return (
    <Loaded query={query}>
      {(matrices) => <Filtered experiment={experiment} matrices={matrices} />}
    </Loaded>
  );
}

function Filtered({ experiment, matrices }: { experiment: Experiment; matrices: Matrices }) {
  const comparisons: Comparison[] = useMemo(
    () =>
      // Arms of a factorial design are no answers by themselves: its knobs have a table.
      experiment.comparisons
        .filter((c) => !c.factorial)
        .map((c) => ({
          ...c,
          // Counters have a table of their own.
          rows: (matrices.rows[c.id] ?? []).filter((row) => !row.counter),
          is_rebased: false,
        })),
    [experiment.comparisons, matrices.rows],
  );
  const counts = Object.values(matrices.rows).some((rows) => rows.some((row) => row.counter));
  const [address] = useSearchParams();
  const [, navigate] = useLocation();
  const write = (changes: Record<string, string>, replace: boolean) => {
    // The address of this moment: what was typed is written after other things were clicked.
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") next.delete(name);
      else next.set(name, value);
    }
    if (next.toString() === new URLSearchParams(window.location.search).toString()) return;
    navigate(`?${next.toString()}`, { replace });
  };
  // A choice is a step to go back from; a letter is none.
  const change: Change = (changes) => {
    write(changes, false);
  };
  const [text, type] = useSearch(address.get("case") ?? "", (typed) => {
    write({ case: typed }, true);
  });
  const query: MatrixQuery = useMemo(() => ({ ...matrixQuery(address), text }), [address, text]);
  const shown = useMemo(
    () => comparisons.map((comparison) => chosen(comparison, query)),
    [comparisons, query],
  );
  const large = comparisons.some(({ rows }) => rows.length > PLAIN_UP_TO_ROWS);
  const filters = { comparisons, query, change, type };
  // A link to a filtered small matrix must show what it filters by, to be undone.
  const beyondText = isFiltered({ ...query, text: "" }) || query.sort !== "plan";
  if (comparisons.length === 0) return null;
  return (
    <>
      {large || beyondText ? (
        <LargeFilters {...filters} shown={shown.reduce((sum, rows) => sum + rows.length, 0)} />
      ) : (
        <SmallFilters {...filters} />
      )}
      {counts && (
        <p className="table-link">
          <Link className="button" to={tablePath(experiment.id, "counters")}>
            Counter tables
          </Link>{" "}
          <span className="faint small">cycles, instructions and others of one operation</span>
        </p>
      )}
      {comparisons.map((comparison, i) => (
        <ComparisonPanel
          key={comparison.id}
          {...{ experiment, comparison, query, change, type }}
          rows={shown[i] ?? []}
        />
      ))}
    </>
  );
}

interface PanelProps {
  experiment: Experiment;
  comparison: Comparison;
  rows: Comparison["rows"];
  query: MatrixQuery;
  change: Change;
  type: (text: string) => void;
}

function ComparisonPanel({ experiment, comparison, rows, query, change, type }: PanelProps) {
  const heading = `comparison-${comparison.id}`;
  return (
    <section className="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          {comparison.family_title} <span className="soft">on {comparison.hosts.join(", ")}</span>
        </h2>
        <span className="faint small">
          effect against baseline, 95 % interval, n boots
          <span className="on-screen">
            ; select a cell for its boots
            {comparison.rows.length > PLAIN_UP_TO_ROWS && ", or walk by arrow keys"}
          </span>
        </span>
        <OtherBaselines {...{ experiment, comparison }} />
      </header>
      {rows.length === 0 ? (
        <NoRows comparison={comparison} change={change} type={type} />
      ) : (
        <Matrix
          experimentId={experiment.id}
          headings={query.sort === "plan"}
          view={JSON.stringify(query)}
          about={[
            `experiment ${experiment.id}, ${experiment.name}`,
            marks({ emulated: experiment.emulated, counted: experiment.counted }),
          ]
            .filter((words) => words !== "")
            .join("; ")}
          {...{ comparison, rows }}
        />
      )}
    </section>
  );
}

/** Links to the same boots with another arm in the baseline's place, where there are three arms. */
function OtherBaselines({ experiment, comparison }: Pick<PanelProps, "experiment" | "comparison">) {
  const arms = comparison.arms.filter((arm) => !arm.is_aa);
  if (arms.length < 3) return null;
  return (
    <span className="faint small on-screen">
      against another arm:{" "}
      {arms
        .filter((arm) => !arm.is_baseline)
        .map((arm, i) => (
          <Fragment key={arm.id}>
            {i > 0 && ", "}
            <Link to={tablePath(experiment.id, "matrix", { baseline: arm.name })}>{arm.name}</Link>
          </Fragment>
        ))}
    </span>
  );
}

function NoRows({ comparison, change, type }: Pick<PanelProps, "comparison" | "change" | "type">) {
  if (comparison.rows.length === 0) {
    return (
      <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
        No case has been measured yet.
      </Empty>
    );
  }
  return (
    <p className="inside faint buttons">
      No case fits the filter. <ClearButton change={change} type={type} />
    </p>
  );
}
