/** How a point of the line is put in words. */

import type { LinePoint } from "../api/types";
import { effectOf, effectText } from "../format/effect";

/** A change in percent with its interval: −10.44% [−12.06, −8.71]. */
export function change(point: LinePoint): string {
  const effect = effectOf(point);
  return effect === null ? "no figure" : effectText(effect);
}

/** The whole of it, for who hovers over it or does not see it. */
export function whole(point: LinePoint): string {
  const verdict = point.verdict ?? "no verdict";
  return `${point.revision}: ${change(point)}, ${verdict}, ${point.n} boots, against ${point.baseline}`;
}
