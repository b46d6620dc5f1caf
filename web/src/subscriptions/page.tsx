/** What one is told of, and how. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { Subscribe } from "../act/subscribe";
import { api, data } from "../api/client";
import type { Subscription } from "../api/types";
import { personName } from "../format/person";
import { Age } from "../ui/age";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Tag } from "../ui/tag";
import { useAddress } from "../ui/use-address";
import { type Secret, secretKey, subscriptionsKey, subscriptionsQuery } from "./queries";
import "./subscriptions.css";
import { how, subject } from "./words";

const EVERYBODYS = "see and end everybody's subscriptions";

export function SubscriptionsPage() {
  useTitle("Subscriptions");
  const { may } = useRights();
  const [search, change] = useAddress();
  const everybody = may(EVERYBODYS) && search.get("of") === "everybody";
  const query = useQuery(subscriptionsQuery(everybody));
  return (
    <>
      <Head
        title="Subscriptions"
        tabs={<PlaceTabs of="today" here="subscriptions" />}
        lede="What you are told of, by mail or webhook. Series, cases and hosts have the button on their pages."
      >
        <div className="buttons">
          <Subscribe
            offers={[{ kind: "my-regressions" }, { kind: "new-regressions" }, { kind: "week" }]}
          />
        </div>
      </Head>
      <NewSecret />
      {may(EVERYBODYS) && (
        <div className="filters">
          <div className="segments" role="group" aria-label="Whose">
            {[[null, "Mine"] as const, ["everybody", "Everybody’s"] as const].map(
              ([value, label]) => (
                <button
                  key={label}
                  type="button"
                  aria-pressed={everybody === (value !== null)}
                  onClick={() => {
                    change("of", value);
                  }}
                >
                  {label}
                </button>
              ),
            )}
          </div>
        </div>
      )}
      <Loaded query={query} part>
        {(subscriptions) => <List subscriptions={subscriptions} everybody={everybody} />}
      </Loaded>
    </>
  );
}

/** The secret of the webhook that was just made, until it is put away. */
function NewSecret() {
  const queries = useQueryClient();
  const { data: found } = useQuery<Secret | null>({
    queryKey: secretKey,
    queryFn: () => null,
    enabled: false,
    gcTime: 0,
  });
  if (!found) return null;
  return (
    <div className="notice secret" role="status">
      <p>
        <strong>The secret of subscription {found.id}, shown this once:</strong>{" "}
        <code>{found.secret}</code>
      </p>
      <p className="small">By it the receiver checks the signature of what it gets.</p>
      <button
        type="button"
        className="button"
        onClick={() => {
          queries.setQueryData(secretKey, null);
        }}
      >
        I kept it
      </button>
    </div>
  );
}

interface ListProps {
  subscriptions: Subscription[];
  everybody: boolean;
}

function List({ subscriptions, everybody }: ListProps) {
  if (subscriptions.length === 0)
    return (
      <div className="panel">
        <Empty
          next={[
            [
              "mitigauge subscription add my-regressions --mail you@example.org",
              "does the same as the button",
            ],
          ]}
        >
          {everybody ? "Nobody subscribed to anything." : "You are told of nothing yet."}
        </Empty>
      </div>
    );
  return (
    <div className="panel">
      <table className="list stack subscriptions">
        <thead>
          <tr>
            <th scope="col">Of</th>
            <th scope="col">To</th>
            <th scope="col">State</th>
            <th scope="col">Last told</th>
            {everybody && <th scope="col">Whose</th>}
            <th scope="col">
              <span className="visually-hidden">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {subscriptions.map((each) => (
            <Row key={each.id} of={each} everybody={everybody} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ of, everybody }: { of: Subscription; everybody: boolean }) {
  const paused = of.state === "paused";
  return (
    <tr>
      <th scope="row">
        {subject(of)}
        <div className="faint small">{how(of)}</div>
      </th>
      <td data-label="To" className="to">
        {of.to}
      </td>
      <td data-label="State">
        <span>
          <Tag tone={paused ? "quiet" : "good"} text={of.state} />
          {of.why !== "" && <span className="small why"> {of.why}</span>}
        </span>
      </td>
      <td data-label="Last told">{of.told_at === null ? "never" : <Age at={of.told_at} />}</td>
      {everybody && <td data-label="Whose">{personName(of.owner)}</td>}
      <td>
        <RowActions of={of} />
      </td>
    </tr>
  );
}

function RowActions({ of }: { of: Subscription }) {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!may("subscribe")) return null;
  const settled = () => queries.invalidateQueries({ queryKey: subscriptionsKey });
  const params = { path: { subscription_id: of.id } };
  return (
    <div className="buttons">
      {of.state === "active" ? (
        <Action
          label="Pause"
          run={() =>
            data(api.POST("/api/subscriptions/{subscription_id}/pause", { params, body: {} }))
          }
          settled={settled}
        >
          <p>Nothing is told until it is resumed; what happens meanwhile is not told later.</p>
        </Action>
      ) : (
        <Action
          label="Resume"
          run={() =>
            data(api.POST("/api/subscriptions/{subscription_id}/resume", { params, body: {} }))
          }
          settled={settled}
        >
          <p>
            What happens from now on is told again to {of.to}
            {of.why !== "" && `. It is ${of.why}`}.
          </p>
        </Action>
      )}
      <Action
        label="Remove"
        run={() =>
          data(api.POST("/api/subscriptions/{subscription_id}/remove", { params, body: {} }))
        }
        settled={settled}
      >
        <p>
          Nothing more is told of {subject(of)} to {of.to}. What waits to be sent is dropped.
        </p>
      </Action>
    </div>
  );
}
