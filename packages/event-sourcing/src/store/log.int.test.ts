import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import { endOfLog, readLog, type ReadLogOptions } from './log.ts';
import type { LogPosition } from './recorded.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

let store: Awaited<ReturnType<typeof startTestStore>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  store = await startTestStore();
  client = store.client;
});
afterAll(() => store.stop());

const append = async (stream: string, count: number) => {
  await client.appendToStream(
    stream,
    Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} })),
  );
  return (await endOfLog(client))!;
};
/** Reads the log. Resolves to the batches of streams that were handled, and the positions that were reported. */
const read = async (from: LogPosition | null, prefixes: string[], changes: Partial<ReadLogOptions> = {}) => {
  const batches: string[][] = [];
  const reached: string[] = [];
  const position = await readLog(client, {
    from,
    prefixes,
    signal: new AbortController().signal,
    handle: async (events) => void batches.push(events.map(({ event }) => `${event!.streamId}#${event!.revision}`)),
    onHandled: ({ commit }) => void reached.push(commit),
    ...changes,
  });
  return { batches, reached, position };
};

test('an empty log has no end, and nothing to read', async () => {
  expect(await endOfLog(client)).toBeNull();
  expect(await read(null, ['a-'])).toEqual({ batches: [], reached: [], position: null });
});

test('reads the streams of its prefixes, and reaches the end of the log', async () => {
  await append('a-1', 2);
  await append('b-1', 1);
  await append('c-1', 1);
  const end = await append('ab-1', 1);
  const { batches, reached, position } = await read(null, ['a-', 'c-']);
  expect(batches).toEqual([['a-1#0', 'a-1#1', 'c-1#0']]);
  expect([reached, position]).toEqual([[end.commit], end]);
  expect(end.event).toMatchObject({ stream: 'ab-1' });
});

test('begins at the entry of a position, which it reads again', async () => {
  const from = await append('d-1', 1);
  await append('d-1', 1);
  expect((await read(from, ['d-'])).batches).toEqual([['d-1#0', 'd-1#1']]);
});

test('a log without further entries keeps its position', async () => {
  const end = await append('e-1', 1);
  const { batches, position } = await read(end, ['never-']);
  expect([batches, position]).toEqual([[], end]);
});

test('reads so many entries of any stream', async () => {
  const from = await append('i-1', 1);
  await append('j-1', 1);
  await append('i-1', 1);
  expect((await read(from, ['i-'], { maxCount: 2 })).batches).toEqual([['i-1#0']]);
});

test('ends with the reason of its signal, before and while it reads', async () => {
  const reason = new Error('stopped');
  await expect(read(null, ['a-'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const stopping = new AbortController();
  const handle = async () => stopping.abort(reason);
  await append('k-1', 600);
  await expect(read(null, ['k-'], { signal: stopping.signal, handle })).rejects.toBe(reason);
});

test('a handler that fails ends the read', async () => {
  const fault = new Error('a bug');
  await expect(read(null, ['a-'], { handle: () => Promise.reject(fault) })).rejects.toBe(fault);
});

test('a log that cannot be read is an outage of the event store', async () => {
  const nowhere = connectEventStore('esdb://127.0.0.1:1?tls=false&maxDiscoverAttempts=1');
  await expect(endOfLog(nowhere)).rejects.toMatchObject({ code: 'dependency_unavailable', dependency: 'eventstore' });
  await nowhere.dispose();
});
