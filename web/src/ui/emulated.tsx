import { createContext, type ReactNode, useContext, useId, useState } from "react";

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

/** What the rows of a list are measured on. */
export interface Measured {
  emulated: boolean;
  counted?: boolean;
  clock?: string;
}

type Share = "all" | "some" | "none";

function isCounted(of: Measured): boolean {
  return of.counted === true || of.clock === "counted";
}

/** How many of the rows it is so of. */
export function shareOf(flags: readonly boolean[]): Share {
  if (!flags.includes(true)) return "none";
  return flags.includes(false) ? "some" : "all";
}

const Shares = createContext<{ emulated: Share; counted: Share }>({
  emulated: "some",
  counted: "some",
});

interface MarkedOnceProps {
  of: readonly Measured[];
  children: ReactNode;
}

/** A list whose marks are explained once, above it; what is so of all rows stands in none. */
export function MarkedOnce({ of, children }: MarkedOnceProps) {
  const emulated = shareOf(of.map((row) => row.emulated));
  const counted = shareOf(of.map(isCounted));
  return (
    <Shares value={{ emulated, counted }}>
      {emulated !== "none" && (
        <p className="inside small marks-once">
          <span className="emulated-mark">emulated</span>{" "}
          {emulated === "all" ? "All of these were" : "Rows with this mark were"} measured on
          emulated processors: software costs are real, hardware barriers cost nothing.
          {counted !== "none" && (
            <>
              {" "}
              <span className="emulated-mark">counted time</span>{" "}
              {counted === "all"
                ? "All have time that counts instructions:"
                : "Rows with this mark have time that counts instructions:"}{" "}
              the same under any load.
            </>
          )}
        </p>
      )}
      {children}
    </Shares>
  );
}

/** The mark alone, where a page lists many. */
export function EmulatedMark() {
  return <RowMark word="emulated" why={WHY} share={useContext(Shares).emulated} />;
}

/** The mark of counted time alone, where a page lists many. */
export function CountedMark() {
  return <RowMark word="counted time" why={WHY_COUNTED} share={useContext(Shares).counted} />;
}

function RowMark({ word, why, share }: { word: string; why: string; share: Share }) {
  if (share === "all") return null;
  return (
    <span className="emulated-mark" title={why}>
      {word}
    </span>
  );
}

/** The same said in full, once on each page that shows results. */
export function EmulatedNotice({ counted }: { counted: boolean }) {
  return (
    <p className="notice">
      <strong>Emulated hosts.</strong> What software does costs here what it costs; what only a real
      processor does, such as a barrier, costs nothing. The figures compare code, and say nothing of
      a real processor.{" "}
      {counted && "Time counts instructions: software only, the same under any load."}
    </p>
  );
}
