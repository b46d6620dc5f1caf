/** The keys of every page, and the list of them behind a button and the question mark. */

import { useEffect, useRef } from "react";
import { type KeyList, SHOW_KEYS, showKeys, useKeyLists } from "./key-list";
import { useKey } from "./use-key";
import { useRowKeys } from "./use-rows";

const EVERYWHERE: KeyList = {
  title: "Every page",
  keys: [
    ["j, k", "to the next row of a list, to the row before"],
    ["Enter", "open the row"],
    ["/", "search"],
    ["?", "this list"],
  ],
};

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const lists = useKeyLists();
  useRowKeys();
  useKey("?", showKeys, { last: true });
  useEffect(() => {
    const show = () => {
      if (!dialog.current?.open) dialog.current?.showModal();
    };
    window.addEventListener(SHOW_KEYS, show);
    return () => {
      window.removeEventListener(SHOW_KEYS, show);
    };
  }, []);
  return (
    <>
      <button type="button" className="link" aria-keyshortcuts="?" onClick={showKeys}>
        Keys
      </button>
      <dialog className="keys" ref={dialog} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        {[...new Set([...lists, EVERYWHERE])].map(({ title, keys }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl className="facts">
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <form method="dialog">
          <button type="submit" className="button">
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}
