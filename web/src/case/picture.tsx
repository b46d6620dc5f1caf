/** The chart of a case's boots with the ways to keep it. */

import type { Case, Row } from "../api/types";
import { quantity } from "../format/quantity";
import { edgeOf, offScaleInWords } from "../picture/bulk";
import { Keep, marks } from "../picture/keep";
import { hasOutcome } from "../words";
import { bootScale, bootTable } from "./boots";
import "./case.css";
import { Chart } from "./chart";

interface CasePictureProps {
  view: Case;
  row: Row;
  iterations?: boolean;
}

export function CasePicture({ view, row, iterations = false }: CasePictureProps) {
  const done = (view.points[row.metric] ?? []).filter((point) => hasOutcome(point.state));
  const scale = bootScale(done, iterations);
  const outside = offScaleInWords(
    done
      .filter(({ mean }) => mean !== null && edgeOf(mean, scale) !== null)
      .map(
        ({ arm, boot_id: boot, mean }) => `${arm}, boot ${boot}: ${quantity(mean ?? 0, row.unit)}`,
      ),
  );
  return (
    <>
      {outside !== "" && <p className="inside small soft">{outside}</p>}
      <Keep
        title={`${view.case}: ${row.metric_title} on ${view.host}`}
        lines={[
          `${row.unit}, ${row.direction} is better; one mark a boot, at the mean of its iterations`,
          view.arms.map((arm) => `${arm.name}: ${arm.title}`).join("; "),
          marks({ emulated: view.emulated, counted: view.clock === "counted" }),
          `experiment ${view.experiment_id}, ${view.experiment}`,
          outside,
        ]}
        table={() => bootTable(row, done)}
      >
        <Chart row={row} arms={view.arms} points={done} iterations={iterations} scale={scale} />
      </Keep>
    </>
  );
}
