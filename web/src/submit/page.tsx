/** A new experiment: a spec, checked while it is typed, and what it will take. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { Refused } from "../act/action";
import { useRights } from "../act/rights";
import { useAct } from "../act/use-act";
import { experimentQuery } from "../api/queries";
import type { SpecForecast } from "../api/types";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { useDebounced } from "../ui/use-debounced";
import { Forecast } from "./forecast";
import { forecastQuery, specQuery, specsQuery, submit } from "./queries";
import "./submit.css";
import { WhatIsWrong } from "./what-is-wrong";

const PAUSE_MS = 400;
const NUMBER = /^[1-9]\d{0,9}$/;

export function NewExperimentPage() {
  useTitle("New experiment");
  const [search] = useSearchParams();
  const from = search.get("from") ?? "";
  const ready = search.get("spec") ?? "";
  const again = useQuery({ ...experimentQuery(Number(from)), enabled: NUMBER.test(from) });
  const chosen = useQuery({ ...specQuery(ready), enabled: ready !== "" && from === "" });
  const begun = from !== "" ? again.data?.spec_text : chosen.data?.text;
  const missing = (from !== "" ? again.error : chosen.error) ?? null;
  return (
    <>
      <Head
        title="New experiment"
        tabs={<PlaceTabs of="experiments" here="new" />}
        lede={
          again.data === undefined
            ? "A spec says which hosts are booted into which modes, and what is measured there."
            : `Again: ${again.data.name}, experiment ${again.data.id}. Change what you like.`
        }
      />
      <Refused error={missing} />
      {/* Another beginning is another text. */}
      <Editor key={`${from} ${ready} ${begun === undefined}`} begun={begun ?? ""} ready={ready} />
    </>
  );
}

interface EditorProps {
  begun: string;
  ready: string;
}

function Editor({ begun, ready }: EditorProps) {
  const [text, setText] = useState(begun);
  const settled = useDebounced(text, PAUSE_MS);
  const forecast = useQuery(forecastQuery(settled));
  const field = useRef<HTMLTextAreaElement>(null);
  const { may } = useRights();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const submitting = useAct({
    run: submit,
    done: (made) => {
      void queries.invalidateQueries({ queryKey: ["experiments"] });
      go(`/experiments/${made.id}`);
    },
  });
  const current = settled === text && !forecast.isFetching;
  const label = useId();
  return (
    <div className="new-experiment">
      <section className="panel" aria-labelledby={label}>
        <header>
          <h2 id={label}>Spec</h2>
          <ReadyMade ready={ready} changed={text !== begun} />
        </header>
        <textarea
          ref={field}
          className="spec-text mono"
          aria-labelledby={label}
          spellCheck={false}
          autoCapitalize="off"
          value={text}
          placeholder="Choose a ready-made spec above, or paste one (YAML)."
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
      </section>
      <section className="panel" aria-labelledby="takes" aria-busy={!current}>
        <header>
          <h2 id="takes">What it will take</h2>
          {!current && text.trim() !== "" && <span className="faint small">is checked …</span>}
        </header>
        <div className="inside" aria-live="polite">
          {text.trim() === "" && <p className="soft">Nothing yet: there is no spec.</p>}
          {forecast.error !== null && current && (
            <WhatIsWrong error={forecast.error} field={field} />
          )}
          {forecast.data !== undefined && forecast.error === null && text.trim() !== "" && (
            <Forecast forecast={forecast.data} />
          )}
          <Refused error={submitting.error} />
          <SubmitButton
            may={may("submit")}
            forecast={current && forecast.error === null ? forecast.data : undefined}
            pending={submitting.begun}
            submit={() => {
              submitting.act(text);
            }}
          />
        </div>
      </section>
    </div>
  );
}

interface SubmitButtonProps {
  may: boolean;
  /** Of the text as it stands; undefined: it is not checked, or wrong. */
  forecast: SpecForecast | undefined;
  pending: boolean;
  submit: () => void;
}

function SubmitButton({ may, forecast, pending, submit: press }: SubmitButtonProps) {
  if (!may)
    return <p className="soft">Submitting needs the role submitter, or one that may do more.</p>;
  return (
    <p className="buttons">
      <button
        type="button"
        className="button main"
        disabled={pending || forecast === undefined}
        onClick={press}
      >
        {forecast === undefined ? "Submit" : `Submit: up to ${forecast.boots} boots`}
      </button>
    </p>
  );
}

/** Which spec one begins with; what was typed is asked about before it goes. */
function ReadyMade({ ready, changed }: { ready: string; changed: boolean }) {
  const { data: specs = [] } = useQuery(specsQuery());
  const [, setSearch] = useSearchParams();
  const [wanted, setWanted] = useState("");
  const take = (name: string) => {
    setSearch({ tab: "new", ...(name !== "" && { spec: name }) });
  };
  return (
    <div className="buttons">
      <label className="buttons small">
        <span className="soft">Begin with</span>
        <select
          className="field"
          value={wanted === "" ? ready : wanted}
          onChange={({ target }) => {
            if (changed) setWanted(target.value);
            else take(target.value);
          }}
        >
          <option value="">a text of mine</option>
          {specs.map((spec) => (
            <option key={spec.name} value={spec.name} title={spec.question}>
              {spec.name}
            </option>
          ))}
        </select>
      </label>
      {wanted !== "" && (
        <button
          type="button"
          className="button"
          onClick={() => {
            take(wanted);
          }}
        >
          Replace what I typed
        </button>
      )}
    </div>
  );
}
