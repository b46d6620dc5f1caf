/** Fresh boots of the kernels before and after: what they say of a trend's change. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { Action } from "../act/action";
import { useRights } from "../act/rights";
import { api, data } from "../api/client";
import type { FreshBoots, Regression } from "../api/types";
import { effectOf, effectParts } from "../format/effect";
import { BOUND, counted } from "../format/quantity";
import { Age } from "../ui/age";
import { Tag } from "../ui/tag";
import { CONFIRMATION_STATE } from "../words";
import { regressionQuery } from "./queries";

export function FreshBootsPanel({ regression }: { regression: Regression }) {
  const { fresh_boots: fresh } = regression;
  if (regression.origin !== "trend") return null;
  const open = fresh?.state === "waiting" || fresh?.state === "measuring";
  return (
    <section className="panel" aria-labelledby="fresh-boots">
      <header>
        <h2 id="fresh-boots">Fresh boots</h2>
        {fresh !== null && <State of={fresh} />}
      </header>
      <div className="inside">
        {fresh === null ? (
          <p>
            Values over time are a suspicion. Nobody measured the kernels before and after it side
            by side yet; a worker does so for each new one.
          </p>
        ) : (
          <Said of={fresh} />
        )}
        {regression.earlier_fresh_boots.length > 0 && (
          <details>
            <summary>
              {counted(regression.earlier_fresh_boots.length, "earlier try", "earlier tries")}
            </summary>
            {regression.earlier_fresh_boots.map((each) => (
              <Said key={each.asked_at} of={each} />
            ))}
          </details>
        )}
        {!open && <AskAgain id={regression.id} />}
      </div>
    </section>
  );
}

function State({ of }: { of: FreshBoots }) {
  const word = CONFIRMATION_STATE[of.state];
  return <Tag tone={word.tone} text={word.label} title={word.meaning} />;
}

function Said({ of }: { of: FreshBoots }) {
  const when = of.decided_at ?? of.ordered_at ?? of.asked_at;
  return (
    <>
      <p>
        {sentence(of.why)} {of.likely !== "" && <>Likely: {of.likely}.</>}
      </p>
      {of.follows !== "" && <p>Then: {of.follows}.</p>}
      <Effect of={of} />
      <p className="soft small">
        {of.experiment_id !== null && (
          <>
            <Link to={`/experiments/${of.experiment_id}`}>Experiment {of.experiment_id}</Link>,{" "}
            {counted(of.boots, "boot")},{" "}
          </>
        )}
        <Age at={when} />
      </p>
    </>
  );
}

/** With a capital letter and a full stop. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function Effect({ of }: { of: FreshBoots }) {
  const effect = effectOf(of);
  if (effect === null) return null;
  const { change, interval } = effectParts(effect);
  return (
    <p>
      <strong>
        {BOUND[effect.bound ?? "exact"].sign}
        {change}
      </strong>{" "}
      <span className="soft">{interval}</span>, of the fresh boots alone; the values that raised the
      suspicion are not in it, as they were chosen for being far off.
    </p>
  );
}

function AskAgain({ id }: { id: number }) {
  const { may } = useRights();
  const queries = useQueryClient();
  if (!may("triage regressions and trends")) return null;
  return (
    <Action
      label="Measure with fresh boots"
      run={() =>
        data(
          api.POST("/api/regressions/{regression_id}/fresh-boots", {
            params: { path: { regression_id: id } },
            body: {},
          }),
        )
      }
      settled={() => queries.invalidateQueries({ queryKey: regressionQuery(id).queryKey })}
    >
      <p>
        A worker boots the kernel before and the kernel after, side by side, up to 20 times each,
        within the boots a week that its host class has.
      </p>
    </Action>
  );
}
