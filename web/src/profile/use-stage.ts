import { useLayoutEffect, useRef } from "react";
import type { Scene } from "./figure";
import { Stage } from "./stage";

/** Elements of a drawing, and the stage that they make once they are there. */
export function useStage(scene: Scene, zoom: number, chosen: number) {
  const box = useRef<HTMLDivElement>(null);
  const tall = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const hoveredRing = useRef<HTMLDivElement>(null);
  const chosenRing = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage>(null);

  useLayoutEffect(() => {
    const [outer, inner, drawing] = [box.current, tall.current, canvas.current];
    const [hovered, ring] = [hoveredRing.current, chosenRing.current];
    if (!outer || !inner || !drawing || !hovered || !ring) return;
    const made = new Stage({ box: outer, tall: inner, canvas: drawing, hovered, chosen: ring });
    stage.current = made;
    const watch = new ResizeObserver(() => {
      made.resized();
    });
    watch.observe(outer);
    // Letters are measured, and the page's font may come after the first drawing.
    const fontsCame = () => {
      made.paint();
    };
    document.fonts.addEventListener("loadingdone", fontsCame);
    return () => {
      watch.disconnect();
      document.fonts.removeEventListener("loadingdone", fontsCame);
    };
  }, []);

  useLayoutEffect(() => {
    stage.current?.show(scene, zoom);
    stage.current?.ring("hovered", null);
  }, [scene, zoom]);

  useLayoutEffect(() => {
    stage.current?.ring("chosen", chosen);
  }, [scene, zoom, chosen]);

  return { box, tall, canvas, hoveredRing, chosenRing, stage };
}
