import type { ReactNode } from "react";

interface EmptyProps {
  /** What is not there. */
  children: ReactNode;
  /** What to run so that there is something, and what that does. */
  next?: readonly (readonly [command: string, does: string])[];
}

/** A part of a page that has nothing to show, with the commands that lead on. */
export function Empty({ children, next = [] }: EmptyProps) {
  return (
    <div className="inside empty">
      <p className="soft">{children}</p>
      <NextCommands next={next} />
    </div>
  );
}

export function NextCommands({ next }: { next: NonNullable<EmptyProps["next"]> }) {
  if (next.length === 0) return null;
  return (
    <dl className="next-commands">
      {next.map(([command, does]) => (
        <div key={command}>
          <dt>
            <code>{command}</code>
          </dt>
          <dd className="soft">{does}</dd>
        </div>
      ))}
    </dl>
  );
}
