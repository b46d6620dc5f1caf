/** The one door to the API: typed calls, and every failure as an ApiError. */

import createClient from "openapi-fetch";
import type { paths } from "./schema";
import type { Problem } from "./types";

export const api = createClient<paths>({ baseUrl: "" });

/** Why a call gave nothing. `status` is 0 when the service did not answer at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "message" in body && "error" in body;
}

/** The data of a call, or an ApiError that says what the service said. */
export async function data<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  let answer;
  try {
    answer = await call;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError(0, "The service does not answer.", "Start it with: mitigauge serve");
  }
  const { error, response } = answer;
  if (response.ok && answer.data !== undefined) return answer.data;
  if (isProblem(error)) throw new ApiError(response.status, error.message, error.hint);
  throw new ApiError(
    response.status,
    `The service answered ${response.status} without saying why.`,
    response.status >= 500 ? "Its own log says more." : "",
  );
}
