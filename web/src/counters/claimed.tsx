import type { CounterClaim } from "../api/types";
import { percent } from "../format/quantity";
import { CLAIM } from "../words";

/** A published change of the figure that it stands beside. */
export function Claimed({ claim }: { claim: CounterClaim }) {
  const { low_percent: low, high_percent: high } = claim;
  const text = low === high ? percent(low) : `${percent(low)} to ${percent(high)}`;
  return (
    <span className="soft small" title={`${claim.source}: ${claim.reason}`}>
      <span className="faint">claimed</span> {text} {CLAIM[claim.outcome].label}
    </span>
  );
}
