/** Chooses an experiment by words of its name, or by its number. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { experimentQuery, experimentsQuery } from "../api/queries";
import type { ExperimentSummary } from "../api/types";
import { useDebounced } from "../ui/use-debounced";
import { day } from "../format/time";
import { ExperimentTag } from "../ui/tag";

const PAUSE_MS = 200;
const SHOWN = 8;

interface Props {
  letter: "A" | "B";
  chosen: number | null;
  /** The other side's, which cannot be chosen once more. */
  other: number | null;
  choose: (id: number | null) => void;
}

export function Picker({ letter, chosen, other, choose }: Props) {
  return (
    <section className="panel pick" aria-label={`Experiment ${letter}`}>
      <header>
        <h2>Experiment {letter}</h2>
        {chosen !== null && (
          <button
            type="button"
            className="button"
            onClick={() => {
              choose(null);
            }}
          >
            Choose another one
          </button>
        )}
      </header>
      {chosen === null ? (
        <Search letter={letter} other={other} choose={choose} />
      ) : (
        <Chosen id={chosen} />
      )}
    </section>
  );
}

function Chosen({ id }: { id: number }) {
  const { data, error } = useQuery(experimentQuery(id));
  if (error) {
    return (
      <p className="inside wrong" role="alert">
        {error.message}
      </p>
    );
  }
  return <p className="inside">{data ? <Line experiment={data} /> : `Experiment ${id}`}</p>;
}

function Search({ letter, other, choose }: Omit<Props, "chosen">) {
  const [text, setText] = useState("");
  const find = useDebounced(text.trim(), PAUSE_MS);
  const query = useQuery({
    ...experimentsQuery(find === "" ? {} : { find }),
    placeholderData: keepPreviousData,
  });
  const all = query.data?.experiments ?? [];
  const found = all.filter((each) => each.id !== other).slice(0, SHOWN);
  return (
    <div className="inside">
      <label className="small">
        <span className="soft">Name, question, person or number</span>
        <input
          className="field"
          type="search"
          maxLength={200}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
      </label>
      {query.data !== undefined && found.length === 0 && (
        <p className="soft" role="status">
          {find === "" ? "There is no other experiment yet." : "No experiment has these words."}
        </p>
      )}
      <ul className="picks" aria-label={`Choices for ${letter}`}>
        {found.map((each) => (
          <li key={each.id}>
            <button
              type="button"
              onClick={() => {
                choose(each.id);
              }}
            >
              <Line experiment={each} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Line({ experiment }: { experiment: ExperimentSummary }) {
  return (
    <span className="pick-line">
      <span>
        <strong>{experiment.name}</strong>{" "}
        <span className="soft small">
          {experiment.id}, {day(experiment.created_at)}, {experiment.hosts.join(", ")}
        </span>
      </span>
      <ExperimentTag state={experiment.state} />
    </span>
  );
}
