import { useId, useState } from "react";

const WHY =
  "Measured on an emulated processor. Software costs, such as a branch-history clearing loop, " +
  "are really executed and show. Hardware barriers, such as IBPB, cost nothing here, so their " +
  "cost on real hosts cannot be told from these figures.";

/** The mark of emulated results; says what that means on hover and on focus, Escape hides it. */
export function EmulatedBadge() {
  const id = useId();
  const [closed, setClosed] = useState(false);
  const reopen = () => {
    setClosed(false);
  };
  return (
    <span
      className="emulated"
      data-closed={closed ? "" : undefined}
      onMouseEnter={reopen}
      onFocus={reopen}
      onKeyDown={(event) => {
        if (event.key === "Escape") setClosed(true);
      }}
    >
      <button type="button" aria-describedby={id}>
        emulated
      </button>
      <span role="tooltip" id={id}>
        {WHY}
      </span>
    </span>
  );
}

/** The mark alone, where a page lists many. */
export function EmulatedMark() {
  return (
    <span className="emulated-mark" title={WHY}>
      emulated
    </span>
  );
}

/** The same said in full, once on each page that shows results. */
export function EmulatedNotice() {
  return (
    <p className="notice">
      <strong>Emulated hosts.</strong> Software costs are real here, hardware barriers cost nothing:
      not a statement about any real processor.
    </p>
  );
}
