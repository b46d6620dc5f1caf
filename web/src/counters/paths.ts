/** Where an experiment's counter tables are: all, or of one case on one host. */
export function countersPath(experimentId: number, caseId?: number, host?: string): string {
  const query = new URLSearchParams({
    ...(caseId !== undefined && { case: String(caseId) }),
    ...(host !== undefined && { host }),
  }).toString();
  return `/experiments/${experimentId}/counters${query === "" ? "" : `?${query}`}`;
}
