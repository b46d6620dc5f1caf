/** Which threads were woken, ran and waited while the load ran, by name and arm. */

import { useQuery } from "@tanstack/react-query";
import { tableQuery } from "../api/queries";
import type { Case } from "../api/types";
import { tableFile } from "../tables/paths";
import { SectionPanel } from "../tables/section";
import { Loaded } from "../ui/answers";
import { Download } from "../ui/download";
import { Empty } from "../ui/empty";

// Of these the load's own are first; the others are a click away.
const ROWS_AT_FIRST = 12;
const TITLE = "Threads by name";

export function Threads({ view }: { view: Case }) {
  const asked = { case: String(view.case_id), host: view.host };
  const query = useQuery(tableQuery(view.experiment_id, "threads", asked));
  return (
    <Loaded query={query}>
      {({ sections: [section] }) =>
        section === undefined ? (
          <section className="panel" aria-label={TITLE}>
            <Empty next={[["mitigauge worker", "boots and measures what is planned"]]}>
              No boot that counts has told of threads yet.
            </Empty>
          </section>
        ) : (
          <SectionPanel section={{ ...section, href: "" }} title={TITLE} most={ROWS_AT_FIRST}>
            <Download
              files={[[tableFile(view.experiment_id, "threads", "csv", asked), "Threads as CSV"]]}
            />
          </SectionPanel>
        )
      }
    </Loaded>
  );
}
