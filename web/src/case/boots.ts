/** What the picture of a case's boots draws, as a scale and as a table. Pure. */

import type { BootPoint, Row } from "../api/types";
import { aired, robustScale, type Scale } from "../picture/bulk";
import { type Table, withUnit } from "../picture/csv";

/** Means, and iterations where they are shown: of the bulk of each arm. */
export function bootScale(points: readonly BootPoint[], iterations: boolean): Scale {
  const arms = [...new Set(points.map((point) => point.arm_id))];
  const groups = arms.map((arm) =>
    points
      .filter((boot) => boot.arm_id === arm)
      .flatMap((boot) => [
        ...(boot.mean === null ? [] : [boot.mean]),
        ...(iterations ? boot.iterations : []),
      ])
      .map((value) => ({ value })),
  );
  return aired(robustScale(groups, { inOrder: false }));
}

/** A row a boot, and one each of its iterations: `iteration` is empty in that of the mean. */
export function bootTable(row: Row, points: readonly BootPoint[]): Table {
  const value = withUnit(row.metric, row.unit);
  return {
    columns: ["boot", "block", "place", "arm", "state", "counts", "measured", "iteration", value],
    rows: points.flatMap((boot) => {
      const of = [boot.boot_id, boot.block, boot.order, boot.arm, boot.state, boot.counts, boot.at];
      return [
        [...of, null, boot.mean],
        ...boot.iterations.map((each, at) => [...of, at + 1, each]),
      ];
    }),
  };
}
