/** What each patch of a revision costs: counted instructions, case by case. */

import type { ReactNode } from "react";
import { Link } from "wouter";
import type { PatchCost, PatchCosts, PatchRow, Revision } from "../api/types";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import {
  columnsOf,
  eventsOf,
  figureOf,
  firstProcessor,
  functionsOf,
  growthText,
  interactionText,
  notAlone,
  predictedOf,
  type Column,
  type Processor,
  type Shown,
} from "./cost-words";
import { capital, patchesText, patchId, ranges } from "./words";

const MOST_FUNCTIONS = 3;

interface CostsProps {
  costs: PatchCosts;
  revision: Revision;
}

export function CostsOfPatches({ costs, revision }: CostsProps) {
  return (
    <>
      {costs.rows.length > 0 && <CostTable costs={costs} revision={revision} />}
      {(costs.rows.length > 0 || costs.experiments.length > 0) && <Under costs={costs} />}
    </>
  );
}

/** What the table is of, and what it does not say. */
function Under({ costs }: { costs: PatchCosts }) {
  return (
    <div className="inside small soft study-notes">
      {costs.interactions.map((each) => (
        <p key={`${each.patch} ${each.case} ${each.host}`} className="study-interaction">
          {interactionText(each)}
        </p>
      ))}
      {notAlone(costs.rows).map(({ why, patches }) => (
        <p key={why}>
          {capital(patchesText(patches))} {patches.length === 1 ? "was" : "were"} not measured
          alone: {why}.
        </p>
      ))}
      {costs.rows.length > 0 && (
        <p>
          Counted, of software alone{costs.mode !== "" && <>; mode {costs.mode}</>}.{" "}
          <EmulatedMark /> <CountedMark />
        </p>
      )}
      <Experiments numbers={costs.experiments} />
    </div>
  );
}

export function Experiments({ numbers }: { numbers: number[] }) {
  if (numbers.length === 0) return null;
  return (
    <p>
      {numbers.length === 1 ? "Experiment" : "Experiments"}{" "}
      {numbers.map((id, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <Link to={`/experiments/${id}`}>{id}</Link>
        </span>
      ))}
      .
    </p>
  );
}

function CostTable({ costs, revision }: CostsProps) {
  const columns = columnsOf(costs);
  const processor = firstProcessor(costs);
  const label = `What each patch of ${revision.label} costs`;
  return (
    <>
      <p className="inside small soft">
        Instructions that an operation runs more with the patch than without it, after the patches
        before it; where it costs something else alone on the base, that stands below.
      </p>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={label}>
        <table className="list patch-costs" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Patch</th>
              <th scope="col">Title</th>
              {columns.map((column) => (
                <th key={`${column.case} ${column.host}`} scope="col" className="num">
                  {column.case} <span className="nowrap">{column.host}</span>
                </th>
              ))}
              <th scope="col">Functions that differ</th>
              {processor && <th scope="col">predicted, {processor.title}</th>}
            </tr>
          </thead>
          <tbody>
            {costs.rows.map((row) => (
              <Row
                key={row.patches[0]}
                {...{ row, columns, processor, revision }}
                warnings={costs.warnings}
              />
            ))}
          </tbody>
          {costs.whole.length > 0 && (
            <tfoot>
              <tr>
                <th scope="row">All</th>
                <td>all patches against the base</td>
                <Figures row={wholeAsRow(costs.whole)} {...{ columns, processor }} />
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </>
  );
}

function wholeAsRow(whole: PatchCost[]): Shown {
  return { costs: whole, alone: [], same_code: false, why_none: "" };
}

export interface FiguresProps {
  row: Shown;
  columns: Column[];
  processor: Processor | undefined;
}

interface RowProps extends FiguresProps {
  row: PatchRow;
  revision: Revision;
  warnings: PatchCosts["warnings"];
}

function Row({ row, revision, warnings, ...rest }: RowProps) {
  return (
    <tr>
      <th scope="row">{ranges(row.patches)}</th>
      <td>
        {row.patches.map((patch, at) => (
          <div key={patch}>
            <a href={`#${patchId(revision, patch)}`}>{row.titles[at]}</a>
          </div>
        ))}
        {row.same_code && (
          <Tag
            tone="quiet"
            text="same code"
            title="The kernel with it has the code of the one before."
          />
        )}
        {row.why_none !== "" && <div className="small soft">Not known: {row.why_none}</div>}
      </td>
      <Figures row={row} {...rest}>
        {row.changed_count > 0 && <Changed row={row} />}
        {row.patches
          .flatMap((patch) => warnings?.[patch - 1] ?? [])
          .map((text) => (
            <div key={text}>
              <Tag tone="bad" text="warning" title="gcc, W=1" /> {text}
            </div>
          ))}
        {row.size && <div className="soft">{growthText(row.size)}</div>}
      </Figures>
    </tr>
  );
}

export function Figures({
  row,
  columns,
  processor,
  children,
}: FiguresProps & { children?: ReactNode }) {
  return (
    <>
      {columns.map((column) => (
        <Figure key={`${column.case} ${column.host}`} row={row} column={column} />
      ))}
      <td className="small">
        <Functions costs={row.costs} />
        {eventsOf(row.costs).map((text) => (
          <div key={text}>{text}</div>
        ))}
        {children}
      </td>
      {processor && (
        <td className="small">
          <Predicted costs={row.costs} processor={processor.processor} />
        </td>
      )}
    </>
  );
}

function Figure({ row, column }: { row: Shown; column: Column }) {
  const { text, way, why, alone } = figureOf(row, column);
  return (
    <td className="num" title={why === "" ? undefined : why}>
      <span className="patch-cost" data-way={way}>
        {text}
      </span>
      {why !== "" && <span className="visually-hidden"> not known: {why}</span>}
      {alone !== "" && <div className="small soft">alone {alone}</div>}
    </td>
  );
}

function Functions({ costs }: { costs: PatchCost[] }) {
  const all = functionsOf(costs);
  if (all.length === 0) return <span className="faint">–</span>;
  return (
    <ul>
      {all.slice(0, MOST_FUNCTIONS).map(({ name, text }) => (
        <li key={name}>
          {name === "" ? "code that it does not change" : <code>{name}</code>}{" "}
          <span className="nowrap">{text}</span>
        </li>
      ))}
      {all.length > MOST_FUNCTIONS && (
        <li className="faint">and {all.length - MOST_FUNCTIONS} more</li>
      )}
    </ul>
  );
}

/** Functions whose code a patch changes, whether an operation runs them or not. */
function Changed({ row: { changed, changed_count: count } }: { row: PatchRow }) {
  return (
    <details>
      <summary>changes {count === 1 ? "one function" : `${count} functions`}</summary>
      {changed.map((name) => (
        <div key={name}>
          <code>{name}</code>
        </div>
      ))}
      {count > changed.length && <div className="faint">and {count - changed.length} more</div>}
    </details>
  );
}

function Predicted({ costs, processor }: { costs: PatchCost[]; processor: string }) {
  const all = predictedOf(costs, processor);
  if (all.length === 0) return <span className="faint">–</span>;
  return (
    <ul>
      {all.map(({ text, missing, cases }) => (
        <li key={`${text} ${cases.join()}`}>
          <span className="nowrap">{text}</span>
          {cases.length > 0 && <div className="soft">{cases.join(", ")}</div>}
          {missing.length > 0 && (
            <div className="soft">without {missing.join(", ")}, whose price is unknown</div>
          )}
        </li>
      ))}
    </ul>
  );
}
