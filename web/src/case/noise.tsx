/** Where the noise comes from, and what the next experiment should measure. */

import type { Noise, Row } from "../api/types";
import { counted, fixed, percentDigits } from "../format/quantity";

function percent(value: number) {
  return `${fixed(value, percentDigits(value))} %`;
}

function seconds(value: number) {
  return `${fixed(value, value < 10 ? 1 : 0)} s`;
}

export function NoiseNote({ noise, measured }: { noise: Noise | undefined; measured: number }) {
  if (noise === undefined || typeof noise.boot_mean_percent !== "number") return null;
  const { boot_percent: boot, iteration_percent: iteration, recommended_iterations: next } = noise;
  return (
    <div className="inside small soft" data-testid="noise">
      <p>
        Noise: boot means scatter by {percent(noise.boot_mean_percent)}
        {typeof boot === "number" &&
          typeof iteration === "number" &&
          `, ${percent(boot)} from boot to boot, an iteration within a boot by ${percent(iteration)}`}
        .
        {typeof next === "number" &&
          typeof noise.boot_cost_s === "number" &&
          typeof noise.iteration_cost_s === "number" && (
            <>
              {" "}
              At {seconds(noise.boot_cost_s)} a boot and {seconds(noise.iteration_cost_s)} an
              iteration, {counted(next, "iteration")} a boot serve best; here {measured}.
            </>
          )}
      </p>
      {(noise.two_groups ?? []).map((arm) => (
        <p key={arm}>
          <strong>{arm}</strong>: its boots fall into two groups, so a mean describes neither. Look
          at what differs between them.
        </p>
      ))}
    </div>
  );
}

/** How often others slowed the processor beside an iteration; nothing where they did not. */
export function PaceNote({ row }: { row: Row }) {
  if (row.disturbed === 0 && row.unsteady === 0) return null;
  return (
    <div className="inside small soft" data-testid="pace">
      {row.disturbed > 0 && (
        <p>
          {counted(row.disturbed, "iteration")} taken again: a fixed loop beside{" "}
          {row.disturbed === 1 ? "it" : "them"} showed that the processor was slowed. The rule knows
          neither value nor arm.
        </p>
      )}
      {row.unsteady > 0 && (
        <p>
          <strong>{counted(row.unsteady, "iteration")}</strong> counted although the processor was
          slowed: it did not recover in time. Expect more noise; a quieter machine helps.
        </p>
      )}
    </div>
  );
}
