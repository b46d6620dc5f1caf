/** The two groups that are compared, and what of them is not in the graph. */

import { counted, fixed, percentDigits, quantity } from "../format/quantity";
import type { Meta, Side } from "./decode";
import { costText } from "./words";

function share(percent: number): string {
  return `${fixed(percent, percentDigits(percent))} %`;
}

export function Sides({ meta }: { meta: Meta }) {
  const { pruned, unit } = meta;
  return (
    <details className="sides-of">
      <summary>
        <bdi className="mono">{meta.a.label}</bdi> {costText(meta.a.total, unit)} sampled in{" "}
        {counted(meta.a.boots, "boot")}, <bdi className="mono">{meta.b.label}</bdi>{" "}
        {costText(meta.b.total, unit)} in {counted(meta.b.boots, "boot")}
        {meta.a.lost + meta.b.lost > 0 && (
          <span className="wrong"> {fixed(meta.a.lost + meta.b.lost, 0)} samples lost</span>
        )}
      </summary>
      <table className="list stack sides">
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" className="num">
              Boots
            </th>
            <th scope="col" className="num">
              Samples
            </th>
            <th scope="col" className="num">
              Operations
            </th>
            <th scope="col" className="num">
              Total
            </th>
            <th scope="col" className="num">
              Names unknown
            </th>
            <th scope="col" className="num">
              Stacks truncated
            </th>
          </tr>
        </thead>
        <tbody>
          <SideRow letter="A" side={meta.a} unit={unit} />
          <SideRow letter="B" side={meta.b} unit={unit} />
        </tbody>
      </table>
      <p className="inside small soft">
        Sampled in passes of their own, beside perf that writes samples: totals may differ from the
        timed figures, and verdicts rest on those alone.
      </p>
      {pruned.nodes > 0 && (
        <p className="inside small soft">
          {counted(pruned.nodes, "frame")} too small to show {pruned.nodes === 1 ? "was" : "were"}{" "}
          left out: {costText(pruned.a, unit)} of A and {costText(pruned.b, unit)} of B. Their cost
          is still in their callers.
        </p>
      )}
    </details>
  );
}

function SideRow({ letter, side, unit }: { letter: string; side: Side; unit: string }) {
  return (
    <tr>
      <th scope="row">
        {letter} <bdi className="mono">{side.label}</bdi>
      </th>
      <td className="num" data-label="Boots">
        {fixed(side.boots, 0)}
      </td>
      <td className="num" data-label="Samples">
        {fixed(side.samples, 0)}
        {side.lost > 0 && <span className="wrong"> and {fixed(side.lost, 0)} lost</span>}
      </td>
      <td className="num" data-label="Operations">
        {side.operations === null ? (
          <span className="faint">not counted</span>
        ) : (
          quantity(side.operations, "count")
        )}
      </td>
      <td className="num" data-label="Total">
        {costText(side.total, unit)}
      </td>
      <td className="num" data-label="Unknown">
        {share(side.unknown_percent)}
      </td>
      <td className="num" data-label="Truncated">
        {share(side.truncated_percent)}
      </td>
    </tr>
  );
}
