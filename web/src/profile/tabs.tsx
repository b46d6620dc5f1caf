/** The ways to look at a case's profiles: two arms beside each other in five, all arms in one. */

import { Tabs } from "../ui/tabs";
import { ARMS_TAB, type Tab } from "./state";

const WORDS: Record<Tab | typeof ARMS_TAB, string> = {
  graph: "Graph",
  functions: "Functions",
  sandwich: "Callers and callees",
  instructions: "Instructions",
  exact: "Exact",
  [ARMS_TAB]: "All arms",
};

export type ProfileTab = keyof typeof WORDS;

interface Props {
  here: ProfileTab;
  /** Null where there is nothing of that kind. */
  address: (tab: ProfileTab) => string | null;
}

export function ProfileTabs({ here, address }: Props) {
  const tabs = (Object.keys(WORDS) as ProfileTab[]).flatMap((name) => {
    const to = address(name);
    return to === null ? [] : [{ name, to, text: WORDS[name] }];
  });
  return <Tabs label="Profile" tabs={tabs} here={here} />;
}
