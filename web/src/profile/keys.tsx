import { useRef } from "react";
import { useKey } from "../ui/use-key";

const KEYS: [string, string][] = [
  ["↑ ↓", "to the caller or the widest callee"],
  ["← →", "to the frame beside it"],
  ["Enter, click", "zoom in"],
  ["Shift + click", "choose without zooming"],
  ["Esc, Backspace", "zoom out to the next wider caller"],
  ["Home", "zoom out to everything"],
  ["Drag, scroll", "move up and down"],
  ["/", "search"],
  ["?", "this list"],
];

/** The list of keys, behind a button and the question mark. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => {
    if (!dialog.current?.open) dialog.current?.showModal();
  };
  useKey("?", show);
  return (
    <>
      <button type="button" className="button" onClick={show}>
        Keys
      </button>
      <dialog className="keys" ref={dialog} aria-labelledby="keys">
        <h2 id="keys">Keys of the graph</h2>
        <dl className="facts">
          {KEYS.map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit" className="button">
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}
