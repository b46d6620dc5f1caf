import type { WeeklyTable } from "../api/types";
import { Line } from "./line";

export function Figures({ table, name }: { table: WeeklyTable; name: string }) {
  return (
    <table className="list stack" aria-label={table.caption || name}>
      <thead>
        <tr>
          {table.columns.map((column) => (
            <th scope="col" key={column.title} className={column.right ? "num" : undefined}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, place) => {
              const column = table.columns[place];
              return place === 0 ? (
                <th scope="row" key={place}>
                  <Line line={cell} />
                </th>
              ) : (
                <td
                  key={place}
                  data-label={column?.title}
                  className={column?.right ? "num" : undefined}
                >
                  <span>
                    <Line line={cell} />
                  </span>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
