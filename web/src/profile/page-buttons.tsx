import { counted, fixed } from "../format/quantity";
import type { TabProps } from "./tab";

export const ROWS_A_PAGE = 50;

interface PageButtonsProps {
  page: number;
  rows: number;
  change: TabProps["change"];
}

/** Which of a table's pages is shown, kept within those that there are. */
export function pageOf(page: number, rows: number): { page: number; first: number; end: number } {
  const shown = Math.min(page, Math.max(1, Math.ceil(rows / ROWS_A_PAGE)));
  const first = (shown - 1) * ROWS_A_PAGE;
  return { page: shown, first, end: Math.min(first + ROWS_A_PAGE, rows) };
}

/** The way through a long table of functions. */
export function PageButtons({ page, rows, change }: PageButtonsProps) {
  const { first, end } = pageOf(page, rows);
  const pages = Math.max(1, Math.ceil(rows / ROWS_A_PAGE));
  return (
    <nav className="pages inside small" aria-label="Pages of functions">
      <span role="status">
        {rows === 0 ? "0" : `${fixed(first + 1, 0)}–${fixed(end, 0)}`} of{" "}
        {counted(rows, "function")}
      </span>
      <div className="buttons">
        <PageButton to={page - 1} {...{ pages, change }} text="Previous" />
        <PageButton to={page + 1} {...{ pages, change }} text="Next" />
      </div>
    </nav>
  );
}

interface PageButtonProps {
  to: number;
  pages: number;
  text: string;
  change: TabProps["change"];
}

function PageButton({ to, pages, text, change }: PageButtonProps) {
  return (
    <button
      type="button"
      className="button"
      disabled={to < 1 || to > pages}
      onClick={() => {
        change({ page: to === 1 ? null : String(to) });
      }}
    >
      {text}
    </button>
  );
}
