// What the bench does within the page. Each function is sent there as it stands: it uses
// nothing from outside of itself.

/** Notes when the first row of the matrix has been painted. */
export function prepare() {
  globalThis.firstRowsAt = 0;
  const watch = new MutationObserver(() => {
    if (document.querySelector(".matrix tbody th[scope=row]") === null) return;
    watch.disconnect();
    // The next frame paints what is there; a task after it runs when that is done.
    requestAnimationFrame(() => {
      setTimeout(() => {
        globalThis.firstRowsAt = performance.now();
      });
    });
  });
  watch.observe(document, { childList: true, subtree: true });
}

/** Scrolls steadily through a part of the rows, then jumps about; milliseconds of each frame. */
export async function scrollThrough() {
  const box = document.querySelector(".matrix-box[data-large]") ?? document.scrollingElement;
  const deepest = box.scrollHeight - box.clientHeight;
  const steady = Array.from({ length: 240 }, (_, i) => Math.min(deepest, i * 150));
  const jumps = Array.from({ length: 60 }, (_, i) => ((i * 37) % 60) * (deepest / 60));
  const frames = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let before = await frame();
  for (const top of [...steady, ...jumps]) {
    box.scrollTop = top;
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  return frames;
}

/** Milliseconds from a letter typed into the filter to the rows that fit it. */
export async function typeLetter() {
  const field = document.querySelector(".filters input[type=search]");
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const begun = performance.now();
  write.call(field, "udp");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - begun;
}

/** Frames of a page that does nothing: what the machine's other work adds to any. */
export async function idle() {
  const frames = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let before = await frame();
  for (let i = 0; i < 300; i++) {
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  return frames;
}
