/** What small and large matrices have in common. */

import type { Arm, Comparison } from "../api/types";
import { ArmHead, ArmName, neverEffective } from "./arm";
import { GlyphAxis } from "./glyph";
import type { Item } from "./items";

export interface Drawing {
  experimentId: number;
  comparison: Comparison;
  items: Item[];
  /** Percent at the right end of the glyphs. */
  scale: number;
  /** Whether rows say their host and workload themselves. */
  placed: boolean;
  /** Arms with an interval to draw, whose columns need an axis. */
  drawn: ReadonlySet<number>;
  view: string;
}

const WIDE_UP_TO_ARMS = 3;

/** What the style sheet is told of the number of arms. */
export function tableOf({ arms }: Pick<Comparison, "arms">) {
  return {
    "data-cells": arms.length > WIDE_UP_TO_ARMS ? "narrow" : "wide",
    style: { "--arms": arms.length } as React.CSSProperties,
  };
}

export function Caption({ comparison }: { comparison: Comparison }) {
  return (
    <caption className="visually-hidden">
      {comparison.name}: effect of each arm against the baseline with 95 % interval
    </caption>
  );
}

interface HeadProps {
  arms: Arm[];
  drawn: ReadonlySet<number>;
  scale: number;
  /** Names alone, where what was asked and proven stands above the table. */
  brief: boolean;
  headRef?: React.Ref<HTMLTableSectionElement>;
}

export function MatrixHead({ arms, drawn, scale, brief, headRef }: HeadProps) {
  return (
    <thead role="rowgroup" ref={headRef}>
      <tr role="row" aria-rowindex={1}>
        <th role="columnheader" scope="col" className="corner">
          Case
        </th>
        {arms.map((arm) => (
          <th
            role="columnheader"
            scope="col"
            key={arm.id}
            className={arm.is_baseline ? "of-baseline" : undefined}
            data-void={neverEffective(arm)}
          >
            <div className="arm-head">
              {brief ? <ArmName arm={arm} /> : <ArmHead arm={arm} />}
              {drawn.has(arm.id) && <GlyphAxis reach={scale} />}
            </div>
          </th>
        ))}
      </tr>
    </thead>
  );
}
