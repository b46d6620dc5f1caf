/** Which page belongs to which address. What no menu entry opens with is fetched when it is asked for. */

import { type ComponentType, Suspense, lazy } from "react";
import { Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { ExperimentsPage } from "./experiments/page";
import { HomePage } from "./home/page";
import { HostsPage } from "./hosts/page";
import { moved } from "./moved";
import { RegressionsPage } from "./regressions/page";
import { SeriesListPage } from "./series/page";
import { Answer, Loading, NotFound } from "./ui/answers";
import { nameInPath } from "./ui/name-in-path";

/** In the place of a page whose script did not come: the service is away, or newer than this page. */
function NotFetched() {
  return (
    <Answer title="This page did not load">
      <p>The service does not answer, or has a newer dashboard than the one that is open here.</p>
      <p className="buttons">
        <button
          type="button"
          className="button"
          onClick={() => {
            window.location.reload();
          }}
        >
          Load it again
        </button>
      </p>
    </Answer>
  );
}

function fetched<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy<ComponentType<Props>>(() =>
    load().then(
      (page) => ({ default: page }),
      () => ({ default: NotFetched }),
    ),
  );
}

const BisectionPage = fetched(() => import("./bisect/one").then((m) => m.BisectionPage));
const BisectionsPage = fetched(() => import("./bisect/page").then((m) => m.BisectionsPage));
const BootPage = fetched(() => import("./boot/page").then((m) => m.BootPage));
const CasePage = fetched(() => import("./case/page").then((m) => m.CasePage));
const ComparePage = fetched(() => import("./compare/page").then((m) => m.ComparePage));
const ExperimentPage = fetched(() => import("./experiment/page").then((m) => m.ExperimentPage));
const FindPage = fetched(() => import("./find/page").then((m) => m.FindPage));
const FunctionsPage = fetched(() => import("./functions/page").then((m) => m.FunctionsPage));
const HostPage = fetched(() => import("./hosts/host").then((m) => m.HostPage));
const JobPage = fetched(() => import("./jobs/one").then((m) => m.JobPage));
const JobsPage = fetched(() => import("./jobs/page").then((m) => m.JobsPage));
const KernelsPage = fetched(() => import("./kernels/page").then((m) => m.KernelsPage));
const ErrorRatesPage = fetched(() =>
  import("./regressions/error-rates").then((m) => m.ErrorRatesPage),
);
const NewBisectionPage = fetched(() => import("./bisect/new").then((m) => m.NewBisectionPage));
const NewExperimentPage = fetched(() => import("./submit/page").then((m) => m.NewExperimentPage));
const PricesPage = fetched(() => import("./prices/page").then((m) => m.PricesPage));
const ProfileDiffPage = fetched(() => import("./profile/page").then((m) => m.ProfileDiffPage));
const RegressionPage = fetched(() => import("./regressions/one").then((m) => m.RegressionPage));
const RequestsPage = fetched(() => import("./requests/page").then((m) => m.RequestsPage));
const SeriesPage = fetched(() => import("./series/one").then((m) => m.SeriesPage));
const SubscriptionsPage = fetched(() =>
  import("./subscriptions/page").then((m) => m.SubscriptionsPage),
);
const TablePage = fetched(() => import("./tables/page").then((m) => m.TablePage));
const TrendPage = fetched(() => import("./trends/one").then((m) => m.TrendPage));
const TrendsPage = fetched(() => import("./trends/page").then((m) => m.TrendsPage));
const WeeklyListPage = fetched(() => import("./weekly/page").then((m) => m.WeeklyListPage));
const WeeklyPage = fetched(() => import("./weekly/one").then((m) => m.WeeklyPage));

interface PartsProps {
  /** By the word `tab` of the address. */
  parts: Record<string, ComponentType>;
  /** Without such a word, or with one that is none of them. */
  first: ComponentType;
}

