import type { Profile } from "./decode";
import type { Changes, ViewState } from "./state";

/** What every part of the page is given. */
export interface TabProps {
  profile: Profile;
  state: ViewState;
  /** What is searched, while it is typed. */
  text: string;
  /** Sets values in the address; a new entry of the history unless `replace`. */
  change: (changes: Changes, replace?: boolean) => void;
  address: (changes: Changes) => string;
  /** Address of a function's instructions; null where its code was not kept. */
  instructions: (name: string) => string | null;
}
