/** Times of day and ages. The API speaks UTC; a person reads local time. */

import { duration } from "./quantity";

/** How long before `now` it was: "12 min ago", "just now". Milliseconds in. */
export function age(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  return seconds < 10 ? "just now" : `${duration(seconds)} ago`;
}

/** Seconds between two times of the API; null while one is missing. */
export function secondsBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000;
}

const two = (n: number) => String(n).padStart(2, "0");

/** 14:03:22 in local time. */
export function clock(at: string): string {
  const t = new Date(at);
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
}

/** 2026-07-17 in local time. */
export function day(at: string): string {
  const t = new Date(at);
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
}

/** 2026-07-17 14:03 in local time. */
export function minute(at: string): string {
  return stamp(at).slice(0, "2026-07-17 14:03".length);
}

/** The full time as the reader's clock has it, and as logs have it. */
export function inBoth(at: string): string {
  const utc = new Date(at).toISOString().replace("T", " ").slice(0, "2026-07-17 14:03:22".length);
  return `${stamp(at)} (${utc} UTC)`;
}

/** 2026-07-17 14:03:22 in local time. */
export function stamp(at: string): string {
  return `${day(at)} ${clock(at)}`;
}
