import type { Recorded } from "../api/types";
import { day } from "../format/time";

/** The mark of an experiment that was loaded from a recording; nothing where it was not. */
export function RecordedTag({ recorded }: { recorded: Recorded | null | undefined }) {
  if (!recorded) return null;
  return (
    <span
      className="tag"
      title={`Recorded on ${recorded.host}, and loaded: it did not run on this service.`}
    >
      recorded {day(recorded.at)}
    </span>
  );
}

/** The same said in full, with the way to measure anew. */
export function RecordedNotice({ recorded }: { recorded: Recorded | null | undefined }) {
  if (!recorded) return null;
  return (
    <p className="notice" data-kind="recorded">
      <strong>
        Recorded {day(recorded.at)} on {recorded.host}.
      </strong>{" "}
      These figures were loaded, not measured here. To measure on this machine:{" "}
      <code>mitigauge demo</code>
    </p>
  );
}
