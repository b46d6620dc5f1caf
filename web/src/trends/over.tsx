/** Which other trends are laid over a trend's picture. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { trendQuery, trendChoiceQuery } from "../api/queries";
import type { Trend } from "../api/types";
import { MOST_OVER } from "./overlay";

/** Those that came; the others are on their way, or there is none of that number. */
export function useOver(numbers: number[]): Trend[] {
  const answers = useQueries({ queries: numbers.map((number) => trendQuery(number)) });
  return answers.flatMap(({ data }) => (data === undefined ? [] : [data]));
}

interface OverChoiceProps {
  trend: Trend;
  over: number[];
  change: (over: number[]) => void;
}

export function OverChoice({ trend, over, change }: OverChoiceProps) {
  const { data } = useQuery(trendChoiceQuery(trend.workload));
  const others = (data?.trends ?? []).filter(
    (each) => each.id !== trend.id && !over.includes(each.id),
  );
  if (others.length === 0 || over.length >= MOST_OVER) return null;
  return (
    <label className="small picked">
      Lay over it{" "}
      <select
        className="field over-choice"
        value=""
        onChange={({ target }) => {
          if (target.value !== "") change([...over, Number(target.value)]);
        }}
      >
        <option value="">another trend</option>
        {others.map((each) => (
          <option key={each.id} value={each.id}>
            {each.case}, {each.metric_title}, {each.mode}, {each.host_class}
          </option>
        ))}
      </select>
    </label>
  );
}

interface OverLegendProps {
  trends: Trend[];
  change: (over: number[]) => void;
}

/** What each line is, with a way to take it away. */
export function OverLegend({ trends, change }: OverLegendProps) {
  if (trends.length === 0) return null;
  return (
    <ul className="over-legend small">
      {trends.map((each, place) => (
        <li key={each.id}>
          <span className="over-mark" data-over={place + 1} aria-hidden="true" /> {each.case},{" "}
          {each.mode}, {each.host_class}{" "}
          <button
            type="button"
            className="button"
            aria-label={`Take away ${each.case}, ${each.mode}, ${each.host_class}`}
            onClick={() => {
              change(trends.filter((other) => other.id !== each.id).map(({ id }) => id));
            }}
          >
            ×
          </button>
        </li>
      ))}
      <li className="faint">each in parts of its own median, on the scale of this trend</li>
    </ul>
  );
}
