/** What each operation asks of caches and branch predictors, in pieces and not in time. */

import type { ExactTable } from "../api/types";
import { CountedRows } from "./exact-bill";

export function ExactFootprint({ table }: { table: ExactTable }) {
  return (
    <section className="panel profile-panel" aria-labelledby="footprint">
      <header>
        <h2 id="footprint">Footprint</h2>
      </header>
      <CountedRows
        table={table}
        labelledBy="footprint"
        of="Of each operation"
        rows={table.footprint.map((row) => [row.figure, row])}
      />
      <footer className="inside small soft notes">
        <p>
          What an operation does the same number of times, each time. Distinct lines and pages of
          code are what caches and TLBs must hold, or fetch where they are cold; branches are what
          predictors must know. All are counts, and none is a time.
        </p>
      </footer>
    </section>
  );
}
