/** Which cases of a revision's spec were measured, and which run nothing of what it changes. */

import type { CaseChoice, CaseReach, Revision } from "../api/types";
import { counted } from "../format/quantity";
import { Stamp } from "../ui/age";

export function Choices({ revision }: { revision: Revision }) {
  if (revision.all_cases) return <p className="soft">All cases are measured, whatever they run.</p>;
  const said = revision.choices.filter((choice) => isKnown(choice));
  return said.map((choice) => <Choice key={choice.comparison} choice={choice} />);
}

/** Where it is not known what differs, all is measured, and nothing is to be said. */
function isKnown(choice: CaseChoice) {
  return choice.changed_count + choice.object_count + choice.left_out.length > 0;
}

function Choice({ choice }: { choice: CaseChoice }) {
  return (
    <details open={choice.left_out.length > 0}>
      <summary>
        {choice.comparison}: {counted(choice.measured.length, "case")} measured,{" "}
        {choice.left_out.length} left out
      </summary>
      <Changes choice={choice} />
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

function Changes({ choice }: { choice: CaseChoice }) {
  const { changed, changed_count, objects = [], object_count } = choice;
  if (changed_count + object_count === 0)
    return <p className="soft">No function and no data of the kernel differ.</p>;
  return (
    <>
      {changed_count > 0 && (
        <p className="soft">
          Code that differs: <Names names={changed} count={changed_count} />
        </p>
      )}
      {object_count > 0 && (
        <p className="soft">
          Data that differ: <Names names={objects} count={object_count} />; which cases read them is
          not known.
        </p>
      )}
    </>
  );
}

function Runs({ reach }: { reach: CaseReach }) {
  if (reach.runs === null)
    return `is measured: whether it runs it cannot be told${reach.why === "" ? "" : ` (${reach.why})`}`;
  return (
    <>
      runs <Names names={reach.runs} /> <KnownBy reach={reach} />
    </>
  );
}

function KnownBy({ reach }: { reach: CaseReach }) {
  if (!reach.kernel) return null;
  return (
    <>
      (counted on {reach.kernel} {reach.counted_at && <Stamp at={reach.counted_at} />})
    </>
  );
}

/** Names that a patch chose: text, and nothing else. `count`: how many there are. */
function Names({ names, count = names.length }: { names: string[]; count?: number }) {
  return (
    <>
      {names.map((name, at) => (
        <span key={at}>
          {at > 0 && ", "}
          <code>{name}</code>
        </span>
      ))}
      {count > names.length && ` and ${count - names.length} more`}
    </>
  );
}
