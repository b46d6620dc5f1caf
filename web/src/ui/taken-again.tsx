import { listed, type Scale } from "../format/quantity";

/** Iterations that are in no mean, since others slowed the processor beside them. */
export function TakenAgain({ values, scale }: { values: number[]; scale: Scale }) {
  if (values.length === 0) return null;
  return (
    <div
      className="faint"
      title="A fixed loop beside these ran slower than it can, so others were taken in their place."
    >
      taken again: {listed(values, scale)}
    </div>
  );
}
