/** Names that an address holds. */

/**
 * The last parts of an address's path, as they were before they were put there.
 *
 * The router's own parameters still have what stands for a comma or a slash (`%2C`).
 */
export function namesInPath(path: string, count: 1 | 2): [string, string] {
  const [first = "", second = ""] = path.split("/").slice(-count).map(decoded);
  return [first, second];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Somebody typed a % that stands for nothing.
    return part;
  }
}
