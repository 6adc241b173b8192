import { EventEmitter } from 'node:events';
import { createLogger } from '@cpg/platform';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { runSubscription, type SubscriptionOptions } from './subscription.ts';

const log = createLogger({ name: 'test', level: 'silent' });

type Step = number | Error | 'end' | 'close' | (() => Promise<void>);

/** A client whose subscriptions deliver events as gRPC does: one by one, in one turn of the event loop. Each script is
 *  a subscription: revisions, its end, and what it waits for. */
const clientThatDelivers = (...scripts: readonly (readonly Step[])[]) => {
  const calls: string[] = [];
  let count = 0;
  const subscribeToAll = ({ fromPosition, filter }: { fromPosition: { commit: bigint } | string; filter: unknown }) => {
    calls.push(`from ${typeof fromPosition === 'string' ? fromPosition : fromPosition.commit}`);
    expect(filter).toMatchObject({ prefixes: ['order-'] });
    let isPaused = false;
    const subscription = Object.assign(new EventEmitter(), {
      pause: () => {
        if (!isPaused) calls.push('pause');
        isPaused = true;
      },
      resume: () => {
        if (isPaused) calls.push('resume');
        isPaused = false;
      },
      unsubscribe: async () => void calls.push('unsubscribe'),
    });
    const deliver = async (script: readonly Step[]) => {
      for (const step of script) {
        if (typeof step === 'number')
          subscription.emit('data', { event: { revision: step, position: { commit: step, prepare: step } } });
        else if (typeof step === 'function') await step();
        else if (step instanceof Error) subscription.emit('error', step);
        else subscription.emit(step);
        await new Promise<void>(process.nextTick);
      }
    };
    const script = scripts[count++] ?? [];
    setImmediate(() => void deliver(script));
    return subscription;
  };
  return { client: { subscribeToAll } as unknown as EventStoreDBClient, calls };
};
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Runs a subscription until it has handled the event of `last`. Resolves to the batches that it handled. */
const run = async (
  { client }: Pick<ReturnType<typeof clientThatDelivers>, 'client'>,
  last: number,
  changes: Partial<SubscriptionOptions> & { onBatch?: (revisions: number[]) => Promise<void> | void } = {},
) => {
  const stopping = new AbortController();
  const batches: number[][] = [];
  const revisionOf = ({ event }: AllStreamResolvedEvent) => Number(event!.revision);
  await runSubscription({
    client,
    prefixes: ['order-'],
    checkpoint: async () => null,
    handle: async (events, position) => {
      const revisions = events.map(revisionOf);
      expect(position.commit).toBe(String(revisions.at(-1)));
      await changes.onBatch?.(revisions);
      batches.push(revisions);
      if (revisions.includes(last)) stopping.abort();
    },
    signal: stopping.signal,
    log,
    ...changes,
  });
  return batches;
};

test('handles the events of one append in one batch', async () => {
  const { client, calls } = clientThatDelivers([0, 1, 2]);
  expect(await run({ client }, 2)).toEqual([[0, 1, 2]]);
  expect(calls).toEqual(['from start', 'unsubscribe']);
});

test('handles at most 256 events at once', async () => {
  const batches = await run(clientThatDelivers(upTo(300)), 299);
  expect(batches.map(({ length }) => length)).toEqual([256, 44]);
  expect(batches.flat()).toEqual(upTo(300));
});

test('delivers on until 1024 events wait, and again once fewer than half of that do', async () => {
  const few = clientThatDelivers(upTo(1_023));
  await run(few, 1_022);
  expect(few.calls).toEqual(['from start', 'unsubscribe']);
  const many = clientThatDelivers(upTo(1_024));
  await run(many, 1_023, { onBatch: ([first]) => void many.calls.push(`handles ${first}`) });
  expect(many.calls.slice(0, -1)).toEqual([
    'from start',
    'pause',
    'handles 0',
    'handles 256',
    'resume',
    'handles 512',
    'handles 768',
  ]);
});

