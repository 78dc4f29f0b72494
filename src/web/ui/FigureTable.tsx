import { type ReactNode, useState } from "react";
import { t } from "../text/text.ts";
import "./figures.css";

/** Number of rows that are shown before the user asks for all. */
const FIRST_ROWS = 200;

/** A table of figures. The first column contains names, the others numbers. Renders nothing if there are no rows. */
export function FigureTable({
  caption,
  heads,
  rows,
}: {
  caption: string;
  heads: readonly string[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}): ReactNode {
  const [all, setAll] = useState(false);
  if (rows.length === 0) return null;
  const shown = all ? rows : rows.slice(0, FIRST_ROWS);
  const numeric = (column: number): string | undefined => (column > 0 ? "figure-number" : undefined);
  return (
    <div className="figure-scroll">
      <table className="figure-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th key={head} scope="col" className={numeric(column)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, column) => (
                <td key={heads[column]} className={numeric(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          {t.common.allRows(rows.length)}
        </button>
      )}
    </div>
  );
}
