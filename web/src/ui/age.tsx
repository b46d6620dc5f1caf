import { useEffect, useState } from "react";
import { age, stamp } from "../format/time";

const TICK_MS = 15_000;

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return now;
}

/** "12 min ago", with the full time on hover. */
export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={stamp(at)} className="nowrap">
      {age(at, now)}
    </time>
  );
}

/** The full local time. */
export function Stamp({ at }: { at: string }) {
  return (
    <time dateTime={at} className="nowrap">
      {stamp(at)}
    </time>
  );
}
