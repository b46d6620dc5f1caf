/** A button that changes something: it says what will happen, asks for what is needed, and acts. */

import { type ReactNode, useId, useRef, useState } from "react";
import { ApiError } from "../api/client";
import "./act.css";
import { Fields, type Values, type WantedField, valuesOf } from "./fields";
import { useAct } from "./use-act";

interface ActionProps {
  /** The button's words; a question stands as it is, what does something gets its dots. */
  label: string;
  /** What will happen, said before it does. */
  children: ReactNode;
  fields?: WantedField[];
  /** Words of the button that does it; the label where none are given. */
  confirm?: string;
  run: (values: Values) => Promise<unknown>;
  /** Asks anew for what may have changed; done after a refusal as well. */
  settled: () => unknown;
}

export function Action({ label, children, fields = [], confirm, run, settled }: ActionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // What was not touched follows what it begins with, which may come late.
  const [changed, setChanged] = useState<Values>({});
  const values = { ...valuesOf(fields), ...changed };
  const title = useId();
  const acting = useAct({
    run,
    done: () => {
      dialog.current?.close();
    },
    settled,
  });
  const open = () => {
    acting.again();
    setChanged({});
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" className="button" onClick={open}>
        {label.endsWith("?") ? label : `${label}…`}
      </button>
      <dialog ref={dialog} className="act" aria-labelledby={title}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            acting.act(values);
          }}
        >
          <h2 id={title}>{label}</h2>
          <div className="what">{children}</div>
          <Fields
            fields={fields}
            values={values}
            change={(name, value) => {
              setChanged((before) => ({ ...before, [name]: value }));
            }}
          />
          <Refused error={acting.error} />
          <div className="buttons">
            <button type="submit" className="button main" disabled={acting.begun}>
              {confirm ?? label}
            </button>
            <button
              type="button"
              className="button"
              onClick={() => {
                dialog.current?.close();
              }}
            >
              Leave it
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}

/** Why something was not done. */
export function Refused({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <p className="problem small" role="alert">
      {error.message} {error instanceof ApiError && error.hint}
    </p>
  );
}
