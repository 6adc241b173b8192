import type { OwnClocks } from '@cpg/platform';
import { appendOne } from './append.ts';
import { eventStoreClock } from './event-store-clock.ts';
import { genesisHash } from './recorded.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

test('events that appear between two looks tell the offset of the clock of the event store', async () => {
  const { client, stop } = await startTestStore();
  /** This process is ten minutes behind. */
  const behindMs = 600_000;
  const own: OwnClocks = { now: () => new Date(Date.now() - behindMs), steadyMs: () => Date.now() };
  const append = async (stream: string) =>
    appendOne(client, stream, { type: 'Counted', data: {} }, { revision: -1, hash: genesisHash(stream) }, 'test');
  try {
    const clock = eventStoreClock(client);
    const fresh = eventStoreClock(client);
    await clock.read(own);
    await append('counted-1');
    // Between the two looks: the offset of a clock that agrees with the steady one is 0.
    const first = (await clock.read(own))!;
    expect(first.fromMs).toBeLessThanOrEqual(0);
    expect(first.toMs).toBeGreaterThanOrEqual(0);
    // Nothing new: nothing is known, except that no event comes from the future.
    expect(await clock.read({ ...own, now: () => new Date() })).toBeNull();
    expect((await fresh.read(own))!.fromMs).toBeLessThanOrEqual(0);
    await append('counted-2');
    const second = (await clock.read(own))!;
    expect(second.toMs - second.fromMs).toBeLessThanOrEqual(first.toMs - first.fromMs);
  } finally {
    await stop();
  }
});
