/** Every picture, matrix and flame graph is kept as SVG and PNG, and its figures as CSV; a table as CSV. */

import { readFile } from "node:fs/promises";
import type { Locator, Page } from "@playwright/test";
import { expect, expectAccessible, open, test } from "./world";

interface Kept {
  name: string;
  content: Buffer;
}

async function kept(page: Page, button: Locator): Promise<Kept> {
  const coming = page.waitForEvent("download");
  await button.click();
  const file = await coming;
  return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
}

/** Lines of a file whose cells hold no line end, each as its cells without their quotes. */
function cellsOf({ content }: Kept): string[][] {
  const lines = content.toString("utf8").split("\r\n");
  expect(lines.at(-1)).toBe("");
  return lines
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?<=^|,)(?:"((?:[^"]|"")*)"|([^,"]*))(?=,|$)/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
}

const PNG = "\u0089PNG";

async function keepFigures(page: Page, group: Locator) {
  await expect(group.getByRole("button")).toHaveCount(1);
  return cellsOf(await kept(page, group.getByRole("button", { name: "CSV", exact: true })));
}

/** Keeps it in all three forms; gives back the SVG's text and the CSV's cells. */
async function keepAll(page: Page, group: Locator) {
  const svg = await kept(page, group.getByRole("button", { name: "SVG", exact: true }));
  expect(svg.name).toMatch(/^mitigauge-[a-z0-9-]+\.svg$/);
  const png = await kept(page, group.getByRole("button", { name: "PNG", exact: true }));
  expect(png.content.subarray(0, 4).toString("latin1")).toBe(PNG);
  expect(png.content.length).toBeGreaterThan(1_000);
  const csv = await kept(page, group.getByText("CSV", { exact: true }));
  expect(csv.name).toMatch(/\.csv$/);
  return { svg: svg.content.toString("utf8"), csv: cellsOf(csv) };
}

test("the boots of a case", async ({ page, world }) => {
  await open(page, world.paths.case ?? "");
  const group = page.getByRole("group", { name: `Save as, ${world.row.case}: ` }).first();
  const { svg, csv } = await keepAll(page, group);
  expect(svg).toContain(world.row.case);
  const [head, ...rows] = csv;
  expect(head?.at(-1)).toBe(`${world.row.metric} (${world.row.unit})`);
  // A boot's mean has no number of an iteration; a cell's mean is that of such boots.
  const means = rows.filter((row) => row.at(-2) === "").map((row) => row.at(-1));
  const of = (await (
    await page.request.get(
      `/api/experiments/${world.recorded.id}/cases/${world.row.case_id}?host=${world.row.host}`,
    )
  ).json()) as { points: Record<string, { mean: number | null; state: string }[]> };
  const measured = (of.points[world.row.metric] ?? []).flatMap(({ mean }) =>
    mean === null ? [] : [String(mean)],
  );
  expect(new Set(means.filter((mean) => mean !== ""))).toEqual(new Set(measured));
  expect(rows.length).toBeGreaterThan(means.length);
});

