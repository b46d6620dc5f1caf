import type { MouseEvent } from "react";
import { useLocation } from "wouter";

/**
 * Follows the plain links within an element without loading the page anew. For tables of many
 * links: each of wouter's own listens to the address, which is most of what a row costs.
 */
export function useFollow(): (event: MouseEvent) => void {
  const [, navigate] = useLocation();
  return (event) => {
    const wanted = event.metaKey || event.ctrlKey || event.altKey || event.shiftKey;
    if (event.defaultPrevented || event.button !== 0 || wanted) return;
    if (!(event.target instanceof Element)) return;
    const path = event.target.closest("a[href]")?.getAttribute("href");
    if (typeof path !== "string" || !path.startsWith("/")) return;
    event.preventDefault();
    navigate(path);
  };
}
