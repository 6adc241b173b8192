import { AppError } from '@cpg/contracts';
import type { CallContext, Logger } from '@cpg/platform';
import { z } from 'zod';
import type { Decider } from '../decider.ts';
import { AT, memoryStore } from '../testing/jest-memory-store.ts';
import { afterRecording, commandHandler, type HandleOptions, withFactLog } from './command-handler.ts';
import { recentEvents } from './state-at.ts';

const Added = z.object({ type: z.literal('Added'), data: z.object({ n: z.int(), at: z.string() }) });
type Added = z.infer<typeof Added>;
const added = (n: number): Added => ({ type: 'Added', data: { n, at: AT } });

/** Adds numbers to a sum that never passes a limit. */
type Command = { readonly add: readonly number[]; readonly limit?: number };
const sums: Decider<number, Command, Added> = {
  initial: 0,
  decide: ({ add, limit = Infinity }, sum) => {
    if (sum + add.reduce((total, n) => total + n, 0) > limit) throw new AppError('order_state_conflict', 'too much');
    return add.map(added);
  },
  evolve: (sum, { data }) => sum + data.n,
};

const contextOf = (requestId = 'req_1'): CallContext => ({ actor: 'test', requestId, correlationId: 'cor_1' });

/** A store of sums and a handler on it. `beforeAppend` sees the number of each append, and runs right before it. */
const start = (beforeAppend: (attempt: number, store: ReturnType<typeof memoryStore>) => void = () => {}) => {
  const store = memoryStore();
  const { client } = store;
  const appendToStream = client.appendToStream.bind(client);
  client.appendToStream = async (...args: Parameters<typeof appendToStream>) => {
    beforeAppend(store.appends() + 1, store);
    return appendToStream(...args);
  };
  const recent = recentEvents<number, Added>();
  const options = {
    client,
    decider: sums,
    schema: Added,
    newEvent: Added,
    streamOf: (id: string) => `sum-${id}`,
    recent,
  };
  const handler = commandHandler(options);
  const add = (add: readonly number[], options?: HandleOptions & { limit?: number }, context = contextOf()) =>
    handler.handle('1', { add, ...(options?.limit !== undefined && { limit: options.limit }) }, context, options);
  return { ...store, recent, handler, add, another: () => commandHandler(options) };
};

