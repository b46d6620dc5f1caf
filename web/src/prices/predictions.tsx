/** What was predicted beside what was measured, a row each. */

import type { NsInterval } from "../api/types";
import { percent } from "../format/quantity";
import { costText, nsText } from "./words";

interface Prediction {
  predicted: number;
  measured: NsInterval;
  off_percent: number;
}

interface PredictionProps {
  label: string;
  /** What the rows are of, as a heading. */
  of: string;
  rows: readonly (readonly [name: string, prediction: Prediction])[];
}

export function PredictionTable({ label, of, rows }: PredictionProps) {
  return (
    <table className="list stack prices-predictions" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col" className="num">
            Predicted
          </th>
          <th scope="col" className="num">
            Measured
          </th>
          <th scope="col" className="num">
            Off
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, prediction], at) => (
          <Row key={at} name={name} of={prediction} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ name, of }: { name: string; of: Prediction }) {
  const { cost, ends } = costText(of.measured);
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td className="num" data-label="Predicted">
        {nsText(of.predicted)}
      </td>
      <td className="num" data-label="Measured">
        <div>
          {cost} <span className="soft nowrap">{ends}</span>
        </div>
      </td>
      <td className="num" data-label="Off">
        {percent(of.off_percent, 1)}
      </td>
    </tr>
  );
}
