/** Everything about the chosen frame, in words and numbers. */

import { Link } from "wouter";
import { Facts } from "../ui/facts";
import { Tag } from "../ui/tag";
import type { Meta } from "./decode";
import type { Figure } from "./figure";
import { cost } from "./tree";
import { changeText, costText, differenceText, fateOf, qText, shareText } from "./words";

interface InspectorProps {
  figure: Figure;
  meta: Meta;
  /** Which graph the frame is in. */
  label: string;
  node: number;
  /** Address of the function's callers and callees. */
  sandwich: (name: string) => string;
  /** Address of the function's instructions; null where its code was not kept. */
  instructions?: ((name: string) => string | null) | undefined;
}

/** A name of a stranger's making; isolated, so that it cannot turn the text around it. */
export function Name({ children }: { children: string }) {
  return <bdi className="mono frame-name">{children}</bdi>;
}

export function Inspector(props: InspectorProps) {
  const { figure, meta, label, node, sandwich, instructions } = props;
  const { tree, names, whole } = figure;
  const symbol = tree.symbol[node] ?? 0;
  const name = names[symbol] ?? "";
  const [a, b] = [cost(tree.a, node), cost(tree.b, node)];
  const fate = fateOf(tree, node);
  const code = instructions?.(name) ?? null;
  const was = meta.renamed[String(symbol)];
  const raw = meta.raw_names[String(symbol)] ?? [];
  return (
    <section className="inspector" aria-label={`Chosen frame. ${label}`}>
      <h3>
        <Name>{name}</Name>
        {fate !== null && <Tag tone="void" text={fate} />}
      </h3>
      <Facts
        items={[
          [`A, ${meta.a.label}`, `${costText(a, meta.unit)} · ${shareText(a, cost(tree.a, 0))}`],
          [`B, ${meta.b.label}`, `${costText(b, meta.unit)} · ${shareText(b, cost(tree.b, 0))}`],
          [
            "Difference",
            differenceText(b - a, tree.low[node] ?? NaN, tree.high[node] ?? NaN, meta.unit),
          ],
          ["Change", changeText(a, b)],
          ["Of the total", shareText(Math.abs(b - a), whole)],
          ["q", qText(tree.q[node] ?? NaN)],
        ]}
      />
      {was !== undefined && (
        <p className="small">
          <span className="faint">Called in A</span> <Name>{was}</Name>
        </p>
      )}
      {raw.length > 0 && (
        <p className="small">
          <span className="faint">Recorded as</span> <Name>{raw.join(", ")}</Name>
        </p>
      )}
      {tree.parent[node] !== -1 && (
        <p className="small">
          <Link to={sandwich(name)}>Callers and callees of this function</Link>
          {code !== null && (
            <>
              {" · "}
              <Link to={code}>Instructions</Link>
            </>
          )}
        </p>
      )}
    </section>
  );
}
