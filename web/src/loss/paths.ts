/** Whether an experiment has a loss matrix, and where it is. */

interface Arms {
  arms: readonly { mode: string }[];
}

/** An arm's mode is of several families where it has a plus: `ibrs/entry+ibpb/on`. */
export function isCrossed(comparisons: readonly Arms[]): boolean {
  return comparisons.some(({ arms }) => arms.length > 1 && arms.every((a) => a.mode.includes("+")));
}

export function lossPath(experimentId: number): string {
  return `/experiments/${experimentId}/loss`;
}
