import type { Ability, Job } from "../api/types";

export const ABILITY: Record<Ability, string> = {
  kernels: "builds kernels",
  archives: "looks at archives",
  mail: "reads mails",
  letters: "sends letters",
  backups: "takes backups",
  digests: "tells subscribers",
};

/** What there is to say of a job in a line: why it waits, what it does, or why it failed. */
export function about(job: Job): string {
  return job.waits || job.error || job.progress;
}
