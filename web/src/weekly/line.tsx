import { Link } from "wouter";
import type { WeeklySpan } from "../api/types";

/** A line of the report: its words as they are, marked and linked. */
export function Line({ line }: { line: readonly WeeklySpan[] }) {
  return line.map((span, at) => <Words key={at} span={span} />);
}

function Words({ span }: { span: WeeklySpan }) {
  const { href, tone, text } = span;
  const words = href === "" ? text : <Link to={href}>{text}</Link>;
  if (tone === "") return words;
  return (
    <span className="weekly-tone" data-tone={tone}>
      {words}
    </span>
  );
}
