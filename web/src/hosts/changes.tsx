import { counted } from "../format/quantity";
import type { Change } from "./facts";

/** Facts that differ, each as it was and as it is. */
export function Changes({ changed }: { changed: readonly Change[] }) {
  if (changed.length === 0) return <p className="faint">No fact of it differs.</p>;
  return (
    <table className="list changes">
      <caption>{counted(changed.length, "fact")} changed</caption>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">Before</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {changed.map((change) => (
          <tr key={change.name}>
            <th scope="row">{change.name}</th>
            <td>
              <del>{change.before ?? "absent"}</del>
            </td>
            <td>
              <ins>{change.after ?? "absent"}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
