import { toCsv } from '../lib/csv.ts';
import type { Column } from './table.tsx';

/** Saves the rows that are shown. */
export const downloadCsv = <Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): void => {
  const shown = columns.filter(({ text }) => text !== undefined);
  const csv = toCsv([shown.map((column) => column.name), ...rows.map((row) => shown.map(({ text }) => text!(row)))]);
  const url = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(url);
};
