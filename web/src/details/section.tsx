/** What a case tells besides its metrics, where its workload tells anything. */

import { useQuery } from "@tanstack/react-query";
import { detailsQuery, fetchTable } from "../api/queries";
import type { Case, Details } from "../api/types";
import { ReportButtons } from "../experiment/report";
import { counted } from "../format/quantity";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { Empty } from "../ui/empty";
import { Breakdown } from "./breakdown";
import { marks } from "../picture/keep";
import { tableFile } from "../tables/paths";
import { Curve } from "./curve";
import "./details.css";

export function DetailsSection({ view }: { view: Case }) {
  const query = useQuery(detailsQuery(view.experiment_id, view.case_id, view.host));
  // Most workloads tell nothing more: nothing is shown of that, nor while the answer comes.
  if (query.data?.declared === false || query.isPending) return null;
  return <Loaded query={query}>{(details) => <Body details={details} />}</Loaded>;
}

function Body({ details }: { details: Details }) {
  const { experiment_id: id, case_id: caseId, host } = details;
  const told = details.arms.filter((arm) => arm.boots > 0).length > 0;
  if (!told) return <NothingTold details={details} />;
  const asked = { case: String(caseId), host };
  return (
    <>
      <div className="details-head">
        <p className="soft small">
          Figures over boots with 95 % intervals, and changes against the baseline within blocks.
          Exploratory: no verdict comes of them. {untoldWords(details)}
        </p>
        <div className="buttons">
          <ReportButtons
            fetched={(format) => fetchTable(id, "details", asked, format === "text" ? "txt" : "md")}
            href={tableFile(id, "details", "txt", asked)}
          />
          <Download files={[[tableFile(id, "details", "csv", asked), "Curve and tables as CSV"]]} />
        </div>
      </div>
      {details.curve && (
        <Curve
          curve={details.curve}
          arms={details.arms}
          title={`${details.case} on ${details.host}: ${details.curve.value.title}`}
          lines={[
            details.arms.map((arm) => `${arm.name}: ${arm.mode}`).join("; "),
            marks({ emulated: details.emulated, counted: details.clock === "counted" }),
            `experiment ${details.experiment_id}, ${details.experiment}`,
          ]}
        />
      )}
      {details.breakdowns.map((breakdown) => (
        <Breakdown key={breakdown.name} breakdown={breakdown} arms={details.arms} />
      ))}
    </>
  );
}

function untoldWords({ untold }: Details): string {
  return untold > 0 ? `${counted(untold, "older boot")} measured the case and told none.` : "";
}

function NothingTold({ details }: { details: Details }) {
  const next: [string, string][] =
    details.untold > 0
      ? [
          [
            "mitigauge experiment submit SPEC",
            "measures again; curves and tables are kept with each result",
          ],
        ]
      : [["mitigauge worker", "boots and measures what is planned"]];
  return (
    <section className="panel" aria-labelledby="details">
      <header>
        <h2 id="details">Curve and breakdowns</h2>
      </header>
      <Empty next={next}>
        No boot has told its curve and breakdowns yet. {untoldWords(details)}
      </Empty>
    </section>
  );
}
