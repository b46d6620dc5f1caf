/** Which cases of a revision's spec were measured, and which run none of what it changes. */

import type { CaseChoice, CaseReach, Revision } from "../api/types";
import { counted } from "../format/quantity";
import { Stamp } from "../ui/age";

export function Choices({ revision }: { revision: Revision }) {
  if (revision.all_cases) return <p className="soft">All cases are measured, whatever they run.</p>;
  const said = revision.choices.filter((choice) => choice.changed_count > 0);
  return said.map((choice) => <Choice key={choice.comparison} choice={choice} />);
}

function Choice({ choice }: { choice: CaseChoice }) {
  const more = choice.changed_count - choice.changed.length;
  return (
    <details open={choice.left_out.length > 0}>
      <summary>
        {choice.comparison}: {counted(choice.measured.length, "case")} measured,{" "}
        {choice.left_out.length} left out
      </summary>
      <p className="soft">
        Code that differs: <Names names={choice.changed} />
        {more > 0 && ` and ${more} more`}
      </p>
      <ul className="soft">
        {choice.measured.map((each) => (
          <li key={each.case}>
            {each.case} <Runs reach={each} />
          </li>
        ))}
        {choice.left_out.map((each) => (
          <li key={each.case}>
            {each.case} runs none of it, and is left out <KnownBy reach={each} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Runs({ reach }: { reach: CaseReach }) {
  if (reach.runs === null) return "may run it: nobody knows";
  return (
    <>
      runs <Names names={reach.runs} /> <KnownBy reach={reach} />
    </>
  );
}

function KnownBy({ reach }: { reach: CaseReach }) {
  return (
    <>
      (counted on {reach.kernel} {reach.counted_at && <Stamp at={reach.counted_at} />})
    </>
  );
}

/** Names that a patch chose: text, and nothing else. */
function Names({ names }: { names: string[] }) {
  return names.map((name, at) => (
    <span key={at}>
      {at > 0 && ", "}
      <code>{name}</code>
    </span>
  ));
}
