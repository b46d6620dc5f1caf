/** Marks at the edge of a picture for values that its scale does not reach. */

import { edgeOf, type Scale } from "./bulk";

/** The figure of a value beyond the scale takes so many pixels. */
const ROOM_PX = 84;

export interface OffScale {
  key: string;
  x: number;
  value: number;
  /** The figure beside the mark, where it fits; "" for none. */
  label: string;
  /** The whole of it, on hover. */
  title: string;
}

interface OffScaleMarksProps {
  /** In the order of x; those that the scale reaches are left out. */
  values: readonly OffScale[];
  scale: Scale;
  /** Where a value lies; one beyond the scale lies at its edge. */
  y: (value: number) => number;
  /** The right end of the picture. */
  right: number;
  size?: number;
}

export function OffScaleMarks({ values, scale, y, right, size = 6 }: OffScaleMarksProps) {
  const free = { above: -Infinity, below: -Infinity };
  return values.map((of) => {
    const edge = edgeOf(of.value, scale);
    if (edge === null) return null;
    const [x, at] = [of.x, y(edge === "above" ? scale.high : scale.low)];
    const tip = edge === "above" ? -1 : 1;
    const labelled = of.label !== "" && x >= free[edge];
    if (labelled) free[edge] = x + ROOM_PX;
    const fitsRight = x + ROOM_PX < right;
    return (
      <g key={of.key} className="off-scale">
        <title>{of.title}</title>
        <path
          d={`M ${x - size} ${at - (size / 2) * tip} L ${x + size} ${at - (size / 2) * tip} L ${x} ${at + (size + 1) * tip} z`}
        />
        {labelled && (
          <text
            x={fitsRight ? x + size + 4 : x - size - 4}
            y={edge === "above" ? at + 4 : at - 2}
            textAnchor={fitsRight ? "start" : "end"}
          >
            {of.label}
          </text>
        )}
      </g>
    );
  });
}
