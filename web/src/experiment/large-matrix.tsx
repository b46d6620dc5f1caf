/** A matrix of thousands of rows: it scrolls in a box and holds the lines that are in sight. */

import {
  defaultRangeExtractor,
  useVirtualizer,
  type Range,
  type VirtualItem,
  type Virtualizer,
} from "@tanstack/react-virtual";
import {
  Fragment,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
} from "react";
import { ArmHead } from "./arm";
import { headingAbove, type Item, type Place } from "./items";
import { Caption, MatrixHead, tableOf, type Drawing } from "./matrix-parts";
import { HeadingLine, MatrixRow } from "./matrix-row";
import { useFollow } from "../ui/use-follow";
import { showLine, useCursor } from "./use-cursor";

/** Guesses, until a line has been measured. */
const ROW_PX = 62;
const HEADING_PX = 29;
const OVERSCAN_LINES = 3;

/** Height of an element, kept up to date. */
function useHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const watched = element.current;
    if (watched === null) return;
    const read = () => {
      setHeight(watched.offsetHeight);
    };
    read();
    const watch = new ResizeObserver(read);
    watch.observe(watched);
    return () => {
      watch.disconnect();
    };
  }, [element]);
  return height;
}

/** Where each matrix was when its page was left: going back shows the same rows. */
const leftAt = new Map<string, { offset: number; lines: VirtualItem[] }>();

function useMemory(key: string, virtualizer: Virtualizer<HTMLDivElement, Element>): void {
  useEffect(
    () => () => {
      // With the lines' measures: the same offset of other heights is another row.
      leftAt.set(key, {
        offset: virtualizer.scrollOffset ?? 0,
        lines: virtualizer.takeSnapshot(),
      });
    },
    [key, virtualizer],
  );
}

const SETTLED_AFTER_MS = 1_000;

/**
 * Scrolls to the line that a key led to. The lines around it are measured only then, which moves
 * it: it is kept in sight until they are, or until the reader scrolls. Gives back what lets it go.
 */
function useKeptInSight(box: RefObject<HTMLElement | null>, walked: Place | null): () => void {
  const until = useRef(0);
  useLayoutEffect(() => {
    if (walked !== null) until.current = performance.now() + SETTLED_AFTER_MS;
  }, [walked]);
  // After every rendering, for each may have brought measures.
  useEffect(() => {
    if (walked === null || performance.now() > until.current) return;
    showLine(box.current, walked);
  });
  return () => {
    until.current = 0;
  };
}

export function LargeMatrix(drawing: Drawing) {
  const { comparison, view } = drawing;
  // Other rows begin at the top, with the keyboard on none of them.
  const key = `${comparison.id} ${view}`;
  return (
    <>
      <ul className="arms-asked" aria-label="Arms">
        {comparison.arms.map((arm) => (
          <li key={arm.id}>
            <ArmHead arm={arm} />
          </li>
        ))}
      </ul>
      <Lines key={key} memory={key} {...drawing} />
    </>
  );
}

/** The lines in sight, the heading that stands over them, and the one with the keyboard. */
function linesToRender(items: readonly Item[], kept: number | null) {
  return (range: Range): number[] => {
    const heading = headingAbove(items, range.startIndex);
    const others = [heading, kept].filter((index) => index !== null);
    return [...new Set([...others, ...defaultRangeExtractor(range)])]
      .filter((index) => index < items.length)
      .sort((x, y) => x - y);
  };
}

/** Lines under one heading; `gap` pixels of lines that are out of sight come before each. */
interface Body {
  key: string;
  lines: { line: VirtualItem; gap: number }[];
}

/**
 * A heading's lines stay in one body, however many of them are out of sight: a line that went
 * from one body to another would be made anew, and lose the keyboard.
 */
function bodiesOf(lines: readonly VirtualItem[], items: readonly Item[], top: number): Body[] {
  const bodies: Body[] = [];
  let end = top;
  for (const line of lines) {
    const key = items[headingAbove(items, line.index) ?? -1]?.key ?? "";
    if (bodies.at(-1)?.key !== key) bodies.push({ key, lines: [] });
    bodies.at(-1)?.lines.push({ line, gap: line.start - end });
    end = line.end;
  }
  return bodies;
}

function Lines({ memory, ...drawing }: Drawing & { memory: string }) {
  const { comparison, items, scale, placed, drawn, experimentId } = drawing;
  const { arms } = comparison;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLTableSectionElement>(null);
  const headHeight = useHeight(head);
  const follow = useFollow();
  const { place, walked, handlers } = useCursor(box, items, arms.length);
  const [before] = useState(() => leftAt.get(memory));
  // The same functions each time, else all lines are placed anew at every rendering.
  const estimateSize = useCallback(
    (index: number) => (items[index]?.kind === "group" ? HEADING_PX : ROW_PX),
    [items],
  );
  const getItemKey = useCallback((index: number) => items[index]?.key ?? index, [items]);
  const rangeExtractor = useMemo(
    () => linesToRender(items, place?.index ?? null),
    [items, place?.index],
  );
  // Only its measureElement goes to a memoized row, and that is the same function for ever.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    rangeExtractor,
    scrollMargin: headHeight,
    overscan: OVERSCAN_LINES,
    // Rendering within the scroll event would hold up the frame that it is for.
    useFlushSync: false,
    initialOffset: before?.offset ?? 0,
    initialMeasurementsCache: before?.lines ?? [],
  });
  useMemory(memory, virtualizer);
  const letGo = useKeptInSight(box, walked);
  const lines = virtualizer.getVirtualItems();
  const behind = headHeight + virtualizer.getTotalSize() - (lines.at(-1)?.end ?? headHeight);
  const stops = place?.index ?? items.findIndex((item) => item.kind === "row");
  return (
    <div
      className="matrix-box"
      data-large=""
      ref={box}
      style={{ "--head": `${headHeight}px` } as React.CSSProperties}
      {...handlers}
      onClick={follow}
      onWheel={letGo}
      onPointerDown={letGo}
    >
      <table
        className="matrix"
        role="table"
        aria-rowcount={items.length + 1}
        {...tableOf(comparison)}
      >
        <Caption comparison={comparison} />
        <MatrixHead brief headRef={head} {...{ arms, drawn, scale }} />
        {bodiesOf(lines, items, headHeight).map((body) => (
          <tbody role="rowgroup" key={body.key}>
            {body.lines.map(({ line: { key, index }, gap }) => {
              const item = items[index];
              if (item === undefined) return null;
              const line = { index, lineRef: virtualizer.measureElement };
              return (
                <Fragment key={key}>
                  <Gap pixels={gap} columns={arms.length + 1} />
                  {item.kind === "group" ? (
                    <HeadingLine name={item.name} arms={arms.length} {...line} />
                  ) : (
                    <MatrixRow
                      row={item.row}
                      stop={index === stops ? (place?.column ?? 0) : -1}
                      {...{ arms, scale, experimentId, placed }}
                      {...line}
                    />
                  )}
                </Fragment>
              );
            })}
          </tbody>
        ))}
        <tbody aria-hidden="true">
          <Gap pixels={behind} columns={arms.length + 1} />
        </tbody>
      </table>
    </div>
  );
}

/** The room of lines that are out of sight. */
function Gap({ pixels, columns }: { pixels: number; columns: number }) {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden="true" className="gap">
      <td colSpan={columns} style={{ height: pixels }} />
    </tr>
  );
}
