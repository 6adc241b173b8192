import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** The same in a CSV file. Without it, the column is left out there. */
  readonly text?: ((row: Row) => string) | undefined;
  readonly align?: 'right';
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** A table that becomes a list of cards on a phone. */
export const DataTable = <Row extends { readonly id: string }>({ label, columns, rows }: DataTableProps<Row>) => (
  <div className="table-frame">
    <Table className="rows" aria-label={label} highlightOnHover verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ name, align }) => (
            <Table.Th key={name} ta={align} scope="col">
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.id}>
            {columns.map(({ name, cell, align }) => (
              <Table.Td key={name} data-label={name} ta={align}>
                {inOnePiece(cell(row))}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </div>
);

/** On a phone, a cell is a row of its name and one thing. A cell without content stays empty, and is not shown. */
const inOnePiece = (content: ReactNode): ReactNode =>
  content === undefined || content === null || content === false || content === '' ? null : <div>{content}</div>;
