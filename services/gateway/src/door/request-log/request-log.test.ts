import { createLogger, createServiceMetrics } from '@cpg/platform';
import type { LoggedRequest } from './logged-requests.ts';
import { createRequestLog, type RequestLogOptions } from './request-log.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const requestOf = (id: string): LoggedRequest => ({
  ...{ id, merchant_id: 'mer_1', api_key_id: 'key_1', user_id: null, method: 'GET', path: '/v1/orders', status: 200 },
  ...{ code: null, duration_ms: 3, address: '203.0.113.7', created_at: new Date(0) },
});
const unavailable = Object.assign(new Error('the database starts'), { code: '57P03' });

/** A log whose batches are kept, by the ids in them. `fail` is thrown by the writes to come. */
const startLog = (options: Partial<RequestLogOptions> = {}) => {
  const metrics = createServiceMetrics({ totals: () => ({}) });
  const batches: string[][] = [];
  const state: { fail?: Error } = {};
  const write = async (requests: readonly LoggedRequest[]) => {
    if (state.fail) throw state.fail;
    batches.push(requests.map(({ id }) => id));
  };
  const requestLog = createRequestLog({ write, metrics, log, everyMs: 60_000, ...options });
  const record = (...ids: string[]) => ids.forEach((id) => requestLog.record(requestOf(id)));
  const dropped = async () => (await metrics.getSingleMetric('request_log_dropped_total')!.get()).values[0]!.value;
  return { ...requestLog, batches, state, record, dropped };
};

test('writes what waits when it stops, in batches', async () => {
  const { record, stop, batches, dropped } = startLog({ maxBatch: 2 });
  record('a', 'b', 'c');
  expect(batches).toEqual([]);
  await stop();
  await stop();
  expect(batches).toEqual([['a', 'b'], ['c']]);
  expect(await dropped()).toBe(0);
});

test('writes at intervals', async () => {
  let written = (_: string[]) => {};
  const writing = new Promise<string[]>((done) => (written = done));
  const { record, stop } = startLog({
    everyMs: 1,
    write: async (requests) => written(requests.map(({ id }) => id)),
  });
  record('a');
  expect(await writing).toEqual(['a']);
  await stop();
});

test('drops and counts requests when too many wait', async () => {
  const { record, stop, batches, dropped } = startLog({ maxWaiting: 2 });
  record('a', 'b', 'c', 'd');
  expect(await dropped()).toBe(2);
  await stop();
  expect(batches).toEqual([['a', 'b']]);
  record('e');
  await stop();
  expect(batches).toEqual([['a', 'b'], ['e']]);
});

test('retries a batch after an outage of the database', async () => {
  let begun = () => {};
  const beginning = new Promise<void>((done) => (begun = done));
  let isUnavailable = true;
  const { record, stop, batches, dropped } = startLog({
    everyMs: 1,
    write: async (requests) => {
      begun();
      if (isUnavailable) throw unavailable;
      batches.push(requests.map(({ id }) => id));
    },
  });
  record('a');
  await beginning;
  isUnavailable = false;
  record('b');
  await stop();
  expect(batches.flat()).toEqual(['a', 'b']);
  expect(await dropped()).toBe(0);
});

test('drops and counts a batch that the database refuses, and writes the next', async () => {
  const { record, stop, state, batches, dropped } = startLog();
  state.fail = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
  record('a', 'b');
  await stop();
  expect(await dropped()).toBe(2);
  delete state.fail;
  record('c');
  await stop();
  expect(batches).toEqual([['c']]);
});

test('counts what an unavailable database does not take at the end', async () => {
  const { record, stop, state, dropped } = startLog();
  state.fail = unavailable;
  record('a', 'b');
  await stop();
  expect(await dropped()).toBe(2);
});
