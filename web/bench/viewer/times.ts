/** Milliseconds of one page's life: the first painting is of a cold page. */
export interface Times {
  /** From bytes to frames in order; d3-flame-graph is given its objects ready. */
  decode: number;
  /** The graph alone, from frames in memory. */
  first: number;
  /** The graph with all that the page has around it. */
  page: number;
  zoom: number[];
  search: number[];
}
