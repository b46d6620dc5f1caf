import type { Arm } from "../api/types";
import { counted } from "../format/quantity";
import { Tag } from "../ui/tag";

/** Whether boots of the arm came up and none of them had the mode in force. */
export function neverEffective(arm: Arm): boolean {
  return arm.boots_effective === 0 && arm.boots_not_effective > 0;
}

function boots(arm: Arm): string {
  const parts = [];
  if (arm.boots_not_effective > 0) {
    const all = arm.boots_effective + arm.boots_not_effective;
    parts.push(`in force in ${arm.boots_effective} of ${counted(all, "boot")}`);
  } else {
    parts.push(`${counted(arm.boots_effective, "boot")} proven`);
  }
  if (arm.boots_failed > 0) parts.push(`${arm.boots_failed} failed`);
  return parts.join(", ");
}

/** The name alone, with what must not be overlooked. */
export function ArmName({ arm }: { arm: Arm }) {
  return (
    <div className="arm-name">
      <span className="mono">{arm.name}</span>
      {arm.is_baseline && <span className="tag">baseline</span>}
      {neverEffective(arm) && <Tag tone="void" text="not effective" />}
    </div>
  );
}

/** An arm as a column's head: what was asked for, and what the kernel said if that differs. */
export function ArmHead({ arm }: { arm: Arm }) {
  return (
    <div className="arm">
      <ArmName arm={arm} />
      {arm.title !== arm.name && <div className="arm-title">{arm.title}</div>}
      {arm.observed.length > 0 ? (
        <dl className="arm-proof">
          <dt>requested</dt>
          <dd className="mono">{arm.cmdline || arm.title}</dd>
          <dt>to be shown</dt>
          <dd className="mono">{arm.expected.join(", ")}</dd>
          <dt>kernel said</dt>
          <dd className="mono observed">{arm.observed.join(", ")}</dd>
        </dl>
      ) : (
        <div className="mono arm-cmdline" title={`proven by: ${arm.expected.join(", ")}`}>
          {arm.cmdline || arm.expected.join(", ")}
        </div>
      )}
      <div className="arm-boots">{boots(arm)}</div>
    </div>
  );
}
