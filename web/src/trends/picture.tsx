/** A trend's chart with the ways to keep it. */

import type { Trend } from "../api/types";
import { counted, quantity } from "../format/quantity";
import { day } from "../format/time";
import { offScaleInWords } from "../picture/bulk";
import { Keep, marks } from "../picture/keep";
import { beyond, Chart, scaleOf } from "./chart";
import { trendTable } from "./table";
import "./trends.css";

/** What the scale of the bulk does not reach; empty where it reaches all. */
export function outsideInWords(trend: Trend): string {
  const { outside, cut } = beyond(trend, scaleOf(trend, false));
  const named = offScaleInWords(
    outside.map((of) => `${quantity(of.value, trend.unit)} on ${day(of.at)}`),
  );
  if (cut === 0) return named;
  return [named, `${counted(cut, "interval")} cut at the edge.`].join(" ").trim();
}

interface TrendPictureProps {
  trend: Trend;
  everything?: boolean;
  zoom?: ((from: string, to: string) => void) | undefined;
}

export function TrendPicture({ trend, everything = false, zoom }: TrendPictureProps) {
  return (
    <Keep
      title={`${trend.case}: ${trend.metric_title} with ${trend.mode} on ${trend.host_class}`}
      lines={[
        `${trend.unit}, ${trend.direction} is better; one value a run, lines are levels`,
        `hosts: ${[...new Set(trend.values.map((value) => value.host))].join(", ")}`,
        marks({ emulated: trend.emulated, counted: trend.clock === "counted" }),
        everything ? "" : outsideInWords(trend),
      ]}
      table={() => trendTable(trend)}
    >
      <Chart trend={trend} everything={everything} zoom={zoom} />
    </Keep>
  );
}
