/** The name without what tells people whom others prove from tokens. */
export function personName(subject: string): string {
  return subject.replace(/^proxy:/, "");
}
