import { AppError } from '@cpg/contracts';
import type { Decider } from '../decider.ts';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { commandHandler } from './command-handler.ts';
import { connectEventStore } from '../store/connect.ts';
import { eventHash, genesisHash } from '../store/recorded.ts';
import { tombstone } from '../store/append.ts';
import { stateAt } from './state-at.ts';
import { firstEvent, readStream } from '../store/stream.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

// A till: money goes in and out, and the sum is never negative.
const TillEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('PaidIn'), data: z.object({ amount: z.int(), by: z.string() }) }),
  z.object({ type: z.literal('PaidOut'), data: z.object({ amount: z.int() }) }),
]);
type TillEvent = z.infer<typeof TillEvent>;
type Till = { readonly sum: number; readonly by: readonly string[] };
type TillCommand = { type: 'PayIn'; amount: number; by: string } | { type: 'PayOut'; amount: number };

const till: Decider<Till, TillCommand, TillEvent> = {
  initial: { sum: 0, by: [] },
  decide: (command, { sum, by }) => {
    if (command.type === 'PayIn')
      return by.includes(command.by) ? [] : [{ type: 'PaidIn', data: { amount: command.amount, by: command.by } }];
    if (command.amount > sum) throw new AppError('order_state_conflict', 'the till has less than that');
    return [{ type: 'PaidOut', data: { amount: command.amount } }];
  },
  evolve: ({ sum, by }, { type, data }) =>
    type === 'PaidIn' ? { sum: sum + data.amount, by: [...by, data.by] } : { sum: sum - data.amount, by },
};

const context = { actor: 'test', requestId: 'req_1', correlationId: 'cor_1' };
const closing: (() => unknown)[] = [];
let client: EventStoreDBClient;
let url: string;
let serial = 0;

beforeAll(async () => {
  const store = await startTestStore();
  closing.push(store.stop);
  client = store.client;
  url = store.url;
});

afterAll(async () => {
  for (const close of closing) await close();
});

const handlerOn = (connected = client) =>
  commandHandler({
    client: connected,
    decider: till,
    schema: TillEvent,
    newEvent: TillEvent,
    streamOf: (id) => `till-${id}`,
  });
const newTill = () => `${process.pid}-${(serial += 1)}`;

