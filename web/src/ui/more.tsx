interface MoreProps {
  /** Fetches the next ones; null where there are none. */
  more: (() => void) | null;
  busy: boolean;
  children: string;
}

/** The button below a list that has more than is shown. */
export function More({ more, busy, children }: MoreProps) {
  if (more === null) return null;
  return (
    <p className="inside">
      <button type="button" className="button" disabled={busy} onClick={more}>
        {children}
      </button>
    </p>
  );
}
