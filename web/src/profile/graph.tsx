/** The graph: a canvas to look at and walk on, and the words for the frame one stands on. */

import {
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
} from "react";
import type { Meta } from "./decode";
import type { Scene } from "./figure";
import { walk, wider, type Step } from "./layout";
import { Inspector, Name } from "./inspector";
import { pathTo, type Tree } from "./tree";
import { useStage } from "./use-stage";
import { costText, differenceText, fateOf, frameInWords, qText } from "./words";

interface GraphProps {
  scene: Scene;
  meta: Meta;
  label: string;
  zoom: number;
  zoomTo: (node: number) => void;
  /** The frame to stand on while nobody has chosen another; the zoomed one where absent. */
  aim?: Aim | null;
  sandwich: (name: string) => string;
  /** Is told which function somebody stands on, once they stay there. */
  chose?: ((name: string) => void) | undefined;
  /** Address of a function's instructions; null where its code was not kept. */
  instructions?: ((name: string) => string | null) | undefined;
}

/** A frame to stand on, as long as this one is zoomed. */
export interface Aim {
  zoom: number;
  node: number;
}

const DRAG_FROM_PX = 4;
const STAYS_MS = 150;

/** Up is away from the root in a flame graph and towards it in an icicle graph. */
const STEPS: Record<Scene["view"], Record<string, Step>> = {
  flame: { ArrowUp: "callee", ArrowDown: "caller", ArrowLeft: "left", ArrowRight: "right" },
  icicle: { ArrowUp: "caller", ArrowDown: "callee", ArrowLeft: "left", ArrowRight: "right" },
};

