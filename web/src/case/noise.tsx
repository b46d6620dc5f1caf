/** Where the noise comes from, and what the next experiment should measure. */

import type { Noise } from "../api/types";
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
