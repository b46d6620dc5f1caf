import { bytes } from "../format/quantity";
import { flattened, type Fact } from "./facts";

function shown(fact: Fact): string | null {
  return fact.name.endsWith("_bytes") && fact.value !== null
    ? bytes(Number(fact.value))
    : fact.value;
}

interface FactTableProps {
  facts: Readonly<Record<string, unknown>>;
  /** What to say when there is none. */
  empty: string;
  /** Names to point out. */
  marked?: string[];
}

export function FactTable({ facts, empty, marked = [] }: FactTableProps) {
  const list = flattened(facts);
  if (list.length === 0) return <p className="inside faint">{empty}</p>;
  return (
    <table className="list fact-table">
      <tbody>
        {list.map((fact) => (
          <tr key={fact.name} data-marked={marked.includes(fact.name)}>
            <th scope="row">{fact.name}</th>
            <td>
              {shown(fact) ?? <span className="faint">absent</span>}
              {marked.includes(fact.name) && <span className="tag judged">judged by</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
