/** The search over everything, in the frame's head: `/` leads to it, results open as one types. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId, useRef, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { findQuery } from "../api/queries";
import type { Found, FoundGroup } from "../api/types";
import { sessionQuery } from "../login/session";
import { useKey } from "../ui/use-key";
import { useDebounced } from "../ui/use-debounced";
import { FEW, findPath, KIND, LONGEST, numberOf } from "./words";
import "./find.css";

const PAUSE_MS = 150;

interface Choice {
  key: string;
  href: string;
  found: Found | null;
}

/** What the arrows go through: whatever has a page, then the page with all of it. */
function choicesOf(groups: FoundGroup[], text: string): Choice[] {
  const found = groups.flatMap((group) =>
    group.found.flatMap((each) =>
      each.href === null ? [] : [{ key: `${each.kind} ${each.id}`, href: each.href, found: each }],
    ),
  );
  return [...found, { key: "all", href: findPath(text), found: null }];
}

export function FindBox() {
  // Whoever may not read is not asked for words.
  const session = useQuery({ ...sessionQuery(), enabled: false });
  return session.data === undefined ? null : <Box />;
}

function Box() {
  const [, navigate] = useLocation();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [place, setPlace] = useState(-1);
  const settled = useDebounced(text.trim(), PAUSE_MS);
  const query = useQuery({
    ...findQuery(settled, FEW),
    enabled: isOpen && settled !== "",
    placeholderData: keepPreviousData,
  });
  const focus = () => {
    field.current?.focus();
    field.current?.select();
  };
  // A page's own field comes first.
  useKey("/", focus, { last: true });
  const shown = isOpen && text.trim() !== "";
  const groups = shown && settled !== "" ? (query.data?.groups ?? []) : [];
  const choices = choicesOf(groups, text);
  const active = shown ? choices[place] : undefined;
  const close = () => {
    setOpen(false);
    setPlace(-1);
  };
  const go = (href: string) => {
    close();
    field.current?.blur();
    navigate(href);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") {
      if (shown) close();
      else field.current?.blur();
    } else if (event.key === "Enter" && text.trim() !== "") {
      go(active?.href ?? findPath(text));
    } else if (step !== 0 && text.trim() !== "") {
      setOpen(true);
      setPlace((before) =>
        before < 0 && step < 0
          ? choices.length - 1
          : (before + step + choices.length) % choices.length,
      );
    } else return;
    event.preventDefault();
  };
  return (
    <search className="find-box">
      <input
        ref={field}
        className="field"
        type="text"
        role="combobox"
        aria-label="Find anything"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active && `${id}-${place}`}
        aria-keyshortcuts="/"
        placeholder="Find  /"
        autoComplete="off"
        spellCheck={false}
        maxLength={LONGEST}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPlace(-1);
          setOpen(true);
        }}
        onFocus={() => {
          setOpen(true);
        }}
        onBlur={close}
        onKeyDown={press}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Found"
        hidden={!shown}
        // A click must not take the focus, which would close the list before the click is done.
        onMouseDown={(event) => {
          event.preventDefault();
        }}
      >
        {shown &&
          choices.map((choice, at) => (
            <div
              key={choice.key}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === place}
              ref={at === place ? scrolledTo : undefined}
              onClick={() => {
                go(choice.href);
              }}
            >
              {choice.found ? <Line found={choice.found} /> : <All text={text} query={query} />}
            </div>
          ))}
      </div>
    </search>
  );
}

function scrolledTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

function Line({ found }: { found: Found }) {
  return (
    <>
      <span className="kind small faint">{KIND[found.kind].one}</span>
      <span className="title">{found.title}</span>
      <span className="detail small soft">
        {numberOf(found)}
        {found.detail}
      </span>
    </>
  );
}

interface AllProps {
  text: string;
  query: { data: { groups: FoundGroup[] } | undefined; error: Error | null };
}

function All({ text, query: { data, error } }: AllProps) {
  const total = data?.groups.reduce((sum, group) => sum + group.total, 0);
  if (error) return <span className="title">The search did not answer: {error.message}</span>;
  if (total === undefined) return <span className="title">Everything with “{text.trim()}”</span>;
  return (
    <span className="title">
      {total === 0 ? "Nothing has all of these words" : `All ${total} with “${text.trim()}”`}
    </span>
  );
}
