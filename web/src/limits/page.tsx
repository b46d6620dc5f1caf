/** Limits in force: what no figure may pass, set once and said of every experiment. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { useAct } from "../act/use-act";
import type { LimitFile, LimitFileHead } from "../api/types";
import { personName } from "../format/person";
import { counted } from "../format/quantity";
import { WhatIsWrong } from "../submit/what-is-wrong";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { useAddress } from "../ui/use-address";
import "../submit/submit.css";
import {
  limitFileQuery,
  limitFilesQuery,
  limitsKey,
  nameIn,
  removeLimits,
  setLimits,
} from "./queries";
import "./limits.css";

const EXAMPLE = `limits: ours
lines:
  - workload: exits
    metric: time_per_exit
    case: {to: userspace}   # other parameters may be any
    host_class: EPYC        # words within its name; without it: any
    at_most: 6200           # in the metric's unit, here ns
    because: the budget
  # No revision of a series worse than the one before it by more than 1 %.
  - {workload: syscall, metric: time_per_call, worse_by_percent: 1, than: before}
`;

export function LimitsPage() {
  useTitle("Limits");
  const query = useQuery(limitFilesQuery());
  const [search, change] = useAddress();
  const { may } = useRights();
  const file = search.get("file");
  const choose = (name: string | null) => {
    change("file", name);
  };
  return (
    <>
      <Head
        title="Limits"
        tabs={<PlaceTabs of="experiments" here="limits" />}
        lede="What no figure may pass. Each experiment is judged at its end by the files that are in force then. One that ended before stays as it is, until somebody judges it anew on its page."
      />
      <Loaded query={query} part>
        {(files) => <Files files={files} choose={choose} />}
      </Loaded>
      {may("set limits") ? (
        <Chosen key={file ?? ""} name={file ?? ""} choose={choose} />
      ) : (
        <p className="soft">Setting limits needs the role submitter, approver or admin.</p>
      )}
    </>
  );
}

interface FilesProps {
  files: LimitFileHead[];
  choose: (name: string | null) => void;
}

function Files({ files, choose }: FilesProps) {
  if (files.length === 0)
    return (
      <section className="panel" aria-label="Files in force">
        <Empty next={[["mitigauge limits set limits.yml", "does the same as the field below"]]}>
          No limits are in force. Write some below: every experiment that ends from then on is
          judged by them.
        </Empty>
      </section>
    );
  return (
    <section className="panel" aria-label="Files in force">
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col" className="num">
              Limits
            </th>
            <th scope="col">Set by</th>
            <th scope="col">Since</th>
            <th scope="col">
              <span className="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <FileRow key={file.name} file={file} choose={choose} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function FileRow({ file, choose }: { file: LimitFileHead; choose: FilesProps["choose"] }) {
  const { may } = useRights();
  const queries = useQueryClient();
  return (
    <tr>
      <th scope="row">{file.name}</th>
      <td className="num" data-label="Limits">
        {file.lines}
      </td>
      <td data-label="Set by">{personName(file.set_by)}</td>
      <td data-label="Since">
        <Age at={file.set_at} />
      </td>
      <td>
        {may("set limits") && (
          <div className="buttons">
            <button
              type="button"
              className="button"
              onClick={() => {
                choose(file.name);
              }}
            >
              Change
            </button>
            <Action
              label="Remove"
              run={() => removeLimits(file.name)}
              settled={() => queries.invalidateQueries({ queryKey: limitsKey })}
            >
              <p>
                No experiment is judged by {counted(file.lines, "limit")} of {file.name} from now
                on. What was said by them stays.
              </p>
            </Action>
          </div>
        )}
      </td>
    </tr>
  );
}

interface ChosenProps {
  /** Of the file that is changed; empty: a new one. */
  name: string;
  choose: FilesProps["choose"];
}

function Chosen({ name, choose }: ChosenProps) {
  const query = useQuery({ ...limitFileQuery(name), enabled: name !== "" });
  if (name === "") return <Editor begun={null} choose={choose} />;
  return (
    <Loaded query={query} part>
      {(file) => <Editor begun={file} choose={choose} />}
    </Loaded>
  );
}

function Editor({ begun, choose }: { begun: LimitFile | null; choose: FilesProps["choose"] }) {
  const [text, setText] = useState(begun?.text ?? "");
  const [set, setSet] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const queries = useQueryClient();
  const label = useId();
  const setting = useAct({
    run: setLimits,
    done: (made) => {
      setSet(`${made.name}: ${counted(made.lines, "limit")} in force from now on.`);
      setting.again();
    },
    settled: () => queries.invalidateQueries({ queryKey: limitsKey }),
  });
  return (
    <section className="panel limits-editor" aria-labelledby={label}>
      <header>
        <h2 id={label}>{begun === null ? "A new file" : `Change ${begun.name}`}</h2>
        {begun === null && text === "" && (
          <button
            type="button"
            className="button"
            onClick={() => {
              setText(EXAMPLE);
              field.current?.focus();
            }}
          >
            Begin with an example
          </button>
        )}
      </header>
      <textarea
        ref={field}
        className="spec-text mono"
        aria-labelledby={label}
        aria-invalid={setting.error !== null}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        placeholder="YAML, which begins: limits: NAME"
        onChange={(event) => {
          setText(event.target.value);
          setSet("");
        }}
      />
      <div className="inside">
        {setting.error !== null && <WhatIsWrong error={setting.error} field={field} />}
        {set !== "" && <p role="status">{set}</p>}
        <SetButtons
          text={text}
          begun={begun}
          pending={setting.begun}
          set={() => {
            setting.again();
            setting.act(text);
          }}
          leave={() => {
            choose(null);
          }}
        />
      </div>
    </section>
  );
}

interface SetButtonsProps {
  text: string;
  begun: LimitFile | null;
  pending: boolean;
  set: () => void;
  leave: () => void;
}

function SetButtons({ text, begun, pending, set, leave }: SetButtonsProps) {
  const renamed = begun !== null && nameIn(text) !== begun.name;
  return (
    <>
      {renamed && (
        <p className="soft small">
          Under this name it is another file; {begun.name} stays in force as it is.
        </p>
      )}
      <p className="buttons">
        <button
          type="button"
          className="button main"
          disabled={pending || text.trim() === ""}
          onClick={set}
        >
          Put in force
        </button>
        {begun !== null && (
          <button type="button" className="button" onClick={leave}>
            Leave it
          </button>
        )}
      </p>
    </>
  );
}
