/** The lines of a patch, and what each of them is. Pure. */

export type Sign = "+" | "-" | "@" | "file" | " ";

export interface DiffLine {
  sign: Sign;
  text: string;
}

export interface Diff {
  lines: DiffLine[];
  /** Lines that are not in `lines`, since there are too many. */
  cut: number;
  added: number;
  removed: number;
  files: number;
}

/** More of them take a browser seconds; the file has all. */
const MOST_LINES = 4_000;

/** What shows as nothing, or turns the direction of what follows it around. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** A line whose every letter is seen: what runs must not look like something else. */
function seen(line: string): string {
  return line.replace(HIDDEN, (letter) => {
    if (letter === "\t") return letter;
    const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0") ?? "";
    return `⟨U+${code}⟩`;
  });
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * The lines with their signs. A hunk's head says how many lines it has, so that a removed line that
 * begins with two hyphens is no head of a file.
 */
export function readDiff(text: string): Diff {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  const diff: Diff = { lines: [], cut: 0, added: 0, removed: 0, files: 0 };
  let [old, now] = [0, 0];
  for (const line of all) {
    const hunk = old > 0 || now > 0 ? null : HUNK.exec(line);
    let sign: Sign;
    if (old > 0 || now > 0) {
      sign = line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
      if (sign === "+") {
        now -= 1;
        diff.added += 1;
      } else if (sign === "-") {
        old -= 1;
        diff.removed += 1;
      } else if (!line.startsWith("\\")) {
        old -= 1;
        now -= 1;
      }
    } else if (hunk) {
      sign = "@";
      [old, now] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    } else {
      sign = "file";
      if (line.startsWith("diff --git ")) diff.files += 1;
    }
    if (diff.lines.length < MOST_LINES) diff.lines.push({ sign, text: seen(line) });
    else diff.cut += 1;
  }
  return diff;
}
