import { Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { activeFilters, DEFAULT_LIMIT, type ListName, listRequest, listSearch } from '../lib/filters.ts';
import { valueOf } from '../lib/search-params.ts';
import { useLive } from '../queries.ts';
import { t } from '../texts/index.ts';
import { useAddress, useSetAddress } from './address.ts';
import { downloadCsv } from './download-csv.ts';
import { type Field, ListFilters } from './list-filters.tsx';
import { Empty, Loaded } from './states.tsx';
import { type Column, DataTable } from './table.tsx';

interface ListPage<Row> {
  readonly items: readonly Row[];
  readonly total: number;
  readonly next_cursor?: string | undefined;
}

interface ListViewProps<Row> {
  readonly list: ListName;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Of a CSV file. By default, those of the page. */
  readonly csvColumns?: readonly Column<Row>[];
  readonly fields: readonly Field[];
  /** Without filters, there is nothing at all. */
  readonly empty: ReactNode;
}

/** A list of the API with its filters, its pages and its CSV file. */
export const ListView = <Row extends { readonly id: string }>(props: ListViewProps<Row>) => {
  const { list, label, columns, csvColumns = columns, fields, empty } = props;
  const search = listSearch(list, useAddress());
  const setAddress = useSetAddress();
  const query = useLive<ListPage<Row>>(listRequest(list, search), { keep: true });
  const isFiltered = Object.keys(activeFilters(list, search)).length > 0;
  return (
    <Stack>
      <ListFilters list={list} fields={fields} />
      <Loaded query={query} rows={8}>
        {({ items, total, next_cursor }) => (
          <Paper withBorder p="sm" aria-busy={query.isPlaceholderData}>
            {items.length === 0 && !isFiltered && empty}
            {items.length === 0 && isFiltered && (
              <Empty
                action={
                  <Button variant="default" onClick={() => setAddress({})}>
                    {t.list.clearAll}
                  </Button>
                }
              >
                {t.list.noMatch}
              </Empty>
            )}
            {items.length > 0 && <DataTable label={label} columns={columns} rows={items} />}
            {items.length > 0 && (
              <Pager list={list} count={items.length} total={total} next={next_cursor}>
                <Button variant="subtle" size="xs" onClick={() => downloadCsv(list, csvColumns, items)}>
                  {t.list.csv}
                </Button>
              </Pager>
            )}
          </Paper>
        )}
      </Loaded>
    </Stack>
  );
};

interface PagerProps {
  readonly list: ListName;
  readonly count: number;
  readonly total: number;
  readonly next: string | undefined;
  readonly children: ReactNode;
}

const LIMITS = ['25', '50', '100'];

const Pager = ({ list, count, total, next, children }: PagerProps) => {
  const search = listSearch(list, useAddress());
  const setAddress = useSetAddress();
  const { cursor, ...first } = search;
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Group gap="sm">
        <Text size="sm" role="status">
          {t.list.shown(count, total)}
        </Text>
        {children}
      </Group>
      <Group gap="xs">
        <NativeSelect
          size="xs"
          aria-label={t.list.sort}
          value={valueOf(search, 'sort') ?? 'desc'}
          onChange={(event) => setAddress({ ...first, sort: event.currentTarget.value })}
          data={[
            { value: 'desc', label: t.list.newestFirst },
            { value: 'asc', label: t.list.oldestFirst },
          ]}
        />
        <NativeSelect
          size="xs"
          aria-label={t.list.perPage}
          value={valueOf(search, 'limit') ?? String(DEFAULT_LIMIT)}
          onChange={(event) => setAddress({ ...first, limit: event.currentTarget.value })}
          data={LIMITS}
        />
        {cursor !== undefined && (
          <Button size="xs" variant="default" onClick={() => setAddress(first)}>
            {t.list.firstPage}
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          disabled={next === undefined}
          onClick={() => next !== undefined && setAddress({ ...search, cursor: next })}
        >
          {t.list.nextPage}
        </Button>
      </Group>
    </Group>
  );
};
