import { eventIdOf, type LogPosition, readLog, shardOf } from '@cpg/event-sourcing';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { type PublishedEvent, readStoreEvents } from './store-events.ts';

const SHARDS = 3;
const ORDERS = ['a', 'b', 'c', 'd', 'e', 'f'];
let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeEach(async () => {
  tallies = await startTallies();
});
afterEach(() => tallies.stop());

test('a shard has published as much as is known of it, whatever the others have published', async () => {
  for (const order of [...ORDERS, ...ORDERS]) await tallies.tally(order, 1);
  const { client, signal, projection } = tallies.options();
  const { prefixes } = projection;
  const log: (PublishedEvent & { position: string })[] = [];
  await readLog(client, {
    from: null,
    prefixes,
    signal,
    handle: async (events: readonly { event?: { id: string; streamId: string }; commitPosition?: bigint }[]) => {
      for (const { event, commitPosition } of events) {
        const [id, stream] = [eventIdOf(event!.id), event!.streamId];
        log.push({ id, orderId: stream.slice('tally-'.length), streams: [stream], position: String(commitPosition) });
      }
    },
  });
  const shards = ORDERS.map((order) => shardOf(order, SHARDS));
  const [ahead, behind] = [shards[0]!, shards.find((shard) => shard !== shards[0])!];
  const of = (shard: number) => log.filter(({ orderId }) => shardOf(orderId, SHARDS) === shard);

  const session = await tallies.pool.connect();
  try {
    const store = await readStoreEvents(session, { client, prefixes, shards: SHARDS, signal });
    const unknown = { id: 'evt_gone', orderId: 'a', streams: ['tally-a'] };
    expect(await store.missing([...of(ahead), of(behind)[0]!, unknown])).toEqual([unknown]);
    const commitOf = (position: LogPosition | null) => position?.commit;
    expect(commitOf(await store.lastKnown(ahead))).toBe(of(ahead).at(-1)!.position);
    expect(commitOf(await store.lastKnown(behind))).toBe(of(behind)[0]!.position);
    const idle = [0, 1, 2].find((shard) => shard !== ahead && shard !== behind)!;
    expect(await store.lastKnown(idle)).toBeNull();
  } finally {
    session.release(true);
  }
});
