/** What every page has: a document title, a trail back, a heading. */

import { useEffect, type ReactNode } from "react";
import { Link } from "wouter";

export interface Crumb {
  text: string;
  to: string;
}

export function useTitle(title: string): void {
  useEffect(() => {
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
  lede?: ReactNode;
  children?: ReactNode;
}

/** The page's heading, its tags, and on the right what can be done with it. */
export function Head({ title, tags, lede, children }: HeadProps) {
  return (
    <div className="head">
      <div>
        <div className="title">
          <h1>{title}</h1>
          {tags}
        </div>
        {lede !== undefined && lede !== "" && <p className="lede">{lede}</p>}
      </div>
      {children}
    </div>
  );
}