export function Graph(props: GraphProps) {
  const { scene, meta, label, zoom, zoomTo, aim, sandwich, chose, instructions } = props;
  const { figure, view } = scene;
  const { tree, layout, names } = figure;
  const [picked, pick] = useState<(Aim & { tree: Tree }) | null>(null);
  const [hover, setHover] = useState<{ node: number; x: number; y: number } | null>(null);
  const drag = useRef<{ from: number; scroll: number; moved: boolean } | null>(null);
  // Another tree has other frames, and who zooms means the zoomed frame.
  const isPicked = picked !== null && picked.tree === tree && picked.zoom === zoom;
  const aimed = aim?.zoom === zoom ? aim.node : zoom;
  const chosen = isPicked ? picked.node : aimed;
  const { box, tall, canvas, hoveredRing, chosenRing, stage } = useStage(scene, zoom, chosen);

  const standing = isPicked ? (names[tree.symbol[picked.node] ?? 0] ?? "") : "";
  const tell = useEffectEvent((name: string) => chose?.(name));
  useEffect(() => {
    if (standing === "") return;
    const timer = setTimeout(() => {
      tell(standing);
    }, STAYS_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [standing]);

  const choose = (node: number) => {
    pick({ tree, zoom, node });
    stage.current?.reveal(node);
  };
  const zoomInto = (node: number) => {
    pick({ tree, zoom: node, node });
    zoomTo(node);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const step = STEPS[view][event.key];
    if (step !== undefined) choose(walk(tree, layout, chosen, step));
    else if (event.key === "Enter") zoomInto(chosen);
    else if (event.key === "Escape" || event.key === "Backspace")
      zoomInto(wider(tree, layout, zoom));
    else if (event.key === "Home") zoomInto(0);
    else return;
    event.preventDefault();
  };
  const pressed = (event: PointerEvent) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    drag.current = { from: event.clientY, scroll: box.current?.scrollTop ?? 0, moved: false };
  };
  const moved = (event: PointerEvent) => {
    const held = drag.current;
    if (held !== null && event.buttons === 1) {
      const by = event.clientY - held.from;
      held.moved ||= Math.abs(by) >= DRAG_FROM_PX;
      if (held.moved) stage.current?.scrollTo(held.scroll - by);
    }
    const node = stage.current?.at(event.clientX, event.clientY) ?? null;
    stage.current?.ring("hovered", node);
    setHover(node === null ? null : { node, x: event.clientX, y: event.clientY });
  };
  const clicked = (event: React.MouseEvent) => {
    const dragged = drag.current?.moved === true;
    drag.current = null;
    const node = stage.current?.at(event.clientX, event.clientY) ?? null;
    if (dragged || node === null) return;
    if (event.shiftKey || node === zoom) choose(node);
    else zoomInto(node);
  };
  const left = () => {
    stage.current?.ring("hovered", null);
    setHover(null);
  };

  return (
    <>
      <Ancestors figure={figure} label={label} zoom={zoom} zoomTo={zoomInto} />
      <div
        className="flame"
        ref={box}
        role="application"
        aria-roledescription="flame graph"
        aria-label={label}
        aria-description="Arrow keys walk, Enter zooms in, Escape zooms out. The table of functions has the same figures."
        tabIndex={0}
        onKeyDown={keys}
        onScroll={() => stage.current?.paint()}
        onPointerDown={pressed}
        onPointerMove={moved}
        onPointerLeave={left}
        onClick={clicked}
      >
        <div className="flame-tall" ref={tall}>
          <canvas ref={canvas} />
          <div className="ring" data-kind="hovered" ref={hoveredRing} hidden />
          <div className="ring" data-kind="chosen" ref={chosenRing} hidden />
        </div>
      </div>
      <p className="visually-hidden" role="status">
        {frameInWords(tree, chosen, names[tree.symbol[chosen] ?? 0] ?? "", meta.unit, figure.whole)}
      </p>
      {hover !== null && <Tip figure={figure} meta={meta} {...hover} />}
      <Inspector {...{ figure, meta, label, sandwich, instructions }} node={chosen} />
    </>
  );
}

interface AncestorProps {
  figure: Scene["figure"];
  label: string;
  zoom: number;
  zoomTo: (node: number) => void;
}

/** From the root to the zoomed frame; each takes one back. */
function Ancestors({ figure, label, zoom, zoomTo }: AncestorProps) {
  const { tree, names } = figure;
  const path = useMemo(() => pathTo(tree, zoom), [tree, zoom]);
  return (
    <nav className="ancestors" aria-label={`Zoomed frame and its callers. ${label}`}>
      <ol>
        {path.map((node) => (
          <li key={node}>
            <button
              type="button"
              aria-current={node === zoom ? "location" : undefined}
              onClick={() => {
                zoomTo(node);
              }}
            >
              <Name>{names[tree.symbol[node] ?? 0] ?? ""}</Name>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

const TIP_ROOM_PX = 340;

interface TipProps {
  figure: Scene["figure"];
  meta: Meta;
  node: number;
  x: number;
  y: number;
}

/** Beside the pointer; the inspector says the same of the chosen frame to everyone. */
function Tip({ figure, meta, node, x, y }: TipProps) {
  const { tree, names } = figure;
  const [a, b] = [tree.a[node] ?? NaN, tree.b[node] ?? NaN];
  const [low, high] = [tree.low[node] ?? NaN, tree.high[node] ?? NaN];
  const right = x + TIP_ROOM_PX > window.innerWidth;
  const below = y > window.innerHeight / 2;
  const fate = fateOf(tree, node);
  return (
    <div
      className="tip flame-tip"
      aria-hidden="true"
      style={{
        ...(right ? { right: Math.max(8, window.innerWidth - x + 12) } : { left: x + 12 }),
        ...(below ? { bottom: window.innerHeight - y + 12 } : { top: y + 16 }),
      }}
    >
      <strong>
        <Name>{names[tree.symbol[node] ?? 0] ?? ""}</Name>
      </strong>
      {fate !== null && <div>{fate}</div>}
      <div>
        A {costText(a, meta.unit)}, B {costText(b, meta.unit)}
      </div>
      <div>{differenceText(b - a, low, high, meta.unit)}</div>
      <div className="soft">q {qText(tree.q[node] ?? NaN)}</div>
    </div>
  );
}
