/** Fingerprints as flat lists of facts, and what changed between two of them. */

import { byName, naturally } from "../format/natural";

export interface Fact {
  name: string;
  /** Null: the fact was absent on the host. */
  value: string | null;
}

/** Nested facts by dotted names, in name order. */
export function flattened(facts: Readonly<Record<string, unknown>>, prefix = ""): Fact[] {
  const found = Object.entries(facts).flatMap(([key, value]): Fact[] => {
    const name = prefix + key;
    if (value === null || value === undefined) return [{ name, value: null }];
    if (Array.isArray(value)) return [{ name, value: value.map(text).join(", ") }];
    if (typeof value === "object") return flattened(value as Record<string, unknown>, `${name}.`);
    return [{ name, value: text(value) }];
  });
  return byName(found, ({ name }) => name);
}

function text(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface Change {
  name: string;
  before: string | null;
  after: string | null;
}

/** Facts that differ; one that only one side has is absent on the other. */
export function changes(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Change[] {
  const old = new Map(flattened(before).map((fact) => [fact.name, fact.value]));
  const now = new Map(flattened(after).map((fact) => [fact.name, fact.value]));
  return naturally(new Set([...old.keys(), ...now.keys()]))
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((change) => change.before !== change.after);
}
