/** An arm's mark: colour and shape say the same, so that neither is needed alone. */

export const ARM_COLOURS = 6;

function outline(index: number, r: number): string {
  const d = r * 1.25;
  switch (index % ARM_COLOURS) {
    case 0:
      return `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    case 1:
      return `M${-r * 0.9} ${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`;
    case 2:
      return `M0 ${-d}L${d} 0 0 ${d} ${-d} 0z`;
    case 3:
      return `M0 ${-d}L${d} ${r}H${-d}z`;
    case 4:
      return `M0 ${d}L${d} ${-r}H${-d}z`;
    default:
      return `M${-r} ${-d}h${2 * r}l${r * 0.6} ${d}-${r * 0.6} ${d}h${-2 * r}l${-r * 0.6} ${-d}z`;
  }
}

interface ShapeProps {
  /** Place of the arm among the comparison's arms. */
  arm: number;
  x: number;
  y: number;
  radius?: number;
  /** Whether the boot takes part in the comparison; if not: hollow and crossed. */
  counts: boolean;
}

export function Shape({ arm, x, y, radius = 5, counts }: ShapeProps) {
  const bar = radius * 0.5;
  const colour = `var(--arm-${arm % ARM_COLOURS})`;
  return (
    <g transform={`translate(${x} ${y})`}>
      <path
        d={outline(arm, radius)}
        fill={counts ? colour : "var(--surface)"}
        stroke={colour}
        strokeWidth={1.5}
      />
      {!counts && (
        <path
          d={`M${-bar} ${-bar}L${bar} ${bar}M${-bar} ${bar}L${bar} ${-bar}`}
          stroke={colour}
          strokeWidth={1.25}
        />
      )}
    </g>
  );
}

/** The mark by itself, for legends and tables. */
export function ArmMark({ arm, counts = true }: { arm: number; counts?: boolean }) {
  return (
    <svg className="arm-mark" width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">
      <Shape arm={arm} x={0} y={0} counts={counts} />
    </svg>
  );
}
