import { expect, test } from "vitest";
import { readDiff } from "./diff";

const PATCH = `diff --git a/x.c b/x.c
index 1..2 100644
--- a/x.c
+++ b/x.c
@@ -1,4 +1,4 @@ main
 one
--- two
+++ two
 three
-four
+five
\\ No newline at end of file
diff --git a/y.c b/y.c
--- a/y.c
+++ b/y.c
@@ -1 +1,2 @@
 y
+z
`;

test("lines have their signs; a removed line that looks like a head is a removed line", () => {
  const { lines, ...counts } = readDiff(PATCH);
  expect(lines.map(({ sign }) => sign)).toEqual([
    ...["file", "file", "file", "file", "@", " ", "-", "+", " ", "-", "+", "file"],
    ...["file", "file", "file", "@", " ", "+"],
  ]);
  expect(counts).toEqual({ cut: 0, added: 3, removed: 2, files: 2 });
});

test("letters that hide or turn text around are seen", () => {
  const [line] = readDiff("@@ -1 +1 @@\n+a\u202eb\u200bc\u0007\td\r\n").lines.slice(1);
  expect(line).toEqual({ sign: "+", text: "+a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩\td⟨U+000D⟩" });
});

test("of a huge patch the first lines are kept, and all are counted", () => {
  const many = `@@ -0,0 +1,9000 @@\n${"+x\n".repeat(9000)}`;
  const { lines, cut, added } = readDiff(many);
  expect(lines.length + cut).toBe(9001);
  expect(cut).toBeGreaterThan(0);
  expect(added).toBe(9000);
});

test("what is no patch is shown as it is", () => {
  expect(readDiff("").lines).toEqual([]);
  expect(readDiff("hello").lines).toEqual([{ sign: "file", text: "hello" }]);
});
