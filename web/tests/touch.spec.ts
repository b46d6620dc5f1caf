/** On a phone: what is to be touched is large enough, no text is too small, nothing lies beyond. */

import { expect, expectNothingBeyond, open, test } from "./world";

test.use({ viewport: { width: 400, height: 900 }, hasTouch: true, isMobile: true });

const SMALLEST_TARGET = 24;
const SMALLEST_TEXT = 12;

for (const name of [
  ...["home", "experiments", "experiment", "case", "boot", "hosts", "host", "flame graph"],
  ...["series list", "series", "weekly list", "weekly", "regressions", "regression", "trends"],
  ...["bisections", "jobs", "kernels", "requests", "new experiment", "new bisection", "compare"],
  ...["exact counts", "prices"],
])
  test(`${name}: targets of ${SMALLEST_TARGET} px and text of ${SMALLEST_TEXT} px`, async ({
    page,
    world,
  }) => {
    const more: Record<string, string> = {
      home: "/",
      regressions: "/regressions",
      regression: "/regressions/7",
      trends: "/regressions?tab=trends",
      bisections: "/regressions?tab=bisections",
      jobs: "/fleet?tab=jobs",
      kernels: "/fleet?tab=kernels",
      requests: "/series?tab=requests&show=all",
      "new experiment": "/experiments?tab=new&spec=lab-demo",
      "new bisection": "/regressions?tab=new-bisection&regression=7",
      compare: "/experiments?tab=compare&a=1&b=2",
      prices: "/fleet?tab=prices&open=amd-26-2-1",
      "exact counts": `${world.profiled.path}&tab=exact&fn=do_syscall_64`,
    };
    await open(page, more[name] ?? world.paths[name] ?? "/no/such/page");
    await page.waitForLoadState("networkidle");
    const found = await page.evaluate(
      ([target, text]) => {
        const words = (element: Element) =>
          `${element.tagName} ${(element.textContent.trim() === "" ? (element.getAttribute("aria-label") ?? "") : element.textContent).trim().slice(0, 40)}`;
        const shown = (element: Element) => element.getClientRects().length > 0;
        const small = [...document.querySelectorAll("a, button, select, input, summary, textarea")]
          .filter((each) => each instanceof HTMLElement && shown(each))
          .filter((each) => !each.matches(".skip, .visually-hidden"))
          // A label around a small box is touched instead of it.
          .filter(
            (each) =>
              Math.round((each.closest("label") ?? each).getBoundingClientRect().height) < target,
          )
          .map((each) => `${words(each)} ${Math.round(each.getBoundingClientRect().height)} px`);
        const tiny = [...document.querySelectorAll("main *")]
          .filter((each) => each.children.length === 0 && each.textContent.trim() !== "")
          .filter(shown)
          .filter((each) => parseFloat(getComputedStyle(each).fontSize) < text)
          .map((each) => `${words(each)} ${getComputedStyle(each).fontSize}`);
        return { small: [...new Set(small)], tiny: [...new Set(tiny)] };
      },
      [SMALLEST_TARGET, SMALLEST_TEXT] as const,
    );
    expect(found).toEqual({ small: [], tiny: [] });
    await expectNothingBeyond(page);
  });