test('concurrent commands of two processes on one stream are all recorded once', async () => {
  const id = newTill();
  const other = connectEventStore(url);
  const handlers = [handlerOn(), handlerOn(other)];
  const payIn = (n: number) =>
    handlers[n % 2]!.handle(id, { type: 'PayIn', amount: 1, by: `payer-${n % 20}` }, context);
  await Promise.all(Array.from({ length: 40 }, (_, n) => payIn(n)));
  const recorded = (await readStream(client, `till-${id}`, TillEvent))!;
  expect(recorded.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(new Set(recorded.map(({ event }) => (event.data as { by: string }).by)).size).toBe(20);
  await other.dispose();
});

test('the first event of a command holds what decides on repeats of its request, outside of the hash chain', async () => {
  const id = newTill();
  const idempotency = { requestHash: 'a', until: '2026-01-31T12:00:00.000Z' };
  await handlerOn().handle(id, { type: 'PayIn', amount: 5, by: 'a' }, context, { fresh: true, idempotency });
  await handlerOn().handle(id, { type: 'PayIn', amount: 5, by: 'b' }, context);
  const [first, second] = (await readStream(client, `till-${id}`, TillEvent))!;
  expect([first!.metadata.idempotency, second!.metadata.idempotency]).toEqual([idempotency, undefined]);
  expect(first!.metadata.hash).toBe(eventHash(first!));
  expect(await firstEvent(client, `till-${id}`, TillEvent)).toEqual(first);
  expect(await firstEvent(client, `till-${newTill()}`, TillEvent)).toBeNull();
  await tombstone(client, `till-${id}`);
  expect(await firstEvent(client, `till-${id}`, TillEvent)).toBe('deleted');
});

test('a command whose deadline has passed records nothing', async () => {
  const id = newTill();
  const payIn = { type: 'PayIn', amount: 1, by: 'Ada' } as const;
  const late = handlerOn().handle(id, payIn, { ...context, deadlineMs: performance.now() });
  await expect(late).rejects.toMatchObject({ code: 'overloaded' });
  expect(await readStream(client, `till-${id}`, TillEvent)).toEqual([]);
  const inTime = await handlerOn().handle(id, payIn, { ...context, deadlineMs: performance.now() + 60_000 });
  expect(inTime.revision).toBe(0);
});

test('a refusal is decided on the recorded state, not on a stale cache', async () => {
  const id = newTill();
  const [here, there] = [handlerOn(), handlerOn()];
  await here.handle(id, { type: 'PayIn', amount: 1, by: 'a' }, context);
  await there.handle(id, { type: 'PayIn', amount: 9, by: 'b' }, context);
  const { state } = await here.handle(id, { type: 'PayOut', amount: 10 }, context);
  expect(state.sum).toBe(0);
  await expect(there.handle(id, { type: 'PayOut', amount: 1 }, context)).rejects.toMatchObject({
    code: 'order_state_conflict',
  });
});

test('a command that changes nothing reads only the events after the cached ones', async () => {
  const id = newTill();
  const readFrom: unknown[] = [];
  const watched = connectEventStore(url);
  closing.unshift(() => watched.dispose());
  watched.readStream = (stream, options) => {
    readFrom.push(options?.fromRevision);
    return client.readStream(stream, options);
  };
  const [here, there] = [handlerOn(watched), handlerOn()];
  await here.handle(id, { type: 'PayIn', amount: 1, by: 'a' }, context, { fresh: true });
  expect(await here.handle(id, { type: 'PayIn', amount: 1, by: 'a' }, context)).toMatchObject({ events: [] });
  await there.handle(id, { type: 'PayIn', amount: 2, by: 'b' }, context);
  expect(await here.handle(id, { type: 'PayIn', amount: 2, by: 'b' }, context)).toMatchObject({
    state: { sum: 3 },
    revision: 1,
    events: [],
  });
  // Decided on a stale state, and again after the conflict.
  await there.handle(id, { type: 'PayIn', amount: 3, by: 'c' }, context);
  expect(await here.handle(id, { type: 'PayIn', amount: 4, by: 'd' }, context)).toMatchObject({ state: { sum: 10 } });
  expect(readFrom).toEqual([1n, 1n, 2n]);
});

test('every event records its actor, its request and the hash of its predecessor', async () => {
  const id = newTill();
  const handler = handlerOn();
  await handler.handle(id, { type: 'PayIn', amount: 5, by: 'a' }, context);
  await handler.handle(id, { type: 'PayOut', amount: 5 }, context, { causationId: 'evt_before' });
  const [first, second] = (await readStream(client, `till-${id}`, TillEvent))!;
  expect(first!.metadata).toMatchObject({
    actor: 'test',
    requestId: 'req_1',
    $correlationId: 'cor_1',
    $causationId: 'req_1',
    previousHash: genesisHash(`till-${id}`),
  });
  expect(second!.metadata).toMatchObject({ $causationId: 'evt_before', previousHash: first!.metadata.hash });
  expect(second!.metadata.hash).toBe(eventHash(second!));
});

test('a repeated request is recognised by every process, whatever happened in between', async () => {
  const id = newTill();
  const [here, there] = [handlerOn(), handlerOn()];
  await here.handle(id, { type: 'PayIn', amount: 9, by: 'a' }, context);
  const payOut = { type: 'PayOut', amount: 2 } as const;
  const request = { ...context, requestId: 'req_2' };
  const payOutOnce = (handler: typeof here, from = request) =>
    handler.handle(id, payOut, from, { oncePerRequest: true });
  expect(await Promise.all([here, here, there].map((handler) => payOutOnce(handler)))).toEqual(
    Array(3).fill(expect.objectContaining({ state: { sum: 7, by: ['a'] } })),
  );
  await there.handle(id, payOut, { ...context, requestId: 'req_3' });
  for (const handler of [here, there, handlerOn()])
    expect(await payOutOnce(handler)).toMatchObject({ state: { sum: 5 }, events: [] });
  expect((await payOutOnce(here, { ...context, requestId: 'req_4' })).state.sum).toBe(3);
});

test('a tombstoned stream refuses commands', async () => {
  const id = newTill();
  const handler = handlerOn();
  await handler.handle(id, { type: 'PayIn', amount: 5, by: 'a' }, context);
  await tombstone(client, `till-${id}`);
  await tombstone(client, `till-${id}`);
  await expect(handler.handle(id, { type: 'PayIn', amount: 5, by: 'b' }, context)).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(handlerOn().handle(id, { type: 'PayIn', amount: 5, by: 'b' }, context)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await readStream(client, `till-${id}`, TillEvent)).toBeNull();
});

test('an event that does not match the schema is named, and is no outage', async () => {
  const id = newTill();
  const loose = commandHandler({
    client,
    decider: { ...till, decide: () => [{ type: 'PaidIn', data: { amount: 'five' } } as unknown as TillEvent] },
    schema: z.any(),
    newEvent: z.any(),
    streamOf: (of) => `till-${of}`,
  });
  await handlerOn().handle(id, { type: 'PayIn', amount: 5, by: 'a' }, context);
  await loose.handle(id, { type: 'PayIn', amount: 5, by: 'b' }, context);
  const unreadable = { name: 'UnreadableEventError', stream: `till-${id}`, revision: 1 };
  await expect(handlerOn().load(id)).rejects.toMatchObject(unreadable);
  await expect(handlerOn().handle(id, { type: 'PayOut', amount: 1 }, context)).rejects.toMatchObject(unreadable);
  await expect(readStream(client, `till-${id}`, TillEvent)).rejects.toMatchObject(unreadable);
});

test('a fault of `evolve` is named, is no outage, and records nothing', async () => {
  const id = newTill();
  await handlerOn().handle(id, { type: 'PayIn', amount: 5, by: 'a' }, context);
  const broken: typeof till = {
    ...till,
    evolve: (state, event) => {
      if (event.type === 'PaidOut') throw new TypeError('a bug');
      return till.evolve(state, event);
    },
  };
  const options = { client, schema: TillEvent, newEvent: TillEvent, streamOf: (of: string) => `till-${of}` };
  const handler = commandHandler({ ...options, decider: broken });
  await expect(handler.handle(id, { type: 'PayOut', amount: 1 }, context)).rejects.toThrow('a bug');
  expect(await readStream(client, `till-${id}`, TillEvent)).toHaveLength(1);

  await handlerOn().handle(id, { type: 'PayOut', amount: 1 }, context);
  const unreadable = { name: 'UnreadableEventError', stream: `till-${id}`, revision: 1 };
  await expect(commandHandler({ ...options, decider: broken }).load(id)).rejects.toMatchObject(unreadable);
  const states = stateAt({ client, decider: broken, schema: TillEvent });
  const [, paidOut] = (await readStream(client, `till-${id}`, TillEvent))!;
  await expect(states.after(paidOut!)).rejects.toMatchObject(unreadable);
});
