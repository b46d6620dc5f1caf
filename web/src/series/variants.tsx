/** Which revision of a series costs least, of those that do as much of what protects. */

import type { Variant, Variants } from "../api/types";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { Tag } from "../ui/tag";
import type { Tone } from "../words";
import { columnsOf, firstProcessor, type Shown } from "./cost-words";
import { Experiments, Figures } from "./patch-costs";
import { capital } from "./words";

const GATE: Record<Variant["gate"], { tone: Tone; title: string }> = {
  reference: { tone: "quiet", title: "The revision that is asked; the others are set against it." },
  "does as much": { tone: "good", title: "It does all of what protects at least as often." },
  "does less": { tone: "bad", title: "It is not ranked, however cheap it is." },
  "cannot tell": { tone: "void", title: "Counts do not tell whether it protects as much." },
};

export function VariantsOf({ of }: { of: Variants }) {
  const [asked] = of.variants;
  if (asked === undefined) return null;
  return (
    <>
      <VariantTable of={of} asked={asked} />
      <div className="inside small soft study-notes">
        <p>
          Counted, of software alone{of.mode !== "" && <>; mode {of.mode}</>}. <EmulatedMark />{" "}
          <CountedMark />
        </p>
        <Experiments numbers={of.experiments} />
      </div>
    </>
  );
}

function VariantTable({ of, asked }: { of: Variants; asked: Variant }) {
  const all = { rows: of.variants.map(shownOf), whole: [] };
  const columns = columnsOf(all);
  const processor = firstProcessor(all);
  const label = "Revisions by what they cost";
  return (
    <>
      <p className="inside small soft">
        Instructions that an operation runs more than on {asked.name}; those that are out stand
        last.
      </p>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={label}>
        <table className="list patch-costs" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Revision</th>
              <th scope="col">Protects</th>
              {columns.map((column) => (
                <th key={`${column.case} ${column.host}`} scope="col" className="num">
                  {column.case} <span className="nowrap">{column.host}</span>
                </th>
              ))}
              <th scope="col">What differs</th>
              {processor && <th scope="col">predicted, {processor.title}</th>}
            </tr>
          </thead>
          <tbody>
            {inOrder(of).map((variant) => (
              <tr key={variant.name}>
                <th scope="row">{variant.name}</th>
                <td>
                  <Tag text={variant.gate} {...GATE[variant.gate]} />
                  <div>{variant.title}</div>
                  {variant.same_as !== "" && (
                    <div className="small soft">has the code of {variant.same_as}</div>
                  )}
                  {variant.why !== "" && <div className="small soft">{capital(variant.why)}</div>}
                </td>
                <Figures row={shownOf(variant)} {...{ columns, processor }} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Without costs it is the asked one, has its code, or was not counted. */
function shownOf(variant: Variant): Shown {
  const isAsked = variant.gate === "reference" || variant.gate === "does as much";
  const same = variant.costs.length === 0 && isAsked;
  return { costs: variant.costs, alone: [], same_code: same, why_none: "" };
}

/** As the first ranking has them, then those that it has not, those that are out last. */
function inOrder({ variants, rankings: [first] }: Variants): Variant[] {
  const places = (first?.places ?? []).map((place) => place.name);
  const rank = ({ name, gate, same_as }: Variant) => {
    if (gate === "does less") return 2 * variants.length;
    const at = places.indexOf(same_as || name);
    return at < 0 ? variants.length : at;
  };
  return variants.toSorted((x, y) => rank(x) - rank(y));
}
