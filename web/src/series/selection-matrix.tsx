/** Both kernels' choices as letters: processors and `mitigations=` down, options across. */

import type { Revision } from "../api/types";
import {
  isChanged,
  isUnproven,
  linesOf,
  mustBeLookedAt,
  placeText,
  sidesOf,
  sidesText,
  valuesOf,
  type Place,
} from "./selection-places";

/** Lines from which on the matrix scrolls in a box under its head. */
const LARGE_FROM_LINES = 60;

interface MatrixProps {
  places: Place[];
  letters: ReadonlyMap<string, string>;
  revision: Revision;
}

export function SelectionMatrix({ places, letters, revision }: MatrixProps) {
  const options = valuesOf(places, "option");
  const groups = linesOf(places);
  const lines = groups.reduce((sum, [, each]) => sum + each.length, 0);
  const label = `Choices of the base and of ${revision.label}`;
  return (
    <>
      <Legend letters={letters} />
      <div
        className="scroll-x selection-box"
        data-large={lines >= LARGE_FROM_LINES ? "" : undefined}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        <table className="selection-matrix" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">
                <code>mitigations=</code>
              </th>
              {options.map((option) => (
                <th key={option} scope="col">
                  {option === "" ? "no option" : <code>{option}</code>}
                </th>
              ))}
            </tr>
          </thead>
          {groups.map(([processor, each]) => (
            <tbody key={processor}>
              <tr className="of-processor">
                <th scope="rowgroup" colSpan={options.length + 1}>
                  <span>{processor}</span>
                </th>
              </tr>
              {each.map(([mitigations, row]) => (
                <tr key={mitigations}>
                  <th scope="row">
                    {mitigations === "" ? (
                      "not said"
                    ) : (
                      <code>{mitigations.replace(/^mitigations=/, "")}</code>
                    )}
                  </th>
                  {options.map((option) => (
                    <PlaceCell
                      key={option}
                      place={row.find((place) => place.option === option)}
                      letters={letters}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </div>
    </>
  );
}

interface PlaceCellProps {
  place: Place | undefined;
  letters: ReadonlyMap<string, string>;
}

function PlaceCell({ place, letters }: PlaceCellProps) {
  if (place === undefined) return <td />;
  const words = placeText(place);
  return (
    <td
      title={words}
      data-changed={isChanged(place) ? "" : undefined}
      data-unproven={isUnproven(place) ? "" : undefined}
      data-look={mustBeLookedAt(place) ? "" : undefined}
    >
      <span aria-hidden="true">{sidesText(sidesOf(place, letters))}</span>
      <span className="visually-hidden">{words}</span>
    </td>
  );
}

function Legend({ letters }: { letters: ReadonlyMap<string, string> }) {
  return (
    <div className="inside small selection-legend">
      <dl>
        {[...letters].map(([state, letter]) => (
          <div key={state}>
            <dt>{letter}</dt>
            <dd>{state}</dd>
          </div>
        ))}
      </dl>
      <p className="soft">
        One letter: base and revision choose the same. <strong>A → B</strong>: the revision chooses
        something else. <strong>!</strong> worse than asked, weaker than before, or contradicts its
        code. <strong>°</strong> cannot be protected, or the option is not known. <strong>?</strong>{" "}
        no proof. Emulated processors.
      </p>
    </div>
  );
}