test("what was read of the host beside a case", async ({ page, world }) => {
  const row = world.recorded.comparisons[0]?.rows[0];
  await open(page, `/experiments/${world.recorded.id}/cases/${row?.case_id}?host=${row?.host}`);
  const panel = page.getByRole("region", { name: "Beside the case" });
  const group = panel.getByRole("group", { name: /: Processors busy$/ });
  const { svg, csv } = await keepAll(page, group);
  expect(svg).toContain("Processors busy");
  expect(svg).toMatch(/<path[^>]* d="M/);
  expect(csv[0]?.slice(0, 2)).toEqual(["arm", "second (s)"]);
  expect(csv[0]?.[2]).toBe("mean of boots (%)");
  expect(csv.length).toBeGreaterThan(3);
});

test("the curve of a case, and not the mark of an arm", async ({ page, world }) => {
  const row = world.desktops.comparisons[0]?.rows[0];
  await open(page, `/experiments/${world.desktops.id}/cases/${row?.case_id}?host=${row?.host}`);
  const panel = page.locator("section[aria-labelledby='details-curve']");
  const { svg, csv } = await keepAll(page, panel.getByRole("group", { name: /^Save as/ }));
  expect(Number(/<svg[^>]* width="(\d+)"/.exec(svg)?.[1])).toBeGreaterThan(300);
  expect(svg).toContain("sessions");
  expect(csv[0]?.slice(0, 3)).toEqual(["arm", "mode", "sessions"]);
  expect(csv.length).toBeGreaterThan(2);
});

test("a matrix, whole", async ({ page, world }) => {
  await open(page, `/experiments/${world.recorded.id}`);
  const [comparison] = world.recorded.comparisons;
  const panel = page.getByRole("region", { name: comparison?.family_title ?? "" }).first();
  const { svg, csv } = await keepAll(page, panel.getByRole("group", { name: /^Save as/ }));
  for (const row of comparison?.rows.filter((each) => !each.counter) ?? [])
    expect(svg).toContain(row.case);
  for (const arm of comparison?.arms ?? []) expect(svg).toContain(`>${arm.name}`);
  expect(svg).toContain("emulated");
  const [head, ...rows] = csv;
  expect(head).toContain("effect_percent");
  const cells = world.recorded.comparisons.flatMap(({ rows: each }) =>
    each.flatMap((row) => row.cells),
  );
  expect(rows).toHaveLength(cells.length);
});

test("the line of a series", async ({ page }) => {
  await open(page, "/series/vmscape-bhb");
  const panel = page.getByRole("region", { name: "The line", exact: true });
  const csv = await keepFigures(page, panel.getByRole("group", { name: /^Save as/ }));
  const at = csv[0]?.indexOf("revision") ?? -1;
  expect(new Set(csv.slice(1).map((row) => row[at])).size).toBeGreaterThan(1);
  await expectAccessible(page);
});

test("two experiments as one matrix", async ({ page, world }) => {
  await open(page, `/experiments?tab=compare&a=${world.recorded.id}&b=${world.again.id}`);
  const panel = page.getByRole("region", { name: "Rows" });
  const csv = await keepFigures(page, panel.getByRole("group", { name: /^Save as/ }));
  expect(csv[0]).toContain("difference (%)");
  expect(csv[0]).toContain("B verdict");
  for (const row of csv) expect(row).toHaveLength(csv[0]?.length ?? 0);
});

test("the candidates of a bisection", async ({ page }) => {
  const [first] = (await (await page.request.get("/api/bisections")).json()) as { id: number }[];
  await open(page, `/bisections/${first?.id}`);
  const panel = page.getByRole("region", { name: "Candidates" });
  const csv = await keepFigures(page, panel.getByRole("group", { name: /^Save as/ }));
  expect(csv[0]?.slice(0, 4)).toEqual(["position", "change", "name", "probability"]);
});

test("a trend", async ({ page, request }) => {
  const answers = () => request.get("/api/trends/1").then((answer) => answer.ok());
  await expect.poll(answers, { timeout: 45_000 }).toBe(true);
  await open(page, "/trends/1");
  const panel = page.getByRole("region", { name: "Values", exact: true });
  const { svg, csv } = await keepAll(page, panel.getByRole("group", { name: /^Save as/ }));
  const trend = (await (await request.get("/api/trends/1")).json()) as {
    unit: string;
    values: { value: number }[];
  };
  expect(svg).toContain(`hosts: `);
  const at = csv[0]?.indexOf(`value (${trend.unit})`) ?? -1;
  expect(csv.slice(1).map((row) => row[at])).toEqual(trend.values.map((of) => String(of.value)));
});

test("a flame graph, each of its stacks", async ({ page, world }) => {
  await open(page, world.profiled.path);
  const csv = await kept(page, page.getByRole("button", { name: "CSV", exact: true }));
  const [head, ...rows] = cellsOf(csv);
  expect(head?.[0]).toBe("stack");
  expect(head?.[1]).toMatch(/^A: off/);
  expect(rows.some((row) => row[0]?.includes(";"))).toBe(true);
  const picture = await kept(page, page.getByRole("button", { name: "PNG", exact: true }));
  expect(picture.content.subarray(0, 4).toString("latin1")).toBe(PNG);
});

test("the callers of a function, and its callees", async ({ page, world }) => {
  await open(page, `${world.profiled.path}&tab=functions`);
  await page.getByRole("table").last().getByRole("link").first().click();
  await expect(page).toHaveURL(/tab=sandwich/);
  for (const [place, part] of ["callers", "callees"].entries()) {
    const svg = await kept(page, page.getByRole("button", { name: "SVG" }).nth(place));
    expect(svg.name).toMatch(new RegExp(`^mitigauge-${part}-of-`));
    expect(svg.content.toString("utf8")).toMatch(new RegExp(`${part} of `, "i"));
    const csv = await kept(page, page.getByRole("button", { name: "CSV" }).nth(place));
    expect(cellsOf(csv)[0]?.[0]).toBe("stack");
  }
  // For other programs there are the stacks as they were sampled, with the graph.
  await expect(page.getByRole("button", { name: "speedscope" })).toHaveCount(0);
});

test("text that a spreadsheet would run is only text in the file", async ({ page }) => {
  await page.route("**/api/series/vmscape-bhb/line", async (route) => {
    const line = (await (await route.fetch()).json()) as { rows: { case: string }[] };
    for (const row of line.rows) row.case = "=HYPERLINK(1)";
    await route.fulfill({ json: line });
  });
  await open(page, "/series/vmscape-bhb");
  const panel = page.getByRole("region", { name: "The line", exact: true });
  const csv = cellsOf(await kept(page, panel.getByRole("button", { name: "CSV", exact: true })));
  const at = csv[0]?.indexOf("case") ?? -1;
  for (const row of csv.slice(1)) expect(row[at]).toBe("'=HYPERLINK(1)");
});
