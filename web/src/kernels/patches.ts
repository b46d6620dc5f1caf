/** Patches that were pasted one after the other. */

// The first line of each mail that `git format-patch` writes.
const BEGINS = /^(?=From [0-9a-f]{40} )/m;

/** The patches in the text, in their order; a text without such lines is one patch. */
export function patchesIn(text: string): string[] {
  return text
    .split(BEGINS)
    .filter((each) => each.trim() !== "")
    .map((each) => (each.endsWith("\n") ? each : `${each}\n`));
}
