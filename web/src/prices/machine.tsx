/** What one machine gave: events that it refused, and operations that no price is made of. */

import type { PriceMachine, PriceTrustRule } from "../api/types";
import { fixed } from "../format/quantity";
import { Aftermath } from "./aftermath";
import { PredictionTable } from "./predictions";
import { TrustTag } from "./trust";
import { trustRuleText } from "./words";

interface MachineProps {
  of: PriceMachine;
  rule: PriceTrustRule;
}

export function Machine({ of, rule }: MachineProps) {
  const about = [
    of.is_virtual ? "virtual" : "bare",
    of.kernel && `kernel ${of.kernel}`,
    of.microcode && `microcode ${of.microcode}`,
    `cycle ${fixed(of.cycle_ns, 3)}\u202fns`,
  ];
  return (
    <section aria-label={`Machine ${of.machine}`}>
      <h3>
        <span>
          Machine <bdi>{of.machine}</bdi>, {of.at}
        </span>
        <TrustTag of={of.trusted} />
      </h3>
      <p className="small soft">
        <bdi>{about.filter(Boolean).join(", ")}</bdi>
      </p>
      <Checks of={of} rule={rule} />
      {of.aftermaths.map((each) => (
        <Aftermath key={each.event} of={each} machine={of.machine} />
      ))}
      {of.refused.length > 0 && (
        <>
          <p className="small soft">Without a price on this machine:</p>
          <Refused of={of} />
        </>
      )}
    </section>
  );
}

function Checks({ of, rule }: MachineProps) {
  if (of.checks.length === 0)
    return <p className="soft">No operation could be predicted and measured on this machine.</p>;
  return (
    <>
      <p className="small soft">Operations that no price is made of. {trustRuleText(rule)}</p>
      <PredictionTable
        label={`Operations that no price is made of, ${of.machine}`}
        of="Operation"
        rows={of.checks.map((check) => [check.what, check])}
      />
    </>
  );
}

/** In the words of the kernel, or of the program where a figure is not usable. */
function Refused({ of }: { of: PriceMachine }) {
  return (
    <table className="list stack prices-refused" aria-label={`Without a price on ${of.machine}`}>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {of.refused.map(({ event, title, why }) => (
          <tr key={event}>
            <th scope="row">
              {title !== event && `${title} `}
              <code className="faint">{event}</code>
            </th>
            <td data-label="Why">
              <bdi>{why.startsWith("not usable") ? why : `refused: ${why}`}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
