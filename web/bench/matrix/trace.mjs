// Processor time of a page's main thread by frame. Unlike the clock it hardly sees what else
// the machine is doing.

const CATEGORIES = "toplevel,devtools.timeline";

/** Runs `work`; gives back its result and the milliseconds of processor time of each frame. */
export async function traced(page, work) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { categories: CATEGORIES, transferMode: "ReportEvents" });
  const result = await work();
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  return { result, frames: framesOf(events) };
}

/** Tasks of the main thread, summed up from each animation frame to the next. */
function framesOf(events) {
  const begun = events.filter((event) => event.name === "FireAnimationFrame");
  const main = begun[0];
  if (main === undefined) throw new Error("the trace has no animation frame");
  const onMain = (event) => event.pid === main.pid && event.tid === main.tid;
  const starts = begun.filter(onMain).map((event) => event.ts);
  starts.sort((x, y) => x - y);
  const frames = starts.map(() => 0);
  for (const event of events) {
    if (!onMain(event) || event.ph !== "X" || !event.name.endsWith("::RunTask")) continue;
    const at = starts.findLastIndex((start) => start <= event.ts + event.dur);
    if (at >= 0) frames[at] += (event.tdur ?? 0) / 1_000;
  }
  return frames;
}

/** A function that gives the milliseconds of processor time that the main thread has had so far. */
export async function busyWith(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    await session.send("Performance.disable");
    return (metrics.find((metric) => metric.name === "TaskDuration")?.value ?? NaN) * 1_000;
  };
}
