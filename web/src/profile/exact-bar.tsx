import { fixed } from "../format/quantity";
import { wayOf } from "./exact-words";

interface BarProps {
  difference: number;
  /** The largest difference of the table: it fills its half. */
  most: number;
  /** Whether it may be by chance. */
  byChance?: boolean;
}

/** A difference from the middle: less to the left, more to the right. The figure stands beside it. */
export function ExactBar({ difference, most, byChance = false }: BarProps) {
  const share = most > 0 ? (50 * Math.abs(difference)) / most : 0;
  return (
    <span className="exact-bar" aria-hidden="true">
      {difference !== 0 && (
        <span
          data-way={wayOf(difference)}
          data-by-chance={byChance ? "" : undefined}
          style={{ width: `${fixed(share, 2)}%` }}
        />
      )}
    </span>
  );
}
