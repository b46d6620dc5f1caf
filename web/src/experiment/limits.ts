/** A matrix of more rows scrolls in a box of its own and renders only what is in sight. */
export const PLAIN_UP_TO_ROWS = 40;
/** Of so many rows paper is read; more of them are said to be missing, and have a file. */
export const PRINTED_ROWS = 400;
