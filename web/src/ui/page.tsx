/** What every page has: a document title, a trail back, a heading. */

import { useEffect, type ReactNode } from "react";
import { Link } from "wouter";

export interface Crumb {
  text: string;
  to: string;
}

interface Title {
  text: string;
  /** Of what stands in the page's place: an answer instead of it. */
  instead: boolean;
}

/** Of the parts that are shown now, in the order in which they came. */
let titles: readonly Title[] = [];

function showTitle(): void {
  const shown = titles.findLast((each) => each.instead) ?? titles.at(-1);
  // Between two pages there is none: the next one has its own.
  if (shown !== undefined)
    document.title = shown.text === "" ? "Mitigauge" : `${shown.text} · Mitigauge`;
}

/**
 * The document's title while this is shown. Null leaves it as it is: a part of a page has none.
 * One that stands instead of the page gives the title back as it goes.
 */
export function useTitle(text: string | null, { instead = false } = {}): void {
  useEffect(() => {
    if (text === null) return;
    const own = { text, instead };
    titles = [...titles, own];
    showTitle();
    return () => {
      titles = titles.filter((each) => each !== own);
      showTitle();
    };
  }, [text, instead]);
}

export function Crumbs({ trail }: { trail: Crumb[] }) {
  return (
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        {trail.map((crumb) => (
          <li key={crumb.to}>
            <Link to={crumb.to}>{crumb.text}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

interface HeadProps {
  title: string;
  tags?: ReactNode;
  /** The page's other parts. */
  tabs?: ReactNode;
  lede?: ReactNode;
  children?: ReactNode;
}

/** The page's heading, its tags, and on the right what can be done with it. */
export function Head({ title, tags, tabs, lede, children }: HeadProps) {
  return (
    <div className="head">
      <div>
        <div className="title">
          <h1>{title}</h1>
          {tags}
        </div>
        {tabs}
        {lede !== undefined && lede !== "" && <p className="lede">{lede}</p>}
      </div>
      {children}
    </div>
  );
}
