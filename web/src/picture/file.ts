/** Files made in the browser: what they are called, and handing them over. */

const LONGEST = 60;

/** Letters, digits and hyphens only: labels come from strangers. */
function plain(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, LONGEST).replace(/-$/, "");
}

/** mitigauge-syscall-basic-off-vs-ibpb-operation.svg */
export function fileName(words: string[], ending: string): string {
  const parts = words.map(plain).filter((word) => word !== "");
  return `${["mitigauge", ...parts].join("-")}.${ending}`;
}

export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Chromium reads the blob after the click's own turn.
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 10_000);
}
