/** Published figures beside what this experiment measured. */

import { claimText, effectOf, effectText } from "../format/effect";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { claimsQuery } from "../api/queries";
import type { Claim, ClaimSource } from "../api/types";
import { counted } from "../format/quantity";
import { Empty } from "../ui/empty";
import { Tag } from "../ui/tag";
import { CLAIM } from "../words";

export function Claims({ id }: { id: number }) {
  const { data: sources } = useQuery(claimsQuery(id));
  if (!sources) return null;
  return (
    <section className="panel" aria-labelledby="claims">
      <header>
        <h2 id="claims">Published claims</h2>
        <span className="faint small">what others published, beside what was measured here</span>
      </header>
      {sources.length === 0 && (
        <Empty
          next={[
            ["mitigauge claims import", "stores the published figures of experiments/claims/"],
            [`mitigauge claims show ${id}`, "sets them beside this experiment"],
          ]}
        >
          No stored claim is about a case of this experiment.
        </Empty>
      )}
      {sources.map((source) => (
        <Source key={source.name} experimentId={id} source={source} />
      ))}
    </section>
  );
}

const FOLDED_FROM = 2;

/** The claims that a figure of ours speaks to, and those that can only say "emulated". */
export function sorted(claims: Claim[]): { telling: Claim[]; folded: Claim[] } {
  const emulated = claims.filter((claim) => claim.outcome === "emulated");
  if (emulated.length < FOLDED_FROM) return { telling: claims, folded: [] };
  return { telling: claims.filter((claim) => claim.outcome !== "emulated"), folded: emulated };
}

function Source({ experimentId, source }: { experimentId: number; source: ClaimSource }) {
  const beside = source.claims.filter((claim) => typeof claim.case_id === "number");
  const left = source.claims.length - beside.length;
  const { telling, folded } = sorted(beside);
  return (
    <div className="claim-source">
      <h3>{source.title}</h3>
      <p className="soft small">
        {source.citation}
        {source.published ? `, ${source.published}` : ""}
        {left > 0 && `; ${counted(left, "further claim")} not part of this experiment`}
      </p>
      <table className="list stack">
        <thead>
          <tr>
            <th scope="col">Claim</th>
            <th scope="col">Mode</th>
            <th scope="col">Claimed</th>
            <th scope="col">Measured</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {telling.map((claim, i) => (
            <ClaimRow key={i} experimentId={experimentId} claim={claim} />
          ))}
        </tbody>
        {folded.length > 0 && <Folded experimentId={experimentId} claims={folded} />}
      </table>
    </div>
  );
}

/** Claims that an emulated host can say nothing of, in one line that opens. */
function Folded({ experimentId, claims }: { experimentId: number; claims: Claim[] }) {
  const [open, setOpen] = useState(false);
  return (
    <tbody>
      <tr className="folded">
        <td colSpan={5}>
          <button
            type="button"
            className="fold"
            aria-expanded={open}
            onClick={() => {
              setOpen(!open);
            }}
          >
            {counted(claims.length, "claim")} about hardware
          </button>{" "}
          <Tag tone={CLAIM.emulated.tone} text={CLAIM.emulated.label} />{" "}
          <span className="soft small">{claims[0]?.reason}</span>
        </td>
      </tr>
      {open &&
        claims.map((claim, i) => <ClaimRow key={i} experimentId={experimentId} claim={claim} />)}
    </tbody>
  );
}

function ClaimRow({ experimentId, claim }: { experimentId: number; claim: Claim }) {
  return (
    <tr>
      <th scope="row">
        <Link to={caseLink(experimentId, claim)}>{claim.title}</Link>
      </th>
      <td data-label="Mode">{claim.mode}</td>
      <td data-label="Claimed" className="nowrap">
        {claimText(claim.low_percent, claim.high_percent)}
      </td>
      <td data-label="Measured">{measured(claim)}</td>
      <td data-label="Outcome">
        <div>
          <Tag tone={CLAIM[claim.outcome].tone} text={CLAIM[claim.outcome].label} />{" "}
          <span className="soft small">{claim.reason}</span>
        </div>
      </td>
    </tr>
  );
}

function caseLink(experimentId: number, claim: Claim): string {
  return `/experiments/${experimentId}/cases/${claim.case_id ?? 0}?host=${encodeURIComponent(claim.host)}`;
}

function measured(claim: Claim): string {
  const effect = effectOf(claim);
  if (effect === null) return "–";
  return effectText(effect) + (effect.low === null ? "" : `, n ${claim.n}`);
}
