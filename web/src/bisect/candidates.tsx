/** Candidates with the probability of each as a bar; between them, what the points say. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { patchQuery } from "../api/queries";
import { Loaded } from "../ui/answers";
import type { Bisection, BisectionCandidate } from "../api/types";
import { KeepFigures } from "../picture/keep";
import { candidateTable } from "./table";
import { chance } from "./words";

export function Candidates({ bisection }: { bisection: Bisection }) {
  const skipped = new Map(
    bisection.points.filter((point) => point.skipped !== "").map((p) => [p.position, p.skipped]),
  );
  const named = bisection.found?.candidates ?? [];
  return (
    <>
      <KeepFigures
        title={`Bisection ${bisection.id}: candidates`}
        table={() => candidateTable(bisection)}
      >
        <table className="list stack candidates">
          <thead>
            <tr>
              <th scope="col">Change</th>
              <th scope="col">Probability</th>
              <th scope="col">Remark</th>
            </tr>
          </thead>
          <tbody>
            {bisection.changes.map((each) => (
              <Row
                key={each.position}
                candidate={each}
                bisection={bisection}
                remark={[each.prior_why, skipped.get(each.position)].filter(Boolean).join("; ")}
                isNamed={named.includes(each.position)}
              />
            ))}
          </tbody>
          <tbody>
            <Other title="None of these" probability={bisection.none_probability} />
            <Other title="More than one" probability={bisection.several_probability} />
          </tbody>
        </table>
      </KeepFigures>
      {bisection.left_out > 0 && (
        <p className="inside faint">{bisection.left_out} less likely changes are not shown.</p>
      )}
    </>
  );
}

interface RowProps {
  bisection: Bisection;
  candidate: BisectionCandidate;
  remark: string;
  isNamed: boolean;
}

function Row({ bisection, candidate, remark, isNamed }: RowProps) {
  return (
    <tr data-named={isNamed ? "" : undefined}>
      <th scope="row">
        <div>
          <span className="faint">{candidate.position}.</span>{" "}
          {isNamed ? <strong>{candidate.title}</strong> : candidate.title}
        </div>
        <div className="faint small">{candidate.files.slice(0, 4).join(", ")}</div>
        {bisection.kind === "patches" && (
          <PatchText bisection={bisection.id} position={candidate.position} />
        )}
      </th>
      <td data-label="Probability">
        <Bar probability={candidate.prior === 0 ? 0 : candidate.probability} />
      </td>
      <td data-label={remark === "" ? undefined : "Remark"} className="soft small">
        {remark}
      </td>
    </tr>
  );
}

/** The patch itself, which is asked for once somebody opens it. */
function PatchText({ bisection, position }: { bisection: number; position: number }) {
  const [open, setOpen] = useState(false);
  const query = useQuery({ ...patchQuery(bisection, position), enabled: open });
  return (
    <details
      className="small"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>Patch</summary>
      {open && (
        <Loaded query={query}>
          {(text) => (
            <pre className="raw" tabIndex={0} aria-label={`Patch ${position}`}>
              {text}
            </pre>
          )}
        </Loaded>
      )}
    </details>
  );
}

function Other({ title, probability }: { title: string; probability: number | null }) {
  if (probability === null) return null;
  return (
    <tr>
      <th scope="row">{title}</th>
      <td data-label="Probability">
        <Bar probability={probability} />
      </td>
      <td />
    </tr>
  );
}

function Bar({ probability }: { probability: number | null }) {
  if (probability === null) return <span className="faint">not yet</span>;
  return (
    <div className="chance">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className="ground" width={100} height={10} />
        <rect className="part" width={100 * probability} height={10} />
      </svg>
      <span className="num">{chance(probability)}</span>
    </div>
  );
}
