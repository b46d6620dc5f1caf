/** Changes what people decided of a regression; for those whose role allows that. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../act/use-act";
import { api, ApiError, data } from "../api/client";
import type { Regression, RegressionState } from "../api/types";
import { homeKey } from "../home/queries";
import { sessionQuery } from "../login/session";
import { REGRESSION_STATE } from "../words";
import { regressionQuery, regressionsKey } from "./queries";
import { OPEN, OVER } from "./words";

interface Draft {
  state: RegressionState;
  owner: string;
  bug: string;
  duplicateOf: string;
  bisection: string;
  note: string;
}

function draftOf(regression: Regression): Draft {
  return {
    state: regression.state,
    owner: regression.owner,
    bug: regression.bug,
    duplicateOf: String(regression.duplicate_of ?? ""),
    bisection: String(regression.bisection_id ?? ""),
    note: "",
  };
}

/** Only what was edited here: what others changed meanwhile stays as they left it. */
function bodyOf(regression: Regression, edits: Partial<Draft>) {
  const { state, owner, bug, duplicateOf = "", bisection = "", note = "" } = edits;
  const joins = state === "duplicate" || (state === undefined && duplicateOf !== "");
  return {
    version: regression.version,
    ...(state !== undefined && !joins && { state }),
    ...(joins && duplicateOf !== "" && { duplicate_of: Number(duplicateOf) }),
    ...(owner !== undefined && { owner }),
    ...(bug !== undefined && { bug }),
    ...(bisection !== "" && { bisection_id: Number(bisection) }),
    note,
  };
}

export function ChangeForm({ regression }: { regression: Regression }) {
  const { data: session } = useQuery({ ...sessionQuery(), enabled: false });
  if (!session?.rights.includes("triage regressions and trends"))
    return (
      <p className="faint small inside">
        <code>mitigauge regression set {regression.id}</code> changes it, for who may submit.
      </p>
    );
  return <Form regression={regression} me={session.subject} />;
}

function Form({ regression, me }: { regression: Regression; me: string }) {
  const [edits, setEdits] = useState<Partial<Draft>>({});
  const draft = { ...draftOf(regression), ...edits };
  const queries = useQueryClient();
  const set = (part: Partial<Draft>) => {
    setEdits((before) => ({ ...before, ...part }));
  };
  const changing = useAct({
    run: (body: ReturnType<typeof bodyOf>) =>
      data(
        api.POST("/api/regressions/{regression_id}", {
          params: { path: { regression_id: regression.id } },
          body,
        }),
      ),
    // Where somebody was quicker, what was typed stays in the form.
    done: (changed) => {
      changing.again();
      setEdits({});
      queries.setQueryData(regressionQuery(regression.id).queryKey, changed);
      return Promise.all([
        queries.invalidateQueries({ queryKey: regressionsKey }),
        queries.invalidateQueries({ queryKey: homeKey }),
      ]);
    },
  });
  const mine = me !== "" && regression.owner === me;
  const conflict = changing.error instanceof ApiError && changing.error.status === 409;
  return (
    <form
      className="change inside"
      onSubmit={(event) => {
        event.preventDefault();
        changing.act(bodyOf(regression, edits));
      }}
    >
      <label>
        <span>State</span>
        <select
          className="field"
          value={draft.state}
          onChange={(event) => {
            set({ state: event.target.value as RegressionState });
          }}
        >
          {[...OPEN, ...OVER].map((state) => (
            <option key={state} value={state}>
              {REGRESSION_STATE[state].label}: {REGRESSION_STATE[state].meaning}
            </option>
          ))}
        </select>
      </label>
      {draft.state === "duplicate" && (
        <Field
          label="Regression that it joins"
          value={draft.duplicateOf}
          type="number"
          required
          change={(duplicateOf) => {
            set({ duplicateOf });
          }}
        />
      )}
      <Field
        label="Owner"
        value={draft.owner}
        placeholder="nobody"
        change={(owner) => {
          set({ owner });
        }}
      />
      <Field
        label="Bug"
        value={draft.bug}
        type="url"
        placeholder="https://bugzilla.kernel.org/show_bug.cgi?id=…"
        change={(bug) => {
          set({ bug });
        }}
      />
      <Field
        label="Bisection"
        value={draft.bisection}
        type="number"
        placeholder="its number"
        change={(bisection) => {
          set({ bisection });
        }}
      />
      <label>
        <span>Note</span>
        <textarea
          className="field"
          rows={2}
          maxLength={4000}
          value={draft.note}
          onChange={(event) => {
            set({ note: event.target.value });
          }}
        />
      </label>
      <p className="buttons">
        <button type="submit" className="button" disabled={changing.begun}>
          Save
        </button>
        {me !== "" && !mine && (
          <button
            type="button"
            className="button"
            disabled={changing.begun}
            onClick={() => {
              changing.act({ version: regression.version, owner: me, note: draft.note });
            }}
          >
            Take it
          </button>
        )}
      </p>
      {changing.error !== null && (
        <p className="problem small" role="alert">
          {changing.error.message} {changing.error instanceof ApiError && changing.error.hint}{" "}
          {conflict && (
            <button
              type="button"
              className="button"
              onClick={() => void queries.invalidateQueries({ queryKey: ["regression"] })}
            >
              Show it as it is now
            </button>
          )}
        </p>
      )}
    </form>
  );
}

interface FieldProps {
  label: string;
  value: string;
  change: (value: string) => void;
  type?: "text" | "url" | "number";
  placeholder?: string;
  required?: boolean;
}

function Field({ label, value, change, type = "text", ...more }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        className="field"
        type={type}
        min={type === "number" ? 1 : undefined}
        value={value}
        maxLength={500}
        {...more}
        onChange={(event) => {
          change(event.target.value);
        }}
      />
    </label>
  );
}
