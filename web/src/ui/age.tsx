import { useEffect, useState } from "react";
import { age, inBoth, minute, stamp } from "../format/time";

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

/** "12 min ago, 2026-07-17 14:03": what is printed or copied has its date. */
export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={inBoth(at)} className="age">
      <span className="nowrap">{age(at, now)}</span>
      <span className="apart">, </span>
      <span className="at nowrap">{minute(at)}</span>
    </time>
  );
}

/** The full local time. */
export function Stamp({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inBoth(at)} className="nowrap">
      {stamp(at)}
    </time>
  );
}
