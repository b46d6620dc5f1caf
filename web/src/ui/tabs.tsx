/** The parts of a page, as links: what is shown is in the address. */

import { Link } from "wouter";
import { PLACES, type PlaceName, tabPath } from "./places";

export interface Tab {
  name: string;
  text: string;
  to: string;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  /** The name of the one that is shown. */
  here: string;
  className?: string;
}

export function Tabs({ label, tabs, here, className = "" }: TabsProps) {
  return (
    <nav className={`segments ${className}`} aria-label={label}>
      {tabs.map(({ name, text, to }) => (
        <Link key={name} to={to} aria-current={name === here ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** The tabs of an entry of the menu. */
export function PlaceTabs({ of, here }: { of: PlaceName; here: string }) {
  const { label, tabs } = PLACES[of];
  const links = Object.entries(tabs).map(([name, text]) => ({
    ...{ name, text },
    to: tabPath(of, name),
  }));
  return <Tabs label={label} tabs={links} here={here} />;
}
