import type { Queryable } from '@cpg/platform/postgres';
import { encodeTime } from 'ulid';
import { deliveryById, listDeliveries, listReplays, replayById } from './delivery-queries.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');
const WEBHOOK = { id: 'whk_1', url: 'https://[2001:db8::1]:8443/hooks', is_enabled: true };
const idOf = (last: string) => `dlv_${encodeTime(AT.getTime())}${last.padStart(16, '0')}`;

/** A database that answers each statement with the next rows, and keeps the values. */
const databaseOf = (...answers: object[][]) => {
  const statements: unknown[][] = [];
  const query = async (statement: { values?: unknown[] }, values = statement.values ?? []) => {
    statements.push(values);
    return { rows: answers.shift() ?? [] };
  };
  return { db: { query } as unknown as Queryable, statements };
};

const DELIVERY = {
  ...{
    id: idOf('1'),
    webhook_id: 'whk_1',
    event_id: 'evt_1',
    event_type: 'order:paid',
    status: 'delivered',
    attempts: 2,
  },
  ...{ next_attempt_at: null, updated_at: null },
};
const SHOWN = {
  ...{ id: idOf('1'), webhook_id: 'whk_1', event_id: 'evt_1', event_type: 'order:paid', status: 'delivered' },
  ...{ attempt_count: 2, created_at: AT.toISOString() },
};

describe('a page of deliveries', () => {
  const LIST = { page: 3, limit: 2, sort: 'desc' } as const;
  const listed = async (more: object, rows: object[] = [{ id: null, total: '0' }]) => {
    const { db, statements } = databaseOf(rows);
    return { page: await listDeliveries(db, 'whk_1', { ...LIST, ...more }), values: statements[0] };
  };

  test('asks for the filters, the place and one more row', async () => {
    const { values } = await listed({ status: ['failed'], event_type: 'order:paid', sort: 'asc' });
    expect(values).toEqual(['whk_1', 'order:paid', ['failed'], ...Array<undefined>(4), true, 4, 3]);
  });

  test.each([
    ['both ends', { from_date: AT, to_date: AT }, [AT.getTime(), AT.getTime() + 1]],
    ['times before 1970', { from_date: new Date(-5), to_date: new Date(-5) }, [0, 0]],
    ['no end', { from_date: AT }, [AT.getTime(), undefined]],
  ])('of a range includes %s', async (_, dates, times) => {
    const { values } = await listed(dates);
    expect(values!.slice(4, 6)).toEqual(times.map((ms) => (ms === undefined ? ms : `dlv_${encodeTime(ms)}`)));
  });

  test('shows its rows, the total, and a cursor that continues after the last one', async () => {
    const rows = ['1', '2', '3'].map((last) => ({ ...DELIVERY, id: idOf(last), total: '7' }));
    const { page } = await listed({ page: 1 }, rows);
    expect(page).toMatchObject({ items: [SHOWN, { id: idOf('2') }], total: 7, count: 2, totalPages: 4 });
    const { values } = await listed({ page: 1, cursor: page.next_cursor });
    expect(values![6]).toBe(idOf('2'));
  });

  test('past the end has the total alone', async () => {
    expect((await listed({}, [{ id: null, total: '7' }])).page).toMatchObject({ items: [], total: 7 });
  });
});

