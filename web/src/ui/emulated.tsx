import { useId, useState } from "react";

const WHY =
  "Measured on an emulated processor. Software costs, such as a branch-history clearing loop, " +
  "are really executed and show. Hardware barriers, such as IBPB, cost nothing here, so their " +
  "cost on real hosts cannot be told from these figures.";

const WHY_COUNTED =
  "Time counts instructions on this host: software only. Caches, branch predictors and barriers " +
  "cost nothing, and whatever else its machine does shows in no figure.";

/** The mark of emulated results; says what that means on hover and on focus, Escape hides it. */
export function EmulatedBadge() {
  return <Badge word="emulated" why={WHY} />;
}

/** The mark of results in time that counts instructions. */
export function CountedBadge() {
  return <Badge word="counted time" why={WHY_COUNTED} />;
}

function Badge({ word, why }: { word: string; why: string }) {
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
        {word}
      </button>
      <span role="tooltip" id={id}>
        {why}
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

/** The mark of counted time alone, where a page lists many. */
export function CountedMark() {
  return (
    <span className="emulated-mark" title={WHY_COUNTED}>
      counted time
    </span>
  );
}

/** The same said in full, once on each page that shows results. */
export function EmulatedNotice({ counted }: { counted: boolean }) {
  return (
    <p className="notice" data-kind="emulated">
      <strong>Emulated hosts.</strong> Software costs are real here, hardware barriers cost nothing:
      not a statement about any real processor.{" "}
      {counted && "Time counts instructions: software only, the same under any load."}
    </p>
  );
}
