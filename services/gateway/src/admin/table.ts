import { printable } from '@cpg/platform';

/** Formats rows of text as aligned columns under a header. */
export const table = (header: readonly string[], cells: readonly (readonly string[])[]): string => {
  const rows = cells.map((row) => row.map(onOneLine));
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

// Text of a merchant must not look like another row.
const onOneLine = (cell: string) => printable(cell.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
