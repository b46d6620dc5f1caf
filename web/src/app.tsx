/** The frame of the dashboard and which page belongs to which address. */

import { useEffect, useRef, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { NewBisectionPage } from "./bisect/new";
import { BisectionPage } from "./bisect/one";
import { BisectionsPage } from "./bisect/page";
import { BootPage } from "./boot/page";
import { CasePage } from "./case/page";
import { ComparePage } from "./compare/page";
import { JobPage } from "./jobs/one";
import { JobsPage } from "./jobs/page";
import { FunctionsPage } from "./functions/page";
import { ExperimentPage } from "./experiment/page";
import { ExperimentsPage } from "./experiments/page";
import { HomePage } from "./home/page";
import { FindBox } from "./find/box";
import { FindPage } from "./find/page";
import { HostPage } from "./hosts/host";
import { HostsPage } from "./hosts/page";
import { KernelsPage } from "./kernels/page";
import { Gate } from "./login/gate";
import { Who } from "./login/who";
import { PricesPage } from "./prices/page";
import { ProfileDiffPage } from "./profile/page";
import { ReferencePage } from "./reference/page";
import { RegressionPage } from "./regressions/one";
import { RegressionsPage } from "./regressions/page";
import { RequestsPage } from "./requests/page";
import { SeriesPage } from "./series/one";
import { SeriesListPage } from "./series/page";
import { SubscriptionsPage } from "./subscriptions/page";
import { NewExperimentPage } from "./submit/page";
import { TablePage } from "./tables/page";
import { TrendPage } from "./trends/one";
import { TrendsPage } from "./trends/page";
import { useTheme, type Theme } from "./theme";
import { NotFound } from "./ui/answers";
import { namesInPath } from "./ui/names-in-path";
import { WeeklyPage } from "./weekly/one";
import { WeeklyListPage } from "./weekly/page";

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

function NavLink({ to, also, children }: { to: string; also: string[]; children: string }) {
  const [location] = useLocation();
  const here = location === to || also.some((prefix) => location.startsWith(prefix));
  return (
    <Link to={to} aria-current={here ? "page" : undefined}>
      {children}
    </Link>
  );
}

/** A followed link starts at the top with the keyboard in the page; going back does neither. */
function useArrival(main: React.RefObject<HTMLElement | null>): void {
  const [location] = useLocation();
  const last = useRef(location);
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
    if (last.current === location) return;
    last.current = location;
    if (!back.current) {
      window.scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    back.current = false;
  }, [location, main]);
}

/** A positive whole number from an address, else null. */
function id(text: string): number | null {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}

