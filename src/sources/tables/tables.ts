import type { OpenStore, Row } from "../contract.ts";

/** Whether the database has this table or view with all of `columns`. */
export function hasTable(store: OpenStore, table: string, columns: readonly string[] = []): boolean {
  const known = new Set(columnsOf(store, table));
  return known.size > 0 && columns.every((column) => known.has(column));
}

/** The columns of a table in order; empty if it does not exist. */
export function columnsOf(store: OpenStore, table: string): string[] {
  return [...store.rows("SELECT name FROM pragma_table_info(?)", table)].map(({ name }) => String(name));
}

/** A row's non-empty columns as JSON. Binary values are replaced by their size. */
export function rowText(row: Row): string {
  const value: Row = {};
  for (const [column, cell] of Object.entries(row)) {
    if (cell === null || cell === undefined) continue;
    if (cell instanceof Uint8Array) value[column] = { bytes: cell.length };
    else value[column] = typeof cell === "bigint" ? Number(cell) : cell;
  }
  return JSON.stringify(value);
}
