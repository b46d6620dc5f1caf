/** Prices of processors' events, and how often what they predict held on hosts. */

import { useQuery } from "@tanstack/react-query";
import { pricesQuery } from "../api/queries";
import type { Price, ProcessorPrices } from "../api/types";
import { Loaded } from "../ui/answers";
import { Empty } from "../ui/empty";
import { Head, useTitle } from "../ui/page";
import { PlaceTabs } from "../ui/tabs";
import { Checks } from "./checks";
import { linkOf, priceEnds, priceText } from "./words";
import "./prices.css";

export function PricesPage() {
  useTitle("Prices");
  const query = useQuery(pricesQuery());
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
      />
      <Loaded query={query} part>
        {({ processors, checks, more }) => (
          <>
            {processors.length === 0 && <NoPrices />}
            {processors.map((each) => (
              <OfProcessor key={each.processor} of={each} />
            ))}
            <Checks checks={checks} more={more} />
          </>
        )}
      </Loaded>
    </>
  );
}

function NoPrices() {
  return (
    <div className="panel">
      <Empty
        next={[
          [
            "mitigauge price measure HOST --environment ENVIRONMENT",
            "plans the boots that tell the prices of a host of yours",
          ],
        ]}
      >
        No prices of a processor are known, so nothing is predicted. <code>prices/README.md</code>{" "}
        says how to give some.
      </Empty>
    </div>
  );
}

function OfProcessor({ of }: { of: ProcessorPrices }) {
  const heading = `prices-${of.processor}`;
  const about = [of.microarchitecture, of.microcode && `microcode ${of.microcode}`];
  return (
    <section className="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          <bdi>{of.title}</bdi>
        </h2>
        <span className="soft small">
          <code>{of.processor}</code>
          {about.filter(Boolean).map((text) => (
            <span key={text}>
              , <bdi>{text}</bdi>
            </span>
          ))}
        </span>
      </header>
      <table className="list stack prices-list" aria-labelledby={heading}>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col" className="num">
              Price of one
            </th>
            <th scope="col" className="num">
              95 %, ns
            </th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {of.prices.map((price) => (
            <PriceRow key={price.event} price={price} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function PriceRow({ price }: { price: Price }) {
  const link = linkOf(price.url);
  return (
    <tr>
      <th scope="row">
        {price.title} <code className="faint">{price.event}</code>
      </th>
      <td className="num" data-label="Price">
        {priceText(price)}
      </td>
      <td className="num" data-label="95 %, ns">
        {priceEnds(price)}
      </td>
      <td data-label="Source">
        {link === null ? (
          <bdi>{price.source}</bdi>
        ) : (
          <a href={link} rel="noreferrer nofollow">
            {price.source}
          </a>
        )}
      </td>
    </tr>
  );
}
