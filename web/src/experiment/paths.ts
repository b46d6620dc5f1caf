/** Where the cells of a matrix lead. */

import type { Row } from "../api/types";

export function casePath(experimentId: number, row: Row): string {
  const query = new URLSearchParams({ host: row.host, metric: row.metric });
  return `/experiments/${experimentId}/cases/${row.case_id}?${query.toString()}`;
}

/** The differential flame graph of one arm against another for a case on a host. */
export function profilePath(
  experimentId: number,
  row: Pick<Row, "case_id" | "host">,
  a: string,
  b: string,
): string {
  const asked = { experiment: experimentId, case: row.case_id, host: row.host, a, b };
  const search = new URLSearchParams(
    Object.entries(asked).map(([name, value]) => [name, String(value)]),
  );
  return `/profiles?${search.toString()}`;
}
