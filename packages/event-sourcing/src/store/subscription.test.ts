import { EventEmitter } from 'node:events';
import { createLogger } from '@cpg/platform';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { runSubscription } from './subscription.ts';

/** A subscription that delivers events as gRPC does: one by one, in one turn of the event loop. */
const clientThatDelivers = (revisions: readonly number[]) => {
  const subscription = Object.assign(new EventEmitter(), {
    pause: () => {},
    resume: () => {},
    unsubscribe: async () => {},
  });
  const deliver = async () => {
    for (const revision of revisions) {
      subscription.emit('data', { event: { revision, position: { commit: revision, prepare: revision } } });
      await new Promise<void>(process.nextTick);
    }
  };
  return {
    subscribeToAll: () => {
      setImmediate(() => void deliver());
      return subscription;
    },
  } as unknown as EventStoreDBClient;
};

test('handles the events of one append in one batch', async () => {
  const stopping = new AbortController();
  const batches: number[][] = [];
  const revisionOf = ({ event }: AllStreamResolvedEvent) => Number(event!.revision);
  await runSubscription({
    client: clientThatDelivers([0, 1, 2]),
    prefixes: ['order-'],
    checkpoint: async () => null,
    handle: async (events) => {
      batches.push(events.map(revisionOf));
      if (batches.flat().length === 3) stopping.abort();
    },
    signal: stopping.signal,
    log: createLogger({ name: 'test', level: 'silent' }),
  });
  expect(batches).toEqual([[0, 1, 2]]);
});
