import type { ReactNode } from "react";

/** Terms and what they are; an absent fact says so and is never shown as zero. */
export function Facts({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {items.map(([term, fact]) => (
        <div key={term} style={{ display: "contents" }}>
          <dt>{term}</dt>
          <dd>{fact ?? <span className="faint">absent</span>}</dd>
        </div>
      ))}
    </dl>
  );
}
