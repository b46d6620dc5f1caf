/** Parts of tables as the API gives them, for pages that are shown without it. */

import type { Answer, Effect, TableCell, TableColumn, TableSection } from "../src/api/types";

export function effect(value: number, half: number, rest: Partial<Effect> = {}): Effect {
  return {
    value,
    low: value - half,
    high: value + half,
    unit: "percent",
    bound: "exact",
    note: "",
    ...rest,
  };
}

export function answer(rest: Partial<Answer>): Answer {
  return {
    kind: "answer",
    state: "measured",
    n: 8,
    more: {},
    claims: [],
    note: "",
    href: "",
    ...rest,
  };
}

export function quantity(value: number, unit = "") {
  return {
    kind: "quantity" as const,
    ...{ value, unit, boots: 0, of: 0, at_least: false, whole: false, words: "" },
  };
}

export function text(words: string, title = "", mark = ""): TableCell {
  return { kind: "text", text: words, title, href: "", mark };
}

export function column(title: string, rest: Partial<TableColumn> = {}): TableColumn {
  return { key: title, title, kind: "text", parts: [], with_interval: false, ...rest };
}

export function armColumn(name: string, at: number): TableColumn {
  const arm = { id: at + 1, name, mode: "spectre-bhi/loop", kernel: "", is_baseline: at === 0 };
  return column(name, { kind: "answer", arm });
}

export function section(rest: Partial<TableSection>): TableSection {
  return {
    title: "",
    meaning: "",
    href: "",
    emulated: false,
    counted: false,
    tables: [],
    notes: [],
    ...rest,
  };
}

export function table(columns: TableColumn[], rows: TableCell[][], caption = "", crossed = false) {
  return {
    ...{ caption, columns, rows, more: {}, claims: "beside" as const, claims_title: "" },
    ...{ crossed, notes: [] },
  };
}
