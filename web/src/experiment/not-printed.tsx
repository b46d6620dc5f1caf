import { counted } from "../format/quantity";

/** What stands on paper of a list that is longer than paper is read. */
export function NotPrinted({ rows, where }: { rows: number; where: string }) {
  if (rows <= 0) return null;
  return (
    <p className="inside in-print">
      <strong>{counted(rows, "further row")} not printed.</strong> {where}
    </p>
  );
}
