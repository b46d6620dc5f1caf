/** One chart of uPlot: lines of arms with their ranges, in the colours of the theme in force. */

import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { fixed } from "../format/quantity";
import { watchTheme } from "../profile/palette";
import { ARM_COLOURS } from "./shape";

export interface PlotLine {
  /** Place of the arm's colour. */
  arm: number;
  values: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

interface PlotProps {
  seconds: number[];
  lines: PlotLine[];
  /** What values are multiplied by. */
  factor: number;
}

const HEIGHT = 150;
const AXIS_WIDTH = 52;

interface Colours {
  arms: string[];
  ink: string;
  grid: string;
  font: string;
}

function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    arms: Array.from({ length: ARM_COLOURS }, (_, arm) => colour(`--arm-${arm}`)),
    ink: colour("--ink-soft"),
    grid: colour("--line"),
    font: getComputedStyle(probe).getPropertyValue("--sans"),
  };
  probe.remove();
  return found;
}

let current: Colours | null = null;

function useColours(): Colours {
  return useSyncExternalStore(
    (changed) =>
      watchTheme(() => {
        current = null;
        changed();
      }),
    () => (current ??= readColours()),
  );
}

function faded(colour: string): string {
  return `color-mix(in srgb, ${colour} 18%, transparent)`;
}

/** Of each line: its range's ends, which carry no stroke, then itself. */
function options(lines: PlotLine[], colours: Colours, width: number): uPlot.Options {
  const axis = {
    stroke: colours.ink,
    font: `11px ${colours.font}`,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
  };
  const none = { stroke: "transparent", width: 0, points: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false },
      y: { range: (_, least, most) => [Math.min(0, least), most <= 0 ? 1 : most * 1.08] },
    },
    axes: [
      { ...axis, size: 28, values: (_, ticks) => ticks.map((tick) => `${tick} s`) },
      { ...axis, size: AXIS_WIDTH, values: (_, ticks) => ticks.map(short) },
    ],
    series: [
      {},
      ...lines.flatMap(({ arm }) => [
        none,
        none,
        {
          stroke: colours.arms[arm] ?? colours.ink,
          width: 1.6,
          points: { show: lines.every((line) => line.values.length < 3), size: 5 },
        },
      ]),
    ],
    bands: lines.map(({ arm }, at) => ({
      series: [3 * at + 2, 3 * at + 1],
      fill: faded(colours.arms[arm] ?? colours.ink),
    })),
  };
}

function short(value: number): string {
  const digits =
    Math.abs(value) >= 10 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  return fixed(value, digits);
}

export default function Plot({ seconds, lines, factor }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const colours = useColours();

  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const times = (values: (number | null)[]) =>
      values.map((value) => (value === null ? null : value * factor));
    const data = [
      seconds,
      ...lines.flatMap((line) => [times(line.low), times(line.high), times(line.values)]),
    ];
    const plot = new uPlot(
      options(lines, colours, Math.max(120, place.clientWidth)),
      data as uPlot.AlignedData,
      place,
    );
    const watch = new ResizeObserver(([entry]) => {
      if (entry) plot.setSize({ width: Math.floor(entry.contentRect.width), height: HEIGHT });
    });
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [seconds, lines, factor, colours]);

  // The figures stand in the legend as text.
  return <div className="plot" ref={box} aria-hidden="true" />;
}