describe('a delivery', () => {
  const ATTEMPT = { number: 1, outcome: 'delivered', started_at: AT, duration_ms: 12 };
  const attemptOf = (more: object) => ({ ...ATTEMPT, status_code: null, error: null, response: null, ...more });
  const found = async (
    row: object | null,
    attempts: object[] = [],
    query: { limit: number; cursor?: string } = { limit: 2 },
  ) => {
    const { db, statements } = databaseOf(
      row ? [{ ...DELIVERY, day: '2026-01-31', body: null, ...row }] : [],
      attempts,
    );
    return { delivery: await deliveryById(db, WEBHOOK, idOf('1'), query), statements };
  };

  test('that is unknown is null, and asks for no attempts', async () => {
    const { delivery, statements } = await found(null);
    expect([delivery, statements]).toEqual([null, [['whk_1', idOf('1')]]]);
  });

  test('shows only what it has', async () => {
    expect((await found({})).delivery).toEqual({ ...SHOWN, attempts: [] });
    const later = new Date(AT.getTime() + 5);
    const full = { body: '{"event":"order:paid"}', next_attempt_at: later, updated_at: later };
    const attempts = [
      attemptOf({ status_code: 500, error: 'connect to 10.1.2.3 and 2001:db8::1 failed', response: 'down' }),
    ];
    expect((await found(full, attempts)).delivery).toEqual({
      ...SHOWN,
      ...{ next_attempt_at: later.toISOString(), updated_at: later.toISOString(), payload: { event: 'order:paid' } },
      attempts: [
        {
          ...{ ...ATTEMPT, started_at: AT.toISOString(), status_code: 500, response: 'down' },
          error: 'connect to (internal address) and 2001:db8::1 failed',
        },
      ],
    });
  });

  test.each([
    [2, false],
    [3, true],
  ])('with %i attempts on a page of two has a cursor: %s', async (count, hasCursor) => {
    const attempts = Array.from({ length: count }, (_, n) => attemptOf({ number: n, started_at_us: `${n}7` }));
    const { delivery, statements } = await found({}, attempts);
    expect(delivery!.attempts.map(({ number }) => number)).toEqual([0, 1]);
    expect(statements[1]).toEqual([idOf('1'), '2026-01-31', null, 3]);
    if (!hasCursor) return expect(delivery).not.toHaveProperty('next_cursor');
    const next = await found({}, [], { limit: 2, cursor: delivery!.next_cursor! });
    expect(next.statements[1]).toEqual([idOf('1'), '2026-01-31', '17', 3]);
  });
});

describe('a replay', () => {
  const ROW = {
    ...{
      id: 'rpl_1',
      created_at: AT,
      from_at: AT,
      to_at: AT,
      event_types: ['order:paid'],
      events: 3,
      deferred: ['ord_1'],
    },
    ...{ reached_order: null, finished_at: null, canceled_at: null },
  };
  const at = AT.toISOString();
  const REPLAY = {
    ...{ id: 'rpl_1', webhook_id: 'whk_1', from_date: at, to_date: at, event_types: ['order:paid'], created_at: at },
    ...{ queued_events: 3, deferred_orders: 1 },
  };
  const replayOf = async (row: object, isEnabled = true) =>
    replayById(databaseOf([{ ...ROW, ...row }]).db, { id: 'whk_1', is_enabled: isEnabled }, 'rpl_1');

  test.each<[string, object, boolean, object]>([
    ['running', {}, true, {}],
    ['paused', {}, false, {}],
    ['done', { finished_at: AT }, false, { ended_at: at }],
    ['canceled', { finished_at: AT, canceled_at: AT }, true, { ended_at: at }],
    ['running', { reached_order: '2026-01-30 ord_1' }, true, { reached_date: '2026-01-30' }],
  ])('is %s with %j', async (status, row, isEnabled, shown) => {
    expect(await replayOf(row, isEnabled)).toEqual({ ...REPLAY, status, ...shown });
  });

  test('is listed like it is shown', async () => {
    const { db } = databaseOf([{ ...ROW, total: 1, created_at_us: '1' }]);
    const { items, total } = await listReplays(db, WEBHOOK, { page: 1, limit: 10, sort: 'asc' });
    expect([items, total]).toEqual([[{ ...REPLAY, status: 'running' }], 1]);
  });

  test('that is unknown is null', async () => {
    expect(await replayById(databaseOf([]).db, WEBHOOK, 'rpl_1')).toBeNull();
  });
});
