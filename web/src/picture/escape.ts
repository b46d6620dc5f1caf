/** Text of strangers within XML. */

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for XML: markup becomes letters, and what XML forbids becomes a replacement mark. */
export function escaped(text: string): string {
  return text
    .replace(/[\p{Cs}\ufffe\uffff]/gu, "\ufffd")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "\ufffd") // eslint-disable-line no-control-regex
    .replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
}
