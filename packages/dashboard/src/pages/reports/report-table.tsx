import { Button, Group } from '@mantine/core';
import { t } from '../../texts/index.ts';
import { downloadCsv } from '../../ui/download-csv.ts';
import { type Column, DataTable } from '../../ui/table.tsx';

interface ReportTableProps<Row> {
  readonly label: string;
  /** The name of the CSV file. */
  readonly file: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** A table with a CSV file of its rows. */
export const ReportTable = <Row extends { readonly id: string }>({ file, ...table }: ReportTableProps<Row>) => (
  <>
    <DataTable {...table} />
    <Group mt="sm">
      <Button variant="subtle" size="xs" onClick={() => downloadCsv(file, table.columns, table.rows)}>
        {t.list.csv}
      </Button>
    </Group>
  </>
);
