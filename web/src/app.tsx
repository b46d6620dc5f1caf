/** The frame of the dashboard: menu, search, who one is. */

import { useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { FindBox } from "./find/box";
import { Gate } from "./login/gate";
import { Who } from "./login/who";
import { Pages } from "./pages";
import { useTheme, type Theme } from "./theme";
import { Keys } from "./ui/keys";
import { isWithin, PLACES, type PlaceName } from "./ui/places";

const THEMES: [Theme, string][] = [
  ["system", "Auto"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function ThemeChoice() {
  const [theme, choose] = useTheme();
  return (
    <div className="segments" role="group" aria-label="Colour theme">
      {THEMES.map(([value, label]) => (
        <button
          key={value}
          type="button"
          aria-pressed={theme === value}
          onClick={() => {
            choose(value);
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function NavLink({ place }: { place: PlaceName }) {
  const [location] = useLocation();
  const { path, label } = PLACES[place];
  return (
    <Link to={path} aria-current={isWithin(place, location) ? "page" : undefined}>
      {label}
    </Link>
  );
}

/** What counts as another page: each tab of a menu entry too, and no look at a profile. */
function usePage(): string {
  const [location] = useLocation();
  const tab = new URLSearchParams(useSearch()).get("tab") ?? "";
  return location === "/profiles" ? location : `${location} ${tab}`;
}

/** A followed link starts at the top with the keyboard in the page; going back does neither. */
function useArrival(main: React.RefObject<HTMLElement | null>): void {
  const page = usePage();
  const last = useRef(page);
  const back = useRef(false);
  useEffect(() => {
    const popped = () => {
      back.current = true;
    };
    window.addEventListener("popstate", popped);
    return () => {
      window.removeEventListener("popstate", popped);
    };
  }, []);
  useEffect(() => {
    if (last.current === page) return;
    last.current = page;
    if (!back.current) {
      window.scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    back.current = false;
  }, [page, main]);
}

export function App({ linkKey }: { linkKey: string | null }) {
  const main = useRef<HTMLElement>(null);
  const [asking, setAsking] = useState(false);
  useArrival(main);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <Link to="/" className="mark" aria-label="Mitigauge">
          <img src="/favicon.svg" alt="" width="20" height="20" />
          <span>Mitigauge</span>
        </Link>
        <nav aria-label="Main">
          {(Object.keys(PLACES) as PlaceName[]).map((place) => (
            <NavLink place={place} key={place} />
          ))}
        </nav>
        <FindBox />
        <Who
          onLogIn={() => {
            setAsking(true);
          }}
        />
        <ThemeChoice />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Gate
          linkKey={linkKey}
          asking={asking}
          onDone={() => {
            setAsking(false);
          }}
        >
          <Pages />
        </Gate>
      </main>
      <footer className="foot small">
        <a href="/api/v1/openapi.json">API</a>
        <Keys />
      </footer>
    </>
  );
}