test.each([
  ['fails', new Error('broken')],
  ['ends', 'end' as const],
  ['closes', 'close' as const],
])('a subscription that %s starts again from the checkpoint', async (_, ending) => {
  let handled: number | null = null;
  const untilHandled = async () => {
    while (handled !== 1) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const { client, calls } = clientThatDelivers([0, 1, untilHandled, ending], [2, 3]);
  const batches = await run({ client }, 3, {
    checkpoint: async () => (handled === null ? null : { commit: String(handled), prepare: String(handled) }),
    onBatch: (revisions) => void (handled = revisions.at(-1)!),
  });
  expect(batches.flat()).toEqual(upTo(4));
  expect(calls).toEqual(['from start', 'unsubscribe', 'from 1', 'unsubscribe']);
});

test('a handler that fails gets the events again, and the log says why', async () => {
  const warned: unknown[] = [];
  let failures = 1;
  const { client, calls } = clientThatDelivers([0], [0]);
  await run({ client }, 0, {
    log: { warn: (...line: unknown[]) => void warned.push(line) } as never,
    onBatch: () => {
      if ((failures -= 1) >= 0) throw new Error('not this time');
    },
  });
  expect(calls).toEqual(['from start', 'unsubscribe', 'from start', 'unsubscribe']);
  expect(warned).toEqual([
    [
      { err: expect.objectContaining({ message: 'not this time' }), prefixes: ['order-'] },
      'subscription failed, retrying',
    ],
  ]);
});

test('an error of the connection is an outage of the event store', async () => {
  const seen: unknown[] = [];
  await run(clientThatDelivers([new Error('broken')], [0]), 0, {
    log: { warn: ({ err }: { err: unknown }) => void seen.push(err) } as never,
  });
  expect(seen).toEqual([expect.objectContaining({ code: 'dependency_unavailable', cause: new Error('broken') })]);
});

describe('flushes', () => {
  const flushing = (client: ReturnType<typeof clientThatDelivers>, timing: { idleMs: number; maxDelayMs: number }) => {
    const flushed: string[] = [];
    const stopping = new AbortController();
    const handled: number[] = [];
    const running = runSubscription({
      client: client.client,
      prefixes: ['order-'],
      checkpoint: async () => null,
      handle: async (events) => void handled.push(...events.map(({ event }) => Number(event!.revision))),
      flush: { ...timing, run: async ({ commit }) => void flushed.push(commit) },
      signal: stopping.signal,
      log,
    });
    const stop = async () => {
      stopping.abort();
      await running;
    };
    return { flushed, handled, stop };
  };
  const until = async (look: () => boolean) => {
    while (!look()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const NEVER = 600_000;

  test('what is left at a stop, once', async () => {
    const { flushed, handled, stop } = flushing(clientThatDelivers([0, 1]), { idleMs: NEVER, maxDelayMs: NEVER });
    await until(() => handled.length === 2);
    expect(flushed).toEqual([]);
    await stop();
    expect(flushed).toEqual(['1']);
  });

  test.each([
    ['idle', { idleMs: 5, maxDelayMs: NEVER }],
    ['waited for long enough', { idleMs: NEVER, maxDelayMs: 5 }],
  ])('once it was %s, and not again without events', async (_, timing) => {
    const { flushed, stop } = flushing(clientThatDelivers([0, 1]), timing);
    await until(() => flushed.length > 0);
    await stop();
    expect(flushed).toEqual(['1']);
  });

  test('nothing where nothing was handled', async () => {
    const { flushed, stop } = flushing(clientThatDelivers([]), { idleMs: 1, maxDelayMs: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    await stop();
    expect(flushed).toEqual([]);
  });
});

describe('a pause', () => {
  const LONG = 600_000;

  test('follows each batch, and a stop ends it', async () => {
    const worked: number[] = [];
    const stopping = new AbortController();
    await runSubscription({
      client: clientThatDelivers([0]).client,
      prefixes: ['order-'],
      checkpoint: async () => null,
      handle: async () => {},
      pauseMs: (workedMs) => {
        worked.push(workedMs);
        setImmediate(() => stopping.abort());
        return LONG;
      },
      signal: stopping.signal,
      log,
    });
    expect(worked).toHaveLength(1);
    expect(worked[0]).toBeGreaterThanOrEqual(0);
    expect(worked[0]).toBeLessThan(LONG);
  });

  test('does not hold up a whole batch that waits', async () => {
    let handled = 0;
    const batches = await run(clientThatDelivers(upTo(512)), 511, {
      pauseMs: () => (handled === 1 ? LONG : 0),
      onBatch: () => void (handled += 1),
    });
    expect(batches.map(({ length }) => length)).toEqual([256, 256]);
  });
});
