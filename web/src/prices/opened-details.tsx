/** One row of a list that opens: its contents are rendered, and asked for, only while it is open. */

import { type ReactNode, useState } from "react";

interface OpenedDetailsProps {
  /** What stands in the row itself. */
  summary: ReactNode;
  children: ReactNode;
}

export function OpenedDetails({ summary, children }: OpenedDetailsProps) {
  const [open, setOpen] = useState(false);
  return (
    <details
      className="price-table"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{summary}</summary>
      {open && children}
    </details>
  );
}
