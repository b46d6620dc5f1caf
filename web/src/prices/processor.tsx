/** One processor, opened: what it is, its prices, and what each of its machines gave. */

import type { ReactNode } from "react";
import type { Price, PriceTrustRule, ProcessorPrices } from "../api/types";
import { NextCommands } from "../ui/empty";
import { Facts } from "../ui/facts";
import { Machine } from "./machine";
import { identityText, KIND, linkOf, misfitText, priceEnds, priceText } from "./words";

interface OpenProps {
  of: ProcessorPrices;
  rule: PriceTrustRule;
}

export function OpenProcessor({ of, rule }: OpenProps) {
  return (
    <div className="price-processor">
      <About of={of} />
      <Prices of={of} />
      {of.machines.length === 0 && <NoMachine />}
      {of.machines.map((machine) => (
        <Machine key={machine.machine} of={machine} rule={rule} />
      ))}
    </div>
  );
}

function About({ of }: { of: ProcessorPrices }) {
  const { identity } = of;
  return (
    <Facts
      items={[
        ["Says of itself", identity && <bdi>{identityText(identity)}</bdi>],
        ...(identity === null ? [] : ownWords(identity)),
        ["Microcode", of.microcode === "" ? null : <bdi>{of.microcode}</bdi>],
        ["Error elsewhere", misfitText(of.misfit_percent)],
        ["File", <code>prices/processors/{of.processor}.yml</code>],
      ]}
    />
  );
}

/** What only a processor that said itself has. */
function ownWords(of: NonNullable<ProcessorPrices["identity"]>): [string, ReactNode][] {
  return [
    ["Masked model", <bdi>{of.masked || "no, its flags agree with it"}</bdi>],
    ["Caches", of.caches === "" ? null : <bdi>{of.caches}</bdi>],
  ];
}

function Prices({ of }: { of: ProcessorPrices }) {
  return (
    <table className="list stack prices-list" aria-label={`Prices of ${of.title}`}>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col" className="num">
            Price of one
          </th>
          <th scope="col" className="num">
            95 %, ns
          </th>
          <th scope="col">Known how</th>
          <th scope="col">Source</th>
        </tr>
      </thead>
      <tbody>
        {of.prices.map((price) => (
          <PriceRow key={price.event} price={price} />
        ))}
      </tbody>
    </table>
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
      <td data-label="Known how" title={KIND[price.kind]}>
        {price.kind}
      </td>
      <td data-label="Source">
        <div>
          {link === null ? (
            <bdi>{price.source}</bdi>
          ) : (
            <a href={link} rel="noreferrer nofollow">
              {price.source}
            </a>
          )}
          {price.machines.length > 1 && (
            <span className="faint small"> of {price.machines.length} machines</span>
          )}
        </div>
      </td>
    </tr>
  );
}

function NoMachine() {
  return (
    <div className="empty">
      <p className="soft">
        The file has no machine of <code>mitigauge price measure</code>, so no operation was
        predicted and measured beside these prices.
      </p>
      <NextCommands
        next={[
          [
            "mitigauge price measure --here -o prices/processors",
            "on such a machine, measures its prices and tries them",
          ],
        ]}
      />
    </div>
  );
}
