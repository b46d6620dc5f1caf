/** Where an experiment's tables are: all of a kind, or a part of them. */

const QUERY_NAMES = ["case", "host", "metric", "arm", "function", "other", "baseline"] as const;
export type TableQuery = Partial<Record<(typeof QUERY_NAMES)[number], string>>;

/** The query of an address, with what a table can be asked for alone. */
export function queryOf(address: URLSearchParams): TableQuery {
  const query: TableQuery = {};
  for (const name of QUERY_NAMES) {
    const value = address.get(name);
    if (value !== null && value !== "") query[name] = value;
  }
  return query;
}

function text(query: TableQuery): string {
  const search = new URLSearchParams(query).toString();
  return search === "" ? "" : `?${search}`;
}

/** The page of a kind of tables. */
export function tablePath(experimentId: number, kind: string, query: TableQuery = {}): string {
  return `/experiments/${experimentId}/tables/${kind}${text(query)}`;
}

/** The same as a file: txt, md, csv or json. */
export function tableFile(
  experimentId: number,
  kind: string,
  suffix: "txt" | "md" | "csv" | "json",
  query: TableQuery = {},
): string {
  return `/api/experiments/${experimentId}/tables/${kind}.${suffix}${text(query)}`;
}

interface Arms {
  arms: readonly { mode: string }[];
  factorial?: boolean;
}

/** Whether there is a loss matrix: a mode of several families has a plus, `ibrs/entry+ibpb/on`. */
export function isCrossed(comparisons: readonly Arms[]): boolean {
  return comparisons.some(
    ({ arms, factorial }) =>
      !factorial && arms.length > 1 && arms.every((a) => a.mode.includes("+")),
  );
}