/** An address from before tables had one of their own. */
function MovedTable({ id: text, kind }: { id: string; kind: string }) {
  const search = useSearch();
  return <Redirect replace to={`/experiments/${text}/tables/${kind}${search && `?${search}`}`} />;
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={HomePage} />
      <Route path="/experiments" component={ExperimentsPage} />
      <Route path="/regressions" component={RegressionsPage} />
      <Route path="/regressions/:id">
        {(params) => {
          const regression = id(params.id);
          return regression === null ? (
            <NoSuchPage />
          ) : (
            <RegressionPage id={regression} key={regression} />
          );
        }}
      </Route>
      <Route path="/find" component={FindPage} />
      <Route path="/experiments/new" component={NewExperimentPage} />

      <Route path="/compare" component={ComparePage} />
      <Route path="/experiments/:id">
        {(params) => {
          const experiment = id(params.id);
          return experiment === null ? (
            <NoSuchPage />
          ) : (
            <ExperimentPage id={experiment} key={experiment} />
          );
        }}
      </Route>
      {["counters", "loss"].map((kind) => (
        <Route path={`/experiments/:id/${kind}`} key={kind}>
          {(params) => <MovedTable id={params.id} kind={kind} />}
        </Route>
      ))}
      <Route path="/experiments/:id/tables/:kind">
        {(params) => {
          const experiment = id(params.id);
          return experiment === null ? (
            <NoSuchPage />
          ) : (
            <TablePage id={experiment} kind={params.kind} key={params.kind} />
          );
        }}
      </Route>
      <Route path="/experiments/:id/cases/:caseId">
        {(params) => {
          const [experiment, caseId] = [id(params.id), id(params.caseId)];
          if (experiment === null || caseId === null) return <NoSuchPage />;
          return <CasePage id={experiment} caseId={caseId} />;
        }}
      </Route>
      <Route path="/boots/:id">
        {(params) => {
          const boot = id(params.id);
          return boot === null ? <NoSuchPage /> : <BootPage id={boot} />;
        }}
      </Route>
      <Route path="/profiles/diff" component={ProfileDiffPage} />
      <Route path="/profiles/functions" component={FunctionsPage} />
      <Route path="/hosts" component={HostsPage} />
      <Route path="/hosts/:name">
        {() => <HostPage name={namesInPath(window.location.pathname, 1)[0]} />}
      </Route>
      <Route path="/series" component={SeriesListPage} />
      <Route path="/series/:name">
        {() => <SeriesPage name={namesInPath(window.location.pathname, 1)[0]} />}
      </Route>
      <Route path="/bisections" component={BisectionsPage} />
      <Route path="/bisections/new" component={NewBisectionPage} />
      <Route path="/bisections/:id">
        {(params) => {
          const bisection = id(params.id);
          return bisection === null ? <NoSuchPage /> : <BisectionPage id={bisection} />;
        }}
      </Route>
      <Route path="/kernels" component={KernelsPage} />
      <Route path="/requests" component={RequestsPage} />
      <Route path="/prices" component={PricesPage} />
      <Route path="/docs" component={ReferencePage} />

      <Route path="/subscriptions" component={SubscriptionsPage} />
      <Route path="/jobs" component={JobsPage} />
      <Route path="/jobs/:id">
        {(params) => {
          const job = id(params.id);
          return job === null ? <NoSuchPage /> : <JobPage id={job} key={job} />;
        }}
      </Route>
      <Route path="/weekly" component={WeeklyListPage} />
      <Route path="/weekly/:week">
        {(params) =>
          /^[12]\d{3}-W[0-5]\d$/.test(params.week) ? (
            <WeeklyPage week={params.week} />
          ) : (
            <NoSuchPage />
          )
        }
      </Route>
      <Route path="/trends">{() => <TrendsPage />}</Route>
      <Route path="/trends/classes/:environment/:name">
        {() => {
          const [environment, hostClass] = namesInPath(window.location.pathname, 2);
          return <TrendsPage environment={environment} hostClass={hostClass} />;
        }}
      </Route>
      <Route path="/trends/:id">
        {(params) => {
          const trend = id(params.id);
          return trend === null ? <NoSuchPage /> : <TrendPage id={trend} key={trend} />;
        }}
      </Route>
      <Route path="/login">
        <Redirect to="/" replace />
      </Route>
      <Route>
        <NoSuchPage />
      </Route>
    </Switch>
  );
}

function NoSuchPage() {
  return <NotFound what="There is no page at this address." />;
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
          <NavLink to="/experiments" also={["/experiments/", "/boots/", "/profiles/", "/compare"]}>
            Experiments
          </NavLink>
          <NavLink to="/regressions" also={["/regressions/"]}>
            Regressions
          </NavLink>
          <NavLink to="/series" also={["/series/", "/requests"]}>
            Series
          </NavLink>
          <NavLink to="/bisections" also={["/bisections/"]}>
            Bisections
          </NavLink>
          <NavLink to="/trends" also={["/trends/"]}>
            Trends
          </NavLink>
          <NavLink to="/hosts" also={["/hosts/"]}>
            Hosts
          </NavLink>
          <NavLink to="/jobs" also={["/jobs/", "/kernels"]}>
            Jobs
          </NavLink>
          <NavLink to="/weekly" also={["/weekly/"]}>
            Weekly
          </NavLink>
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
        <Link to="/prices">Prices</Link>
        <Link to="/docs">API reference</Link>
      </footer>
    </>
  );
}
