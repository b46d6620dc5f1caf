/** What a revision was asked beside its experiment: where that stands, and what came of it. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Refused } from "../act/action";
import { AskStudy, isAskable } from "../act/study";
import { isOver, studiesQuery } from "../api/queries";
import type { Revision, Series, Study, StudyKind } from "../api/types";
import { Age } from "../ui/age";
import { StudyTag, Tag } from "../ui/tag";
import { CostsOfPatches } from "./patch-costs";
import { SelectionOf } from "./selection";
import "./studies.css";
import { VariantsOf } from "./variants";
import { capital, sentencesOf } from "./words";

const TITLE: Record<StudyKind, string> = {
  "patch-cost": "What each patch costs",
  selection: "Which mitigation is chosen where",
  variants: "Which revision costs least",
};

const LOOK =
  "Something is worse than asked, weaker than before, not told any more, or contradicts its code.";

const KINDS = Object.keys(TITLE) as StudyKind[];

interface StudiesProps {
  series: Series;
  revision: Revision;
  /** Whether they are shown whole from the beginning. */
  open: boolean;
}

export function Studies({ series, revision, open }: StudiesProps) {
  const { data: studies, error } = useQuery(studiesQuery(series.name, revision.label));
  if (studies === undefined) return <Refused error={error} />;
  if (studies.length === 0 && !isAskable(revision)) return null;
  const unasked = KINDS.filter((kind) => !studies.some((study) => study.kind === kind));
  return (
    <section className="studies" aria-label={`Questions about ${revision.label}`}>
      {studies.length === 0 && (
        <p className="soft">Nothing was asked about it beside its experiment.</p>
      )}
      {studies.map((study) => (
        <OneStudy key={study.id} {...{ study, series, revision, open }} />
      ))}
      {unasked.length > 0 && (
        <div className="buttons">
          {unasked.map((kind) => (
            <AskStudy key={kind} {...{ series, revision, kind }} />
          ))}
        </div>
      )}
    </section>
  );
}

interface OneStudyProps extends StudiesProps {
  study: Study;
}

function OneStudy({ study, series, revision, open: begun }: OneStudyProps) {
  const [open, setOpen] = useState(begun);
  return (
    <details
      className="panel study"
      open={open}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <h4>{TITLE[study.kind]}</h4>
        <StudyTag state={study.state} />
        {study.looks_worse && <Tag tone="bad" text="look at it" title={LOOK} />}
        <span className="soft small">
          asked by {study.asked_by || "somebody"} <Age at={study.asked_at} />
        </span>
      </summary>
      {open && (
        <>
          <Said study={study} />
          {/* A table may have a thousand cells: one that nobody opened is not drawn. */}
          {study.body.kind === "patch-cost" && (
            <CostsOfPatches costs={study.body} revision={revision} />
          )}
          {study.body.kind === "selection" && <SelectionOf of={study.body} revision={revision} />}
          {study.body.kind === "variants" && <VariantsOf of={study.body} />}
          {isOver(study.state) && (
            <div className="inside buttons small soft">
              {study.ended_at !== null && (
                <span>
                  Ended <Age at={study.ended_at} />
                </span>
              )}
              <AskStudy {...{ series, revision }} kind={study.kind} anew />
            </div>
          )}
        </>
      )}
    </details>
  );
}

/** What it does or waits for; once it is over, what it came to. */
function Said({ study: { state, why, answer } }: { study: Study }) {
  if (!isOver(state)) return <p className="inside">{capital(why)}.</p>;
  return (
    <div className="inside">
      {state !== "done" && <p className="problem">{capital(why)}</p>}
      {answer.length > 0 && <Sentences lines={answer} />}
    </div>
  );
}

function Sentences({ lines }: { lines: string[] }) {
  return (
    <ul className="study-answer">
      {sentencesOf(lines).map(({ text, under }, at) => (
        <li key={at}>
          {text}
          {under.length > 0 && (
            <ul className="soft">
              {under.map((line, place) => (
                <li key={place}>{line}</li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}
