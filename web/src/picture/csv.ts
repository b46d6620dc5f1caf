/** The figures behind a picture as a file for other programs. Pure. */

/** Null where there is no figure. */
export type Value = string | number | boolean | null;

/** A row a point; what has a unit has it in the column's name. */
export interface Table {
  columns: string[];
  rows: Value[][];
}

/** A spreadsheet takes a text that begins like this for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/;

/** "time per call (ns)". */
export function withUnit(name: string, unit: string): string {
  return unit === "" ? name : `${name} (${unit})`;
}

function field(value: Value): string {
  // A number stays one: its minus is no formula. What is none, such as 0/0, has no figure.
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null) return "";
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180: lines end in CR LF, quotes are doubled, the header comes first. */
export function csv({ columns, rows }: Table): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}
