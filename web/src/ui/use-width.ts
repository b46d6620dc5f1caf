import { useEffect, useRef, useState } from "react";

/** A box to put a drawing into, and how wide it is, in CSS pixels. */
export function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useEffect(() => {
    if (box.current === null) return;
    const watch = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    watch.observe(box.current);
    return () => {
      watch.disconnect();
    };
  }, []);
  return [box, width] as const;
}
