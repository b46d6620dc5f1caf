/** A matrix of more rows scrolls in a box of its own and renders only what is in sight. */
export const PLAIN_UP_TO_ROWS = 40;
