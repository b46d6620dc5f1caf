/** One revision: where it stands, who sent it, what it holds and what it changed. */

import { Link } from "wouter";
import { RevisionActions } from "../act/revision";
import type { PatchChange, Revision, Series } from "../api/types";
import { counted } from "../format/quantity";
import { Stamp } from "../ui/age";
import { Facts } from "../ui/facts";
import { RevisionTag } from "../ui/tag";
import { Choices } from "./choices";
import { PatchDiff } from "./patch";
import { Studies } from "./studies";
import { capital, patchId } from "./words";

const ATTESTED: Record<Revision["attested"], string> = {
  pass: "its sender's own key signed it",
  fail: "its signature is not its sender's",
  missing: "nothing attests who wrote it",
};

const SIGN: Record<PatchChange["change"], string> = {
  same: "=",
  changed: "≠",
  new: "+",
  gone: "−",
};

interface RevisionProps {
  series: Series;
  revision: Revision;
  open: boolean;
}

export function RevisionItem({ series, revision, open }: RevisionProps) {
  return (
    <article className="revision" aria-labelledby={`revision-${revision.id}`}>
      <div className="revision-head">
        <h3 id={`revision-${revision.id}`}>{revision.label}</h3>
        <RevisionTag state={revision.state} />
        <span className="soft">{revision.why}</span>
      </div>
      {revision.retest !== "" && <p>Retest: {revision.retest}</p>}
      {revision.state === "waiting" && (
        <p className="notice">
          Its patches run as root on hosts of ours once somebody says so, after looking at them:{" "}
          <code>
            mitigauge series approve {series.name} {revision.label} {revision.digest.slice(0, 16)}
          </code>
        </p>
      )}
      <Facts
        items={[
          ["sent by", `${revision.sender}: ${ATTESTED[revision.attested]}`],
          ["sent", revision.sent_at && <Stamp at={revision.sent_at} />],
          ["received", <Stamp key="received" at={revision.received_at} />],
          ["base", base(series, revision)],
          ["experiment", experiment(revision)],
        ]}
      />
      {revision.limits !== "" && <p className="said-by-limits">{capital(revision.limits)}</p>}
      <RevisionActions series={series} revision={revision} />
      {revision.strays.length > 0 && (
        <ul className="soft">
          {revision.strays.map((stray) => (
            <li key={stray}>left out: {stray}</li>
          ))}
        </ul>
      )}
      {revision.loosely.length > 0 && (
        <ul className="soft">
          {revision.loosely.map((patch) => (
            <li key={patch}>applied loosely: {patch}</li>
          ))}
        </ul>
      )}
      <Choices revision={revision} />
      <Studies series={series} revision={revision} open={open} />
      {revision.changelog !== "" && <pre className="changelog">{revision.changelog}</pre>}
      {revision.renamed.map((each) => (
        <p key={each.before}>
          <code>{each.before}</code> is called <code>{each.after}</code> now
          {each.times === 0 && " (its code is the same)"}.
        </p>
      ))}
      <details open={open}>
        <summary>{counted(revision.patches.length, "patch", "patches")}</summary>
        <Patches series={series.name} revision={revision} />
      </details>
    </article>
  );
}

function base(series: Series, revision: Revision): string {
  const built = `built on Debian's ${series.base}`;
  return revision.base_commit === ""
    ? `${built}; the sender names no base`
    : `${built}; the sender names ${revision.base_commit.slice(0, 12)}`;
}

function experiment(revision: Revision) {
  if (revision.experiment_id === null) return <span className="faint">none yet</span>;
  return <Link to={`/experiments/${revision.experiment_id}`}>{revision.experiment_id}</Link>;
}

/** The patches in their order, each with what became of it since the revision before. */
function Patches({ series, revision }: { series: string; revision: Revision }) {
  const place = { series, revision: revision.label };
  // Whoever approves it has to look at each line first.
  const waits = revision.state === "waiting";
  if (revision.changes.length === 0)
    return (
      <ol className="patches">
        {revision.patches.map((patch, at) => (
          <li key={patch.sha256} id={patchId(revision, at + 1)}>
            {patch.title}
            <PatchDiff {...place} position={at + 1} patch={patch} open={waits} />
          </li>
        ))}
      </ol>
    );
  return (
    <ul className="patches changes-of">
      {revision.changes.map((change) => (
        <li
          key={`${change.before} ${change.after}`}
          id={change.after === null ? undefined : patchId(revision, change.after)}
          data-change={change.change}
        >
          <Change change={change} />
          <DiffOf series={series} change={change} revision={revision} open={waits} />
        </li>
      ))}
    </ul>
  );
}

interface DiffOfProps {
  series: string;
  change: PatchChange;
  revision: Revision;
  open: boolean;
}

/** The patch itself; one that is gone has none in this revision. */
function DiffOf({ series, change, revision, open }: DiffOfProps) {
  const { after } = change;
  const patch = after === null ? undefined : revision.patches[after - 1];
  if (after === null || patch === undefined) return null;
  const place = { series, revision: revision.label, position: after };
  return <PatchDiff {...place} patch={patch} open={open} />;
}

function Change({ change }: { change: PatchChange }) {
  const head = (
    <>
      <span className="mono" aria-hidden="true">
        {SIGN[change.change]}
      </span>{" "}
      <span className="soft">{change.change}</span> {change.after ?? change.before}. {change.title}
      {change.title_before !== "" && change.title_before !== change.title && (
        <span className="faint"> (was: {change.title_before})</span>
      )}
    </>
  );
  if (change.lines.length === 0) return <div>{head}</div>;
  return (
    <details>
      <summary>{head}</summary>
      <p className="small soft">
        What changed since the revision before: lines of the patch, each with its own sign first.
      </p>
      <pre className="diff" tabIndex={0} aria-label={`What changed in ${change.title}`}>
        {change.lines.map((line, at) => (
          <span key={at} data-sign={line[0]}>
            {line}
            {"\n"}
          </span>
        ))}
      </pre>
      {change.cut > 0 && <p className="faint">{change.cut} more lines are not shown.</p>}
    </details>
  );
}
