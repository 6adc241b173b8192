import type { CountTable, HashChainVerification } from '@cpg/event-sourcing';
import { hashChainReport, recount, rowReport } from './verify.ts';

const chains = (changes: Partial<HashChainVerification>): HashChainVerification => ({
  events: 9,
  faults: 0,
  shown: [],
  position: null,
  ...changes,
});
const fault = { stream: 'order-1', revision: 3, fault: 'its hash does not match its content' };

test.each<[string, HashChainVerification, string[]]>([
  ['no fault', chains({}), ['streams order-*, deletion-*: 9 events, all hash chains are intact']],
  [
    'a fault',
    chains({ faults: 1, shown: [fault] }),
    [
      'order-1, event 3: its hash does not match its content',
      'streams order-*, deletion-*: 1 of 9 events fail verification',
    ],
  ],
  [
    'more faults than are shown',
    chains({ faults: 3, shown: [fault] }),
    [
      'order-1, event 3: its hash does not match its content',
      'and 2 more',
      'streams order-*, deletion-*: 3 of 9 events fail verification',
    ],
  ],
])('the report of hash chains tells %s', (_, verification, lines) => {
  expect(hashChainReport(['order-', 'deletion-'], verification)).toEqual(lines);
});

const table = 'orders.orders';
const END = (differ: number) =>
  `orders.orders, orders.notes: ${differ} of 70 rows differ from the event store: keep a copy of both first, and find out why; "projections rebuild" replaces the rows`;

test.each<[string, Parameters<typeof rowReport>[1], string[]]>([
  [
    'that all match',
    { rows: 70, differ: 0, differences: [] },
    ['orders.orders, orders.notes: 70 rows, all match the event store'],
  ],
  [
    'each column that differs',
    {
      rows: 70,
      differ: 1,
      differences: [
        { table, id: 'a', live: { n: 1, m: 2, gone: null }, replayed: { n: 1, m: 3, gone: null, more: true } },
      ],
    },
    ['a: m is 2, expected 3 from the event store', 'a: more is absent, expected true from the event store', END(1)],
  ],
  [
    'rows that one side lacks',
    {
      rows: 70,
      differ: 2,
      differences: [
        { table, id: 'a', live: null, replayed: { n: 1 } },
        { table, id: 'b', live: { n: 1 }, replayed: null },
      ],
    },
    [
      'a: the row is missing in orders.orders',
      'b: the event store has nothing that results in this row of orders.orders',
      END(2),
    ],
  ],
  [
    'how many more differ than are shown',
    { rows: 70, differ: 53, differences: [{ table, id: 'a', live: null, replayed: {} }] },
    ['a: the row is missing in orders.orders', 'and 3 more', END(53)],
  ],
  ['no more where all are shown', { rows: 70, differ: 50, differences: [] }, [END(50)]],
])('the report of rows tells %s', (_, verification, lines) => {
  expect(rowReport(['orders.orders', 'orders.notes'], verification)).toEqual(lines);
});

test('rows are counted by day and in all, by keys and where asked', () => {
  const counts: CountTable = { name: 'order_counts', of: 'orders', keys: ['status', 'currency'] };
  const flat = (sql: string) => sql.replaceAll(/\s+/g, ' ');
  expect(flat(recount('orders', counts))).toBe(
    "select merchant_id, days.day, status, currency, count(*)::int as n from orders.orders cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day) where true group by merchant_id, days.day, status, currency",
  );
  expect(recount('orders', { ...counts, where: 'not deleted' })).toContain('where not deleted group by');
});
