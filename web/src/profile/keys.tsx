import { type KeyList, showKeys, useKeyList } from "../ui/key-list";

const KEYS: KeyList = {
  title: "The graph",
  keys: [
    ["↑ ↓", "to the caller or the widest callee"],
    ["← →", "to the frame beside it"],
    ["Enter, click", "zoom in"],
    ["Shift + click", "choose without zooming"],
    ["Esc, Backspace", "zoom out to the next wider caller"],
    ["Home", "zoom out to everything"],
    ["Drag, scroll", "move up and down"],
  ],
};

/** A button to the list of keys, with those of the graph. */
export function Keys() {
  useKeyList(KEYS);
  return (
    <button type="button" className="button" onClick={showKeys}>
      Keys
    </button>
  );
}
