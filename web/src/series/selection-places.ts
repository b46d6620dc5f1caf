/** Places of a selection: what two kernels choose under the same words on one processor. Pure. */

import type { FindingKind, SelectionCell, SelectionGroup, Selections } from "../api/types";

/** What stands in an address, and for commands, for an axis on which nothing is said. */
export const NOTHING = "-";
const NO_FILE = "no such file";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export interface Place {
  processor: string;
  mitigations: string;
  option: string;
  base: SelectionCell | undefined;
  revision: SelectionCell | undefined;
}

/** Each axis narrowed to one value, or all of it. */
export interface Asked {
  processor: string | null;
  mitigations: string | null;
  option: string | null;
}

export const AXES = ["processor", "option", "mitigations"] as const;
export type Axis = (typeof AXES)[number];

/** Those that somebody must look at; another choice than before may be the aim of the series. */
export const TO_LOOK_AT: readonly string[] = [
  "worse than asked",
  "weaker than before",
  "contradicts its code",
  "no longer told",
] satisfies FindingKind[];

/** Those that a cell shows by other means: an arrow, and a hatched ground. */
const SHOWN: readonly FindingKind[] = ["changed", "no proof"];

function releaseOf({ kernels }: Selections, name: string): string | undefined {
  return kernels.find((kernel) => kernel.name === name)?.release;
}

/** Both kernels' cells side by side, in the order in which they were asked. */
export function placesOf(body: Selections): Place[] {
  const base = releaseOf(body, "base");
  const revision = releaseOf(body, "this");
  const places = new Map<string, Place>();
  for (const cell of body.cells) {
    const { processor, mitigations, option } = cell;
    const key = JSON.stringify([processor, mitigations, option]);
    const place: Place = places.get(key) ?? {
      ...{ processor, mitigations, option },
      ...{ base: undefined, revision: undefined },
    };
    if (cell.kernel === base) place.base = cell;
    if (cell.kernel === revision) place.revision = cell;
    places.set(key, place);
  }
  return [...places.values()];
}

export function kernelText(body: Selections, { kernel }: Pick<SelectionGroup, "kernel">): string {
  if (kernel === releaseOf(body, "base")) return "base";
  return kernel === releaseOf(body, "this") ? "this revision" : kernel;
}

/** A value of an axis as it stands in an address. */
export function inAddress(value: string): string {
  return value === "" ? NOTHING : value;
}

export function narrowed(places: readonly Place[], asked: Asked): Place[] {
  return places.filter((place) =>
    AXES.every((axis) => asked[axis] === null || inAddress(place[axis]) === asked[axis]),
  );
}

/** The values that an axis has, in their order. */
export function valuesOf(places: readonly Place[], axis: Axis): string[] {
  return [...new Set(places.map((place) => place[axis]))];
}

/** A letter for each state that some kernel says, in the order of the states. */
export function lettersOf(places: readonly Place[]): Map<string, string> {
  const cells = places.flatMap(({ base, revision }) => [base, revision]);
  const states = new Set(cells.flatMap((cell) => (cell?.unproven === "" ? [stateText(cell)] : [])));
  const sorted = [...states].toSorted((x, y) => (x < y ? -1 : 1));
  return new Map(
    sorted.map((state, at) => {
      const turn = Math.floor(at / ALPHABET.length);
      return [state, `${ALPHABET[at % ALPHABET.length] ?? ""}${turn === 0 ? "" : turn + 1}`];
    }),
  );
}

export interface Side {
  letter: string;
  /** `!`: somebody must look at it; `°`: it has another finding. */
  mark: "" | "!" | "°";
}

/** What stands in the cell of a place: one side where both kernels are alike. */
export function sidesOf(place: Place, letters: ReadonlyMap<string, string>): Side[] {
  const [base, revision] = [place.base, place.revision].map((cell) => sideOf(cell, letters));
  if (base === undefined || revision === undefined) return [];
  const alike = base.letter === revision.letter && base.mark === revision.mark;
  return alike ? [base] : [base, revision];
}

/** An arrow stands for another choice alone, not for the same one with another finding. */
export function sidesText(sides: readonly Side[]): string {
  const same = sides.every(({ letter }) => letter === sides[0]?.letter);
  return sides.map(({ letter, mark }) => letter + mark).join(same ? " = " : " → ");
}

function sideOf(cell: SelectionCell | undefined, letters: ReadonlyMap<string, string>): Side {
  if (cell === undefined) return { letter: "–", mark: "" };
  if (cell.unproven !== "") return { letter: "?", mark: "" };
  const others = cell.findings.filter((finding) => !SHOWN.includes(finding));
  const look = others.some((finding) => TO_LOOK_AT.includes(finding));
  return {
    letter: letters.get(stateText(cell)) ?? "?",
    mark: look ? "!" : others.length > 0 ? "°" : "",
  };
}

function stateText(cell: SelectionCell): string {
  return cell.state ?? NO_FILE;
}

export function isUnproven({ base, revision }: Place): boolean {
  return [base, revision].some((cell) => cell !== undefined && cell.unproven !== "");
}

/** Whether the revision is proven to choose something else than the base. */
export function isChanged(place: Place): boolean {
  const { base, revision } = place;
  if (base === undefined || revision === undefined || isUnproven(place)) return false;
  return base.state !== revision.state;
}

/** Whether somebody must look at what the revision chooses here. */
export function mustBeLookedAt({ revision }: Place): boolean {
  return revision?.findings.some((finding) => TO_LOOK_AT.includes(finding)) ?? false;
}

/** What a kernel shows, in words. */
export function cellText(cell: SelectionCell | undefined): string {
  if (cell === undefined) return "not booted";
  return cell.unproven === "" ? stateText(cell) : `no proof: ${cell.unproven}`;
}

/** The kernel's own lines that say more than the state. */
export function ownLines(cell: SelectionCell | undefined): string[] {
  return (cell?.log ?? []).filter((line) => cell?.state == null || !line.endsWith(cell.state));
}

export function saysTheSame({ base, revision }: Place): boolean {
  const told = [base, revision].map((cell) => [cellText(cell), ...ownLines(cell)].join("\n"));
  return told[0] === told[1];
}

/** What was found of a place, each with whose it is. */
export function foundText({ base, revision }: Place): string[] {
  const [before, after] = [base, revision].map((cell) =>
    (cell?.findings ?? []).filter((finding) => finding !== "no proof"),
  );
  return [...new Set([...(before ?? []), ...(after ?? [])])].map((finding) => {
    if (!before?.includes(finding)) return `${finding} (this revision)`;
    return after?.includes(finding) ? `${finding} (both)` : `${finding} (base)`;
  });
}

/** All of a place in one line, for who hovers over it or does not see it. */
export function placeText(place: Place): string {
  const [base, revision] = [cellText(place.base), cellText(place.revision)];
  const states = base === revision ? `both: ${base}` : `base: ${base}; this revision: ${revision}`;
  return [states, ...foundText(place)].join("; ");
}

/** Places as lines of a matrix: by processor, then by `mitigations=`. */
export function linesOf(places: readonly Place[]): [string, [string, Place[]][]][] {
  const groups = new Map<string, Map<string, Place[]>>();
  for (const place of places) {
    const lines = groups.get(place.processor) ?? new Map<string, Place[]>();
    groups.set(place.processor, lines);
    lines.set(place.mitigations, [...(lines.get(place.mitigations) ?? []), place]);
  }
  return [...groups].map(([processor, lines]) => [processor, [...lines]]);
}
