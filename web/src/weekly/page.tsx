/** Every weekly report that was made. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Subscribe } from "../act/subscribe";
import { weeklyListQuery } from "../api/queries";
import type { WeeklyLine } from "../api/types";
import { Age } from "../ui/age";
import { Answer, Loaded } from "../ui/answers";
import { NextCommands } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Tag } from "../ui/tag";
import "./weekly.css";

export function WeeklyListPage() {
  useTitle("Weeks");
  const query = useQuery(weeklyListQuery());
  return (
    <>
      <Head
        title="Weeks"
        tabs={<PlaceTabs of="today" here="weeks" />}
        lede="What changed on the fleet, week by week."
      >
        <div className="buttons">
          <Subscribe offers={[{ kind: "week" }]} />
        </div>
      </Head>
      <Loaded query={query} part>
        {(weeks) => (weeks.length === 0 ? <NoneYet /> : <List weeks={weeks} />)}
      </Loaded>
    </>
  );
}

function NoneYet() {
  return (
    <Answer title="No weekly report yet" part>
      <p>A worker makes one when a week with verdicts is over; a command makes one at any time.</p>
      <NextCommands
        next={[
          ["mitigauge report weekly", "makes that of the last week, and prints it"],
          ["mitigauge report weekly 2026-W47", "makes that of another week"],
        ]}
      />
    </Answer>
  );
}

function List({ weeks }: { weeks: WeeklyLine[] }) {
  return (
    <>
      <div className="panel" style={{ marginTop: 0 }}>
        <table className="list stack">
          <thead>
            <tr>
              <th scope="col">Week</th>
              <th scope="col">Newly worse</th>
              <th scope="col">Newly better</th>
              <th scope="col">Worse as before</th>
              <th scope="col">Comparisons</th>
              <th scope="col">Made</th>
            </tr>
          </thead>
          <tbody>
            {weeks.map((week) => (
              <Row key={week.week} week={week} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ week }: { week: WeeklyLine }) {
  const { worse, better, same, undecided } = week.counts;
  return (
    <tr>
      <th scope="row">
        <Link to={`/weekly/${week.week}`}>
          <strong>{week.week}</strong>
        </Link>{" "}
        {!week.complete && <Tag tone="busy" text="not over" />}
        <div className="faint small">{week.in_words}</div>
      </th>
      <td data-label="New worse">
        <Number of={week.new_worse} tone="worse" />
      </td>
      <td data-label="New better">
        <Number of={week.new_better} tone="better" />
      </td>
      <td data-label="Worse as before">{week.open_worse}</td>
      <td data-label="Compared">{worse + better + same + undecided}</td>
      <td data-label="Made">
        <Age at={week.made_at} />
      </td>
    </tr>
  );
}

function Number({ of, tone }: { of: number; tone: "worse" | "better" }) {
  if (of === 0) return <span className="faint">0</span>;
  return (
    <strong className="weekly-tone" data-tone={tone}>
      {of}
    </strong>
  );
}