describe('a conflict with another process', () => {
  const conflictIn = (attempts: number) =>
    start((attempt, { record }) => {
      if (attempt <= attempts) record('sum-1', added(100));
    });

  test('is decided again on the events of the other one', async () => {
    const { add, appends, reads } = conflictIn(1);
    expect(await add([1])).toMatchObject({ state: 101, revision: 1, events: [{ revision: 1 }] });
    expect(appends()).toBe(2);
    expect(reads).toEqual(['sum-1 0+32', 'sum-1 0+32']);
  });

  test('is decided again at most eleven times', async () => {
    const { add, appends, eventsOf } = conflictIn(11);
    expect(await add([1])).toMatchObject({ state: 1101 });
    expect(appends()).toBe(12);
    expect(eventsOf('sum-1')).toHaveLength(12);
  });

  test('ends the command after twelve attempts', async () => {
    const { add, appends } = conflictIn(Infinity);
    await expect(add([1])).rejects.toMatchObject({ code: 'concurrent_update' });
    expect(appends()).toBe(12);
  });

  test('may lead to a refusal', async () => {
    const { add, appends } = conflictIn(1);
    await expect(add([1], { limit: 50 })).rejects.toMatchObject({ code: 'order_state_conflict' });
    expect(appends()).toBe(1);
  });

  test('does not let the deadline pass: the first append may have taken effect', async () => {
    const context = { ...contextOf(), deadlineMs: Infinity };
    const { add } = start((attempt, { record }) => {
      if (attempt === 1) record('sum-1', added(100));
      context.deadlineMs = 0;
    });
    expect(await add([1], {}, context)).toMatchObject({ state: 101 });
    await expect(add([1], {}, context)).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('reads', () => {
  test.each([
    ['a fresh stream without a read', true, []],
    ['any other one first', false, ['sum-1 0+32']],
  ])('%s', async (_, fresh, expected) => {
    const { add, reads } = start();
    expect(await add([1], { fresh })).toMatchObject({ state: 1 });
    expect(reads).toEqual(expected);
  });

  test('a stream that was thought fresh, once it is not', async () => {
    const { add, record, reads } = start();
    record('sum-1', added(5), added(6));
    expect(await add([1], { fresh: true })).toMatchObject({ state: 12, revision: 2 });
    expect(reads).toEqual(['sum-1 0+32']);
  });

  test('nothing after an own append', async () => {
    const { add, reads, handler } = start();
    await add([1]);
    expect(await add([2])).toMatchObject({ state: 3, revision: 1 });
    expect(await handler.load('1')).toMatchObject({ state: 3, revision: 1 });
    expect(reads).toHaveLength(1);
  });

  test('nothing again after a command that changed nothing', async () => {
    const { add, record, reads, handler } = start();
    record('sum-1', added(5));
    expect(await add([])).toMatchObject({ state: 5, events: [] });
    expect(await handler.load('1')).toMatchObject({ state: 5, revision: 0 });
    expect(reads).toEqual(['sum-1 0+32']);
  });

  test('the whole stream after an eviction', async () => {
    const { add, record, reads, handler } = start();
    await add([1]);
    record('sum-1', added(5));
    expect(await handler.load('1')).toMatchObject({ state: 1 });
    handler.evict('1');
    expect(await handler.load('1')).toMatchObject({ state: 6, revision: 1, hash: 'hash 1' });
    expect(reads).toEqual(['sum-1 0+32', 'sum-1 0+32']);
  });
});

test('a deleted stream is not found', async () => {
  const { client, add, handler } = start();
  await client.tombstoneStream('sum-1');
  await expect(handler.load('1')).rejects.toMatchObject({ code: 'not_found' });
  await expect(add([1])).rejects.toMatchObject({ code: 'not_found' });
  await expect(add([1], { fresh: true })).rejects.toMatchObject({ code: 'not_found' });
});

test('a stream that does not exist is empty', async () => {
  expect(await start().handler.load('1')).toMatchObject({ state: 0, revision: -1 });
});

test('several events are one append, and each has the state after it', async () => {
  const { add, appends, recent, eventsOf } = start();
  expect(await add([1, 2, 3])).toMatchObject({ state: 6, revision: 2 });
  expect(appends()).toBe(1);
  expect([0, 1, 2].map((revision) => recent.stateAfter('sum-1', revision))).toEqual([1, 3, 6]);
  expect(recent.find({ event: eventsOf('sum-1')[1] } as never)).toMatchObject({ state: 3, recorded: { revision: 1 } });
});

test('an invalid event records nothing', async () => {
  const { add, appends } = start();
  await expect(add([1, 1.5])).rejects.toThrow();
  expect(appends()).toBe(0);
});

test('a caller that refuses the append is answered so, and nothing is recorded', async () => {
  const { add, appends } = start();
  const refusal = new Error('the lease ended');
  const beforeAppend = () => {
    throw refusal;
  };
  await expect(add([1], { beforeAppend })).rejects.toBe(refusal);
  expect(appends()).toBe(0);
});

describe('commands at the same moment', () => {
  test('of one stream run one after another', async () => {
    const { add, appends, handler } = start();
    await Promise.all([1, 2, 3, 4, 5].map((n) => add([n])));
    expect(appends()).toBe(5);
    expect(await handler.load('1')).toMatchObject({ state: 15 });
  });

  test('run on after one that failed', async () => {
    const { add } = start();
    const all = await Promise.allSettled([add([9], { limit: 1 }), add([1])]);
    expect(all).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: { state: 1 } }]);
  });

  test('of other streams do not wait', async () => {
    const { client, handler } = start();
    const append = client.appendToStream.bind(client);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    client.appendToStream = async (...args: Parameters<typeof append>) => {
      if (args[0] === 'sum-1') await held;
      return append(...args);
    };
    const first = handler.handle('1', { add: [1] }, contextOf());
    expect(await handler.handle('2', { add: [2] }, contextOf())).toMatchObject({ state: 2 });
    release();
    expect(await first).toMatchObject({ state: 1 });
  });
});

describe('a command once per request', () => {
  const once = { oncePerRequest: true };

  test('changes nothing again, and repeats without this option do', async () => {
    const { add } = start();
    await add([1], once);
    expect(await add([1], once)).toMatchObject({ state: 1, events: [] });
    expect(await add([1])).toMatchObject({ state: 2 });
    expect(await add([1], once, contextOf('req_2'))).toMatchObject({ state: 3 });
  });

  // Each request may record several events.
  test.each([
    [999, 'is remembered', 0],
    [1_000, 'is forgotten', 1],
  ])('after %i other requests it %s', async (others, _, events) => {
    const { add, record } = start();
    record('sum-1', { ...added(0), metadata: { requestId: 'req_1' } });
    for (let n = 0; n < others; n += 1)
      record('sum-1', ...[1, 2].map(() => ({ ...added(0), metadata: { requestId: `other_${n}` } })));
    expect((await add([1], once)).events).toHaveLength(events);
  });
});

test('each recorded event that has a sentence is logged, with the ids of its stream', async () => {
  const { handler, add } = start();
  const lines: unknown[] = [];
  const logged = withFactLog(handler, {
    sentences: { Added: 'a number was added' },
    fieldsOf: (id, state) => ({ id, state }),
    log: { info: (...line: unknown[]) => void lines.push(line) } as unknown as Logger,
  });
  await logged.handle('1', { add: [1, 2] }, contextOf('req_7'));
  await logged.handle('1', { add: [] }, contextOf());
  const line = [{ id: '1', state: 3, requestId: 'req_7' }, 'a number was added'];
  expect(lines).toEqual([line, line]);
  const silent = withFactLog(handler, { sentences: {}, fieldsOf: () => ({}), log: {} as Logger });
  expect(await silent.handle('1', { add: [4] }, contextOf())).toMatchObject({ state: 7 });
  expect(await add([1])).toMatchObject({ state: 8 });
});

test.each([
  ['an outage of the database', Object.assign(new Error('starting up'), { code: '57P03' }), 'outcome_unknown'],
  ['a dependency that is unavailable', new AppError('dependency_unavailable', 'away'), 'outcome_unknown'],
  ['a refusal', new AppError('not_found', 'gone'), 'not_found'],
])('%s after the event was recorded', async (_, error, code) => {
  await expect(afterRecording(() => Promise.reject(error))).rejects.toMatchObject({ code });
  expect(await afterRecording(async () => 'done')).toBe('done');
});

test('the append of another handler is not overwritten by a stale one', async () => {
  const { add, another, eventsOf } = start();
  const other = another();
  await add([1]);
  await other.handle('1', { add: [10] }, contextOf('req_2'));
  expect(await add([1])).toMatchObject({ state: 12, revision: 2 });
  expect(eventsOf('sum-1')).toHaveLength(3);
});
