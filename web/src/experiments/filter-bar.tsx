/** What the list of experiments is filtered and sorted by; all of it stands in the address. */

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { choicesQuery } from "../api/queries";
import { useSearch } from "../ui/use-search";
import { type Asked, SORTS, STATES, VERDICTS } from "./filter";

const SORT_WORDS = {
  newest: "newest first",
  oldest: "oldest first",
  name: "by name",
  effect: "worst effect first",
};

interface Props {
  asked: Asked;
  change: (name: string, value: string) => void;
  clear: (() => void) | null;
}

export function FilterBar({ asked, change, clear }: Props) {
  const { data: known } = useQuery(choicesQuery());
  // On a phone the list comes before what few people need.
  const [isOpen, setOpen] = useState(clear !== null);
  const [typed, type] = useSearch(asked.find ?? "", (text) => {
    change("find", text);
  });
  const pick = (label: string, name: keyof Asked, options: readonly string[]) => {
    const value = String(asked[name] ?? "");
    return (
      <Labelled text={label}>
        <select
          className="field"
          value={value}
          onChange={(event) => {
            change(name, event.target.value);
          }}
        >
          <option value="">all</option>
          {(options.includes(value) || value === "" ? options : [value, ...options]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Labelled>
    );
  };
  const date = (label: string, name: "since" | "until") => (
    <Labelled text={label}>
      <input
        className="field"
        type="date"
        value={asked[name] ?? ""}
        min={name === "until" ? asked.since : undefined}
        max={name === "since" ? asked.until : undefined}
        onChange={(event) => {
          change(name, event.target.value);
        }}
      />
    </Labelled>
  );
  return (
    <div
      className="experiment-filters"
      role="search"
      aria-label="Experiments"
      data-open={isOpen || undefined}
    >
      <Labelled text="Find" wide>
        <input
          className="field"
          type="search"
          maxLength={200}
          value={typed}
          placeholder="name, question, person or number"
          onChange={(event) => {
            type(event.target.value);
          }}
        />
      </Labelled>
      <button
        type="button"
        className="button more-filters"
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        {isOpen ? "Fewer filters" : "More filters"}
      </button>
      {pick("State", "state", STATES)}
      {pick("Verdict", "verdict", VERDICTS)}
      {pick("Workload", "workload", known?.workloads ?? [])}
      {pick("Mode", "mode", known?.modes ?? [])}
      {pick("Host", "host", known?.hosts ?? [])}
      {pick("Submitted by", "who", known?.who ?? [])}
      {date("From", "since")}
      {date("To", "until")}
      <Labelled text="Order">
        <select
          className="field"
          value={asked.sort ?? "newest"}
          onChange={(event) => {
            change("sort", event.target.value === "newest" ? "" : event.target.value);
          }}
        >
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {SORT_WORDS[sort]}
            </option>
          ))}
        </select>
      </Labelled>
      {clear && (
        <button type="button" className="button" onClick={clear}>
          Clear filters
        </button>
      )}
    </div>
  );
}

function Labelled({ text, wide, children }: { text: string; wide?: boolean; children: ReactNode }) {
  return (
    <label className="small" data-wide={wide}>
      <span className="soft">{text}</span>
      {children}
    </label>
  );
}
