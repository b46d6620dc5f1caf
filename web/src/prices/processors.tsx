/** Processors with prices, a row each; the one that the address names is open. */

import { Fragment } from "react";
import type { PriceTrustRule, ProcessorPrices } from "../api/types";
import { Tag } from "../ui/tag";
import { useAddress } from "../ui/use-address";
import { OpenProcessor } from "./processor";
import { TrustTag } from "./trust";
import { kindsText, placeText } from "./words";

const COLUMNS = 6;

interface ProcessorsProps {
  processors: ProcessorPrices[];
  rule: PriceTrustRule;
}

export function Processors({ processors, rule }: ProcessorsProps) {
  const [search, change] = useAddress();
  const open = search.get("open");
  return (
    <section className="panel" aria-labelledby="processors">
      <header>
        <h2 id="processors">Processors</h2>
        <span className="soft small">
          <code>mitigauge price list</code>
        </span>
      </header>
      <table className="list stack prices-processors" aria-labelledby="processors">
        <thead>
          <tr>
            <th scope="col">Processor</th>
            <th scope="col">Microarchitecture</th>
            <th scope="col">Machines</th>
            <th scope="col">Virtual or bare</th>
            <th scope="col">Trust</th>
            <th scope="col">Prices</th>
          </tr>
        </thead>
        <tbody>
          {processors.map((each) => (
            <Fragment key={each.processor}>
              <Row
                of={each}
                open={each.processor === open}
                onToggle={() => {
                  change("open", each.processor === open ? null : each.processor);
                }}
              />
              {each.processor === open && (
                <tr className="opened">
                  <td colSpan={COLUMNS}>
                    <OpenProcessor of={each} rule={rule} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  of: ProcessorPrices;
  open: boolean;
  onToggle: () => void;
}

function Row({ of, open, onToggle }: RowProps) {
  const nowhere = <span className="faint">none</span>;
  return (
    <tr>
      <th scope="row">
        <button type="button" className="fold" aria-expanded={open} onClick={onToggle}>
          <bdi>{of.title}</bdi>
        </button>{" "}
        {of.identity?.masked && <Tag tone="void" text="masked model" title={of.identity.masked} />}
        <div className="faint small mono">{of.processor}</div>
      </th>
      <td data-label="Architecture">
        <bdi>{of.microarchitecture || <span className="faint">not known</span>}</bdi>
      </td>
      <td data-label="Machines">{of.machines.length || nowhere}</td>
      <td data-label="Machine is">
        {placeText(of.machines) ?? <span className="faint">not known</span>}
      </td>
      <td data-label="Trust">
        <div>
          <TrustTag of={of.trusted} />
        </div>
      </td>
      <td data-label="Prices">{kindsText(of.prices)}</td>
    </tr>
  );
}
