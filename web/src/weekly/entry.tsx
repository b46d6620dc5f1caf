import type { WeeklyEntry } from "../api/types";
import { Line } from "./line";
import { Picture } from "./picture";

export function EntryList({ entries }: { entries: readonly WeeklyEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <ul className="weekly-entries">
      {entries.map((entry, at) => (
        <li key={at} data-pictured={entry.picture ? "" : undefined}>
          <div>
            <div className="weekly-head">
              <Line line={entry.head} />
            </div>
            {entry.lines.map((line, place) => (
              <div className="soft" key={place}>
                <Line line={line} />
              </div>
            ))}
          </div>
          {entry.picture && <Picture picture={entry.picture} />}
        </li>
      ))}
    </ul>
  );
}
