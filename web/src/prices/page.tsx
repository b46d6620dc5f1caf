/** Prices of processors' events, and modes ranked by them. */

import { useQuery } from "@tanstack/react-query";
import { pricesQuery } from "../api/queries";
import type { Prices } from "../api/types";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { Empty } from "../ui/empty";
import { FindField, NoneLikeThat } from "../ui/list-filter";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { useAddress } from "../ui/use-address";
import { Processors } from "./processors";
import { Published } from "./published";
import { Ranking } from "./ranking";
import { csvPath } from "./words";
import "./prices.css";

export function PricesPage() {
  useTitle("Prices");
  const [search] = useAddress();
  const find = search.get("find") ?? "";
  const query = useQuery(pricesQuery(find));
  return (
    <>
      <Head
        title="Prices"
        tabs={<PlaceTabs of="fleet" here="prices" />}
        lede={
          <>
            What an event costs on a processor, and who says so. What a lab host counted, times
            these prices, is a predicted cost. <code>prices/README.md</code> says how to give more.
          </>
        }
      >
        <Download files={[[csvPath(find), "Prices as CSV"]]} />
      </Head>
      <Loaded query={query} part>
        {(prices) => (
          <>
            {prices.processors.length === 0 && find === "" ? (
              <NoPrices />
            ) : (
              <Known prices={prices} find={find} />
            )}
            {find === "" && <Published />}
          </>
        )}
      </Loaded>
    </>
  );
}

interface KnownProps {
  prices: Prices;
  /** What processors are narrowed by. */
  find: string;
}

function Known({ prices: { processors, rankings, trust_rule: rule }, find }: KnownProps) {
  const [, change] = useAddress();
  return (
    <>
      <div className="filters" role="search" aria-label="Processors">
        <FindField
          find={find}
          placeholder="model or architecture"
          write={(text) => {
            change("find", text === "" ? null : text);
          }}
        />
        <span className="soft small" role="status">
          {counted(processors.length, "processor")}
        </span>
      </div>
      {processors.length === 0 ? (
        <NoneLikeThat what="processor" />
      ) : (
        <>
          {rankings.map((each) => (
            <Ranking key={each.bills} of={each} narrowed={find !== ""} />
          ))}
          <Processors processors={processors} rule={rule} />
        </>
      )}
    </>
  );
}

function NoPrices() {
  return (
    <div className="panel">
      <Empty
        next={[
          [
            "mitigauge price measure --here -o prices/processors",
            "measures this machine’s prices in a minute",
          ],
        ]}
      >
        No prices of a processor are known, so nothing is predicted. <code>prices/README.md</code>{" "}
        says how to give some.
      </Empty>
    </div>
  );
}
