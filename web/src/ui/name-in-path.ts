/** The name that an address holds. */

/**
 * The last part of an address's path, as it was before it was put there.
 *
 * The router's own parameters still have what stands for a comma or a slash (`%2C`).
 */
export function nameInPath(path: string): string {
  return decoded(path.split("/").at(-1) ?? "");
}

/** A part of a path as it was before it was put there. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Somebody typed a % that stands for nothing.
    return part;
  }
}
