/** Every bisection, the newest first. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { bisectionsQuery } from "../api/queries";
import type { BisectionHead, BisectionState } from "../api/types";
import { counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { CountedMark, EmulatedMark, MarkedOnce } from "../ui/emulated";
import { NextCommands } from "../ui/empty";
import { labels, ListFilter, NoneLikeThat, useListFilter } from "../ui/list-filter";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { BisectionTag } from "../ui/tag";
import { BISECTION_STATE } from "../words";
import { chance, spent } from "./words";

export function BisectionsPage() {
  useTitle("Bisections");
  const filter = useListFilter(Object.keys(BISECTION_STATE) as BisectionState[]);
  const query = useQuery(bisectionsQuery(filter.asked));
  return (
    <>
      <Head title="Bisections" tabs={<PlaceTabs of="regressions" here="bisections" />}>
        <Link className="button" to="/regressions?tab=new-bisection">
          New bisection…
        </Link>
      </Head>
      <Loaded query={query} part>
        {(found) =>
          found.length === 0 && !filter.narrows ? (
            <NoneYet />
          ) : (
            <>
              <ListFilter
                label="Bisections"
                filter={filter}
                states={labels(BISECTION_STATE)}
                placeholder="title, case, metric or person"
              />
              {found.length === 0 ? <NoneLikeThat what="bisection" /> : <List found={found} />}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function NoneYet() {
  return (
    <Answer title="No bisections yet" part>
      <p>
        A bisection finds the patch, commit or setting that made a figure worse, verifies it against
        its parent, and says how sure that is.
      </p>
      <NextCommands
        next={[
          ["mitigauge bisect start --series NAME", "over the patches of a stored series"],
          ["mitigauge bisect start PATCHES", "over patches from files"],
          ["mitigauge bisect start --tree DIR --good A --bad B", "over commits of a git tree"],
          ["mitigauge bisect start --arms FILE", "over modes or kernels in an order"],
        ]}
      />
    </Answer>
  );
}

function List({ found }: { found: BisectionHead[] }) {
  return (
    <>
      <div className="panel">
        <MarkedOnce of={found}>
          <table className="list stack">
            <thead>
              <tr>
                <th scope="col">Bisection</th>
                <th scope="col">Answer</th>
                <th scope="col">Spent</th>
                <th scope="col">Hosts</th>
                <th scope="col">Started</th>
              </tr>
            </thead>
            <tbody>
              {found.map((each) => (
                <Row key={each.id} head={each} />
              ))}
            </tbody>
          </table>
        </MarkedOnce>
      </div>
    </>
  );
}

function Row({ head }: { head: BisectionHead }) {
  return (
    <tr>
      <th scope="row">
        <Link to={`/bisections/${head.id}`}>
          <strong>
            {head.case}: {head.title}
          </strong>
        </Link>
        <div className="soft">
          {head.metric}; {counted(head.candidates, "candidate")}
        </div>
      </th>
      <td data-label="Answer">
        <div>
          <div className="buttons">
            <BisectionTag state={head.state} answer={head.answer} />
            {head.emulated && <EmulatedMark />}
            {head.counted && <CountedMark />}
          </div>
          {head.culprit === "" ? (
            <div className="faint small">{head.why}</div>
          ) : (
            <div>
              {head.culprit} <span className="faint">({chance(head.confidence)})</span>
            </div>
          )}
        </div>
      </td>
      <td data-label="Spent">{spent(head)}</td>
      <td data-label="Hosts">{head.hosts.join(", ")}</td>
      <td data-label="Started">
        <Age at={head.created_at} />
      </td>
    </tr>
  );
}
