/** Cells of any table: words, quantities, and what was measured of an arm. */

import { Link } from "wouter";
import type { Answer, Effect, Quantity, TableCell, TableClaim, TableColumn } from "../api/types";
import { BoundSign } from "../experiment/cell";
import { claimText, effectParts } from "../format/effect";
import { quantity, scaled } from "../format/quantity";
import { CLAIM, VERDICT } from "../words";

const SIGNIFICANT = 0.05;

export function CellView({ cell, table }: { cell: TableCell; table: TableColumnMore }) {
  switch (cell.kind) {
    case "text":
      return (
        <>
          {cell.href ? <Link to={cell.href}>{cell.text}</Link> : cell.text}{" "}
          {cell.mark && <span className="tag">{cell.mark}</span>}
        </>
      );
    case "quantity":
      return <QuantityText quantity={cell} withInterval={table.column.with_interval} />;
    case "answer":
      return <AnswerText answer={cell} more={table.more} />;
  }
}

export interface TableColumnMore {
  column: TableColumn;
  /** Titles of further figures, with their unit. */
  more: Record<string, string>;
}

function QuantityText({
  quantity: of,
  withInterval,
}: {
  quantity: Quantity;
  withInterval: boolean;
}) {
  if (typeof of.value !== "number") return <span className="faint">{of.words}</span>;
  const value = shown(of);
  if (of.at_least) return `≥ ${value}, ${of.boots} of ${of.of} boots`;
  if (!withInterval) return <span className="value">{value}</span>;
  return (
    <>
      <span className="value">{value}</span> <Ends quantity={of} />
    </>
  );
}

function shown(of: Quantity): string {
  if (typeof of.value !== "number") return of.words;
  const { unit } = of;
  return unit === "" ? scaled(of.value, { factor: 1, label: "" }) : quantity(of.value, unit);
}

/** The interval of a quantity itself. */
function Ends({ quantity: of }: { quantity: Quantity }) {
  if (typeof of.low !== "number" || typeof of.high !== "number") return null;
  const scale = { factor: 1, label: "" };
  return (
    <span className="interval">
      [{scaled(of.low, scale)}, {scaled(of.high, scale)}]
    </span>
  );
}

function AnswerText({ answer, more }: { answer: Answer; more: Record<string, string> }) {
  const { value, effect, n, claims, note } = answer;
  if (answer.state === "not_effective") {
    return (
      <div className="table-cell">
        <span className="void">
          <span aria-hidden="true">⊘ </span>not effective
        </span>
        {note !== "" && <span className="faint small">{note}</span>}
      </div>
    );
  }
  const figures = Object.entries(more).flatMap(([key, title]) => {
    const figure = answer.more?.[key];
    return figure === undefined ? [] : [`${title.replace(", ", " ")} ${shown(figure)}`];
  });
  const isEmpty = typeof value?.value !== "number" && !effect;
  return (
    <div className="table-cell" title={note === "" ? undefined : note}>
      <span>
        {isEmpty && <span className="faint">absent</span>}
        {value && <span className="value">{shown(value)}</span>}{" "}
        {effect && <Change effect={effect} href={answer.href} />}
      </span>
      <span className="interval">
        {effect ? <Between effect={effect} /> : value && <Ends quantity={value} />}
        {n > 0 && <span className="n">n {n}</span>}
      </span>
      {isEmpty && note !== "" && <span className="faint small">{note}</span>}
      {figures.length > 0 && <span className="soft small">{figures.join(", ")}</span>}
      {(claims ?? []).map((claim) => (
        <Claimed key={`${claim.source} ${claim.label}`} claim={claim} />
      ))}
    </div>
  );
}

function Change({ effect, href }: { effect: Effect; href: string }) {
  const verdict = effect.verdict ?? null;
  const { change } = effectParts(effect);
  const isOne = typeof effect.q === "number" && effect.q <= SIGNIFICANT;
  const words = verdict ?? (typeof effect.q !== "number" ? "" : isOne ? "changed" : "may be noise");
  const figure = (
    <>
      <BoundSign bound={effect.bound} />
      {change}{" "}
      {words !== "" && <span className={verdict || isOne ? "verdict" : "faint"}>{words}</span>}
    </>
  );
  const title = verdict ? VERDICT[verdict].meaning : undefined;
  if (href === "") {
    return (
      <span className="effect" data-verdict={verdict ?? undefined} title={title}>
        {figure}
      </span>
    );
  }
  return (
    <Link to={href} className="effect" data-verdict={verdict ?? undefined} title={title}>
      {figure}
    </Link>
  );
}

function Between({ effect }: { effect: Effect }) {
  const { interval } = effectParts(effect);
  return interval === "" ? null : `${interval} `;
}

/** A published figure of the cell that it stands in. */
function Claimed({ claim }: { claim: TableClaim }) {
  const { low, high, source, label } = claim;
  const outcome = CLAIM[claim.outcome as keyof typeof CLAIM];
  return (
    <span className="soft small" title={`${source}: ${claim.reason}`}>
      <span className="faint">claimed</span> {label === source ? "" : `${label} `}
      {claimText(low, high)} <span data-tone={outcome.tone}>{outcome.label}</span>
    </span>
  );
}
