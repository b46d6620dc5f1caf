/** Names in the order in which people count: v2 before v10, as the service orders them. */

const NUMBER = /([0-9]+)/;

type Part = [length: number, digits: string, text: string];

/** Numbers of any length are compared as text, by how long they are first. */
function parts(name: string): Part[] {
  return name.split(NUMBER).map((part, at) => {
    const digits = part.replace(/^0+/, "");
    return at % 2 === 1 ? [digits.length, digits, part] : [0, part, ""];
  });
}

function compare<T>(x: T, y: T): number {
  return x < y ? -1 : Number(x > y);
}

function compareParts(left: readonly Part[], right: readonly Part[]): number {
  for (const [at, [length, digits, text]] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const order = compare(length, other[0]) || compare(digits, other[1]) || compare(text, other[2]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Those of the names in order; each is taken apart once, so that long lists are fast. */
export function byName<T>(all: readonly T[], nameOf: (of: T) => string): T[] {
  return all
    .map((of) => ({ of, key: parts(nameOf(of)) }))
    .sort((x, y) => compareParts(x.key, y.key))
    .map(({ of }) => of);
}

/** The names in order. */
export function naturally(names: Iterable<string>): string[] {
  return byName([...names], (name) => name);
}
