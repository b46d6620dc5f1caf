import { expect, test } from "vitest";
import { age, secondsBetween, stamp } from "./time";

const now = Date.parse("2026-07-17T12:00:00Z");

test("an age is rounded to what matters", () => {
  expect(age("2026-07-17T11:59:58Z", now)).toBe("just now");
  expect(age("2026-07-17T11:48:00Z", now)).toBe("12 min ago");
  expect(age("2026-07-14T12:00:00Z", now)).toBe("3 d ago");
});

test("a host's clock ahead of ours is not an age in the future", () => {
  expect(age("2026-07-17T12:00:20Z", now)).toBe("just now");
});

test("a duration needs both its ends", () => {
  expect(secondsBetween("2026-07-17T12:00:00Z", "2026-07-17T12:01:14Z")).toBe(74);
  expect(secondsBetween("2026-07-17T12:00:00Z", null)).toBeNull();
});

test("a stamp sorts as text", () => {
  expect(stamp("2026-07-17T12:00:00Z")).toMatch(/^2026-07-1\d \d\d:00:00$/);
});