function Parts({ parts, first }: PartsProps) {
  const tab = new URLSearchParams(useSearch()).get("tab") ?? "";
  const Part = (Object.hasOwn(parts, tab) ? parts[tab] : undefined) ?? first;
  return <Part />;
}

/** A page of what has a number; what is no number has no page. */
function Numbered({ of: Page, id: text }: { of: ComponentType<{ id: number }>; id: string }) {
  const number = numberIn(text);
  return number === null ? <NoSuchPage /> : <Page id={number} key={number} />;
}

/** A positive whole number from an address, else null. */
function numberIn(text: string): number | null {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}

/** The last name of the address: the router's own parameters keep what stands for a slash. */
function nameHere(): string {
  return nameInPath(window.location.pathname);
}

export function Pages() {
  // Asked for so that a change of the address is seen; the table needs it as it stands in the bar.
  useLocation();
  const now = moved(window.location.pathname, useSearch());
  return now === null ? (
    <Suspense fallback={<Loading />}>
      <Routes />
    </Suspense>
  ) : (
    <Redirect replace to={now} />
  );
}

function Routes() {
  return (
    <Switch>
      <Route path="/">
        <Parts
          first={HomePage}
          parts={{ weeks: WeeklyListPage, subscriptions: SubscriptionsPage }}
        />
      </Route>
      <Route path="/weekly/:week">
        {({ week }) =>
          /^[12]\d{3}-W[0-5]\d$/.test(week) ? <WeeklyPage week={week} /> : <NoSuchPage />
        }
      </Route>
      <Route path="/regressions">
        <Parts
          first={RegressionsPage}
          parts={{
            trends: TrendsPage,
            bisections: BisectionsPage,
            errors: ErrorRatesPage,
            "new-bisection": NewBisectionPage,
          }}
        />
      </Route>
      <Route path="/regressions/:id">{({ id }) => <Numbered of={RegressionPage} id={id} />}</Route>
      <Route path="/trends/:id">{({ id }) => <Numbered of={TrendPage} id={id} />}</Route>
      <Route path="/bisections/:id">{({ id }) => <Numbered of={BisectionPage} id={id} />}</Route>
      <Route path="/experiments">
        <Parts first={ExperimentsPage} parts={{ new: NewExperimentPage, compare: ComparePage }} />
      </Route>
      <Route path="/experiments/:id">{({ id }) => <Numbered of={ExperimentPage} id={id} />}</Route>
      <Route path="/experiments/:id/tables/:kind">
        {({ id, kind }) => {
          const experiment = numberIn(id);
          if (experiment === null) return <NoSuchPage />;
          return <TablePage id={experiment} kind={kind} key={kind} />;
        }}
      </Route>
      <Route path="/experiments/:id/cases/:caseId">
        {({ id, caseId }) => {
          const [experiment, number] = [numberIn(id), numberIn(caseId)];
          if (experiment === null || number === null) return <NoSuchPage />;
          return <CasePage id={experiment} caseId={number} />;
        }}
      </Route>
      <Route path="/boots/:id">{({ id }) => <Numbered of={BootPage} id={id} />}</Route>
      <Route path="/profiles">
        <Parts first={ProfileDiffPage} parts={{ arms: FunctionsPage }} />
      </Route>
      <Route path="/series">
        <Parts first={SeriesListPage} parts={{ requests: RequestsPage }} />
      </Route>
      <Route path="/series/:name">{() => <SeriesPage name={nameHere()} />}</Route>
      <Route path="/fleet">
        <Parts
          first={HostsPage}
          parts={{ kernels: KernelsPage, jobs: JobsPage, prices: PricesPage }}
        />
      </Route>
      <Route path="/hosts/:name">{() => <HostPage name={nameHere()} />}</Route>
      <Route path="/jobs/:id">{({ id }) => <Numbered of={JobPage} id={id} />}</Route>
      <Route path="/find" component={FindPage} />
      <Route>
        <NoSuchPage />
      </Route>
    </Switch>
  );
}

function NoSuchPage() {
  return <NotFound what="There is no page at this address." />;
}
