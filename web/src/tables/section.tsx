/** One section of a table's page: what it is of, its tables, its notes. */

import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import type { Answer, Table, TableCell, TableSection } from "../api/types";
import { counted } from "../format/quantity";
import { CountedMark, EmulatedMark } from "../ui/emulated";
import { CellView } from "./cells";
import { Prose } from "./prose";
import "./tables.css";

interface SectionProps {
  section: TableSection;
  /** Rows that are shown at first; the others are a click away. */
  most?: number;
  /** In the heading, on the right. */
  children?: ReactNode;
  /** The heading, where a page calls it otherwise. */
  title?: string;
}

export function SectionPanel({ section, most, children, title }: SectionProps) {
  const words = title ?? section.title;
  const name = `table-${words}`.replace(/[^\w-]+/g, "-");
  return (
    <section className="panel" aria-labelledby={name}>
      <header>
        <h2 id={name}>
          {section.href ? <Link to={section.href}>{words}</Link> : words}{" "}
          {section.emulated && <EmulatedMark />} {section.counted && <CountedMark />}
        </h2>
        {children}
      </header>
      {section.meaning && (
        <p className="inside faint small">
          <Prose text={section.meaning} />
        </p>
      )}
      <div className={section.tables.some((table) => table.crossed) ? "crossed-blocks" : undefined}>
        {section.tables.map((table, place) => (
          <TableBlock key={place} table={table} of={words} most={most} />
        ))}
      </div>
      <Notes notes={section.notes ?? []} />
    </section>
  );
}

function Notes({ notes }: { notes: NonNullable<TableSection["notes"]> }) {
  if (notes.length === 0) return null;
  return (
    <ul className="inside faint small table-notes">
      {notes.map(({ label, text }) => (
        <li key={text}>
          {label && label !== "Note" ? `${label}: ` : ""}
          {text}
        </li>
      ))}
    </ul>
  );
}

function TableBlock({ table, of, most }: { table: Table; of: string; most?: number | undefined }) {
  const [all, setAll] = useState(false);
  const shown = all || most === undefined ? table.rows : table.rows.slice(0, most);
  const more = table.rows.length - shown.length;
  return (
    <div className={table.crossed ? "crossed-block" : undefined}>
      {table.caption && <h3 className={table.crossed ? undefined : "inside"}>{table.caption}</h3>}
      <div
        className="table-scroll"
        tabIndex={0}
        role="region"
        aria-label={table.caption || `${of}, table`}
      >
        {table.crossed ? <Crossed table={table} of={of} /> : <Rows table={table} rows={shown} />}
      </div>
      {(more > 0 || all) && (
        <p className="inside">
          <button
            type="button"
            className="button"
            aria-expanded={all}
            onClick={() => {
              setAll(!all);
            }}
          >
            {all ? "Show fewer rows" : `Show ${counted(more, "more row")}`}
          </button>
        </p>
      )}
      {!table.crossed && <Notes notes={table.notes ?? []} />}
    </div>
  );
}

function Rows({ table, rows }: { table: Table; rows: TableCell[][] }) {
  const { columns, more = {} } = table;
  return (
    <table className="list stack figures">
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column.key} title={column.arm?.mode}>
              {column.arm ? <span className="mono">{column.arm.name}</span> : column.title}
              {column.arm?.is_baseline && " (baseline)"}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, place) => {
              const column = columns[place];
              if (column === undefined) return null;
              return place === 0 ? (
                <th scope="row" key={column.key}>
                  <CellView cell={named(cell)} table={{ column, more }} />
                </th>
              ) : (
                <td key={column.key} data-label={column.title}>
                  <CellView cell={cell} table={{ column, more }} />
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A row by its longer name, for which a page has room. */
function named(cell: TableCell): TableCell {
  return cell.kind === "text" && cell.title ? { ...cell, text: cell.title } : cell;
}

/** The first column's values down, the second's across. */
function Crossed({ table, of }: { table: Table; of: string }) {
  const [first, second, answer] = table.columns;
  if (first === undefined || second === undefined || answer === undefined) return null;
  const words = (cell: TableCell | undefined) => (cell?.kind === "text" ? cell.text : "");
  const down = [...new Set(table.rows.map((row) => words(row[0])))];
  const across = [...new Set(table.rows.map((row) => words(row[1])))];
  const cells = new Map(table.rows.map((row) => [`${words(row[0])} ${words(row[1])}`, row[2]]));
  return (
    <table className="crossed">
      <caption className="visually-hidden">
        {of}, {table.caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">
            {first.title} ↓ {second.title} →
          </th>
          {across.map((name) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {down.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {across.map((other) => {
              const cell = cells.get(`${name} ${other}`) as Answer | undefined;
              return (
                <td key={other}>
                  {cell === undefined ? (
                    <span className="faint small">no arm</span>
                  ) : (
                    <>
                      {cell.state === "baseline" && <span className="soft">baseline </span>}
                      <CellView
                        cell={cell.state === "baseline" ? cell : { ...cell, value: null }}
                        table={{ column: answer, more: {} }}
                      />
                    </>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
