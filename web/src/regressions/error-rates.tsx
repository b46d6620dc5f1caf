/** How often we are wrong: of what was said, what people or later boots found wrong. */

import { useQuery } from "@tanstack/react-query";
import { errorRatesQuery } from "../api/queries";
import type { ErrorRate } from "../api/types";
import { fixed } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { EmulatedMark } from "../ui/emulated";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";

export function ErrorRatesPage() {
  useTitle("How often we are wrong");
  const query = useQuery(errorRatesQuery());
  return (
    <>
      <Head
        title="How often we are wrong"
        tabs={<PlaceTabs of="regressions" here="errors" />}
        lede="Of what was said, the part that people, or later boots, found wrong; with exact 95 % intervals."
      />
      <Loaded query={query} part>
        {(rates) => (
          <section className="panel" aria-label="How often we are wrong">
            <table className="list stack" aria-label="How often we are wrong">
              <thead>
                <tr>
                  <th scope="col">What was said</th>
                  <th scope="col" className="num">
                    Wrong
                  </th>
                  <th scope="col" className="num">
                    Percent
                  </th>
                </tr>
              </thead>
              <tbody>
                {rates.map((rate) => (
                  <Row key={`${rate.name} ${rate.emulated}`} of={rate} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Loaded>
      <p className="small soft">
        <code>mitigauge regression error-rates</code>. Say <em>false</em>, or what else it is, on
        the page of a regression: that is what these rates are made of. How far verdicts agree that
        were given again stands with the trends.
      </p>
    </>
  );
}

function Row({ of }: { of: ErrorRate }) {
  return (
    <tr>
      <th scope="row">
        {of.title} {of.emulated && <EmulatedMark />}
        <div className="faint small">{of.meaning}</div>
      </th>
      <td className="num" data-label="Wrong">
        {of.sentence}
      </td>
      <td className="num" data-label="Percent">
        {of.percent === null ? (
          <span className="faint">none yet</span>
        ) : (
          <div>
            {fixed(of.percent, 1)}{" "}
            <span className="soft nowrap">
              [{fixed(of.low ?? 0, 1)}, {fixed(of.high ?? 0, 1)}]
            </span>
          </div>
        )}
      </td>
    </tr>
  );
}
