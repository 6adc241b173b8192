import { setTimeout as sleep } from 'node:timers/promises';
import { LiveTail } from '../live-tail.ts';
import type { Store } from '../store.ts';
import { recordedEvent } from '../testing/jest-recorded-event.ts';
import { subscribeToAll } from '../subscriptions.ts';

const event = recordedEvent();

test('a new event is sent in the turn of the event loop in which it is committed, also after a long wait', async () => {
  const live = new LiveTail();
  live.reset(0n);
  const filter = { matches: () => true, checkpointInterval: 1_000 };
  const { signal } = new AbortController();
  const messages = subscribeToAll({ live } as Store, { from: 'end', filter }, signal);
  await messages.next(); // the confirmation
  await messages.next(); // caught up
  const next = messages.next();
  await sleep(50);

  let hasTurned = false;
  setImmediate(() => (hasTurned = true));
  live.push([event]);
  expect((await next).value).toEqual({ kind: 'event', event });
  expect(hasTurned).toBe(false);
});
