/** What every page has: a document title, a trail back, a heading. */

import { useEffect, type ReactNode } from "react";
import { Link } from "wouter";

export interface Crumb {
  text: string;
  to: string;
}

/** Null leaves the title as it is: a part of a page has none. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title === null) return;
    document.title = title === "" ? "Mitigauge" : `${title} · Mitigauge`;
  }, [title]);
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
