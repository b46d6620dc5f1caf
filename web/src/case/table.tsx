import { Link } from "wouter";
import type { Arm, BootPoint, Row } from "../api/types";
import { commonScale, counted, listed, quantity } from "../format/quantity";
import { clock, stamp } from "../format/time";
import { TakenAgain } from "../ui/taken-again";
import { BootTag } from "../ui/tag";
import { hasOutcome } from "../words";
import { ArmMark } from "./shape";

interface TableProps {
  row: Row;
  arms: Arm[];
  points: BootPoint[];
}

/** The chart's twin: every boot and every iteration as numbers. */
export function BootTable({ row, arms, points }: TableProps) {
  const scale = commonScale(
    points.flatMap((p) => [...p.iterations, ...p.warmup, ...p.disturbed]),
    row.unit,
  );
  const begun = points.filter((p) => p.state !== "planned" && p.state !== "skipped");
  const planned = points.filter((p) => p.state === "planned").length;
  const skipped = points.filter((p) => p.state === "skipped").length;
  if (begun.length === 0) return <p className="inside faint">{planned} planned, none begun.</p>;
  return (
    <>
      <table className="list stack boot-table">
        <thead>
          <tr>
            <th scope="col">Boot</th>
            <th scope="col" className="num">
              Block
            </th>
            <th scope="col" className="num">
              Place
            </th>
            <th scope="col">Arm</th>
            <th scope="col">State</th>
            <th scope="col" className="num">
              Mean
            </th>
            <th scope="col">Iterations{scale.label === "" ? "" : `, ${scale.label}`}</th>
            <th scope="col">Warm-up</th>
            <th scope="col">Measured</th>
          </tr>
        </thead>
        <tbody>
          {begun
            .toSorted((a, b) => a.block - b.block || a.order - b.order)
            .map((p) => (
              <tr key={p.boot_id}>
                <th scope="row" className="nowrap">
                  <Link to={`/boots/${p.boot_id}`}>boot {p.boot_id}</Link>
                </th>
                <td className="num" data-label="Block">
                  {p.block}
                </td>
                <td className="num" data-label="Place">
                  {p.order}
                </td>
                <td data-label="Arm">
                  <span className="nowrap">
                    <ArmMark
                      arm={arms.findIndex((arm) => arm.id === p.arm_id)}
                      counts={p.counts || !hasOutcome(p.state)}
                    />{" "}
                    <span className="mono">{p.arm}</span>
                  </span>
                </td>
                <td data-label="State">
                  <div className="buttons">
                    <BootTag state={p.state} />
                    {hasOutcome(p.state) && !p.counts && (
                      <span className="faint small">does not count</span>
                    )}
                  </div>
                </td>
                <td className="num" data-label="Mean">
                  {p.mean === null ? (
                    <span className="faint">no value</span>
                  ) : (
                    quantity(p.mean, row.unit, scale)
                  )}
                </td>
                <td className="raw-values" data-label="Iterations">
                  <div>
                    {listed(p.iterations, scale)}
                    <TakenAgain values={p.disturbed} scale={scale} />
                  </div>
                </td>
                <td className="raw-values faint" data-label="Warm-up">
                  {listed(p.warmup, scale)}
                </td>
                <td className="nowrap" data-label="Measured">
                  {p.at === null ? (
                    <span className="faint">not yet</span>
                  ) : (
                    <time dateTime={p.at} title={stamp(p.at)}>
                      {clock(p.at)}
                    </time>
                  )}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      {planned > 0 && <p className="inside faint">{counted(planned, "boot")} still planned.</p>}
      {skipped > 0 && <p className="inside faint">{counted(skipped, "planned boot")} skipped.</p>}
    </>
  );
}
