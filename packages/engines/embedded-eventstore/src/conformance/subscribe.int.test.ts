import {
  type EventStoreDBClient,
  type AllStreamSubscription,
  END,
  eventTypeFilter,
  excludeSystemEvents,
  jsonEvent,
  type Position,
  START,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client';
import { collect, collectUntil, counted, newStream, numberOf, range, take, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

const caughtUp = (subscription: StreamSubscription | AllStreamSubscription): Promise<void> =>
  new Promise((resolve) => subscription.once('caughtUp', resolve));

describe('a subscription to a stream', () => {
  test('from the start receives the stored events, then new ones', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0, 1));
    const received = take(client.subscribeToStream(stream, { fromRevision: START }), 4);
    await client.appendToStream(stream, counted(2));
    await client.appendToStream(stream, counted(3));
    expect(await received).toEqual([0, 1, 2, 3]);
  });

  test('from a revision receives the events after it', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0, 1, 2));
    expect(await take(client.subscribeToStream(stream, { fromRevision: 0n }), 2)).toEqual([1, 2]);
  });

  test('from the end receives only new events', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0, 1, 2));
    const subscription = client.subscribeToStream(stream, { fromRevision: END });
    const received = take(subscription, 1);
    await caughtUp(subscription);
    await client.appendToStream(stream, counted(3));
    expect(await received).toEqual([3]);
  });

  test('receives the events of a stream that is created later', async () => {
    const stream = newStream();
    const subscription = client.subscribeToStream(stream);
    const received = take(subscription, 1);
    await caughtUp(subscription);
    await client.appendToStream(newStream(), counted(99));
    await client.appendToStream(stream, counted(0));
    expect(await received).toEqual([0]);
  });

  test('to a deleted stream receives only events after the deletion', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0, 1));
    await client.deleteStream(stream);
    const subscription = client.subscribeToStream(stream);
    const received = take(subscription, 1);
    await caughtUp(subscription);
    await client.appendToStream(stream, counted(2));
    expect(await received).toEqual([2]);
  });

  test('leaves out events that the metadata hides', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(...range(0, 10)));
    await client.setStreamMetadata(stream, { maxCount: 2 });
    expect(await take(client.subscribeToStream(stream), 2)).toEqual([8, 9]);
  });

  test('is confirmed before the first event', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0));
    const subscription = client.subscribeToStream(stream);
    const order: string[] = [];
    subscription.on('confirmation', () => order.push('confirmation'));
    subscription.on('data', () => order.push('event'));
    await caughtUp(subscription);
    expect(order).toEqual(['confirmation', 'event']);
    expect(subscription.id).toEqual(expect.any(String));
    await subscription.unsubscribe();
  });
});

const ofStream = (prefix: string, options: Parameters<typeof streamNameFilter>[0] | object = {}) =>
  streamNameFilter({ prefixes: [prefix], ...options });

describe('a subscription to $all', () => {
  test('from a position receives the events after it, then new ones', async () => {
    const stream = newStream();
    const { position } = await client.appendToStream(stream, counted(0));
    await client.appendToStream(stream, counted(1));
    const isLast = ({ event }: { event?: { streamId: string; data: unknown } }) =>
      event?.streamId === stream && (event.data as { n: number }).n === 2;
    const received = collectUntil(client.subscribeToAll({ fromPosition: position! }), isLast);
    await client.appendToStream(stream, counted(2));
    const ours = (await received).filter(({ event }) => event?.streamId === stream);
    expect(ours.map(numberOf)).toEqual([1, 2]);
  });

  test('from the end receives only new events', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0));
    const subscription = client.subscribeToAll({ fromPosition: END, filter: ofStream(stream) });
    const received = take(subscription, 1);
    await caughtUp(subscription);
    await client.appendToStream(stream, counted(1));
    expect(await received).toEqual([1]);
  });

  test('from the start receives system events, unless they are excluded', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(0));
    await client.setStreamMetadata(stream, { maxCount: 7 });
    const { position } = await client.appendToStream(stream, counted(1));
    const isLast = ({ commitPosition }: { commitPosition?: bigint }) => commitPosition === position!.commit;
    const ours = (streamId: string) => streamId.endsWith(stream);

    const all = await collectUntil(client.subscribeToAll({ fromPosition: START }), isLast);
    expect(
      all
        .map(({ event }) => event!)
        .filter((e) => ours(e.streamId))
        .map((e) => e.type),
    ).toEqual(['Counted', '$metadata', 'Counted']);
    const without = await collectUntil(client.subscribeToAll({ filter: excludeSystemEvents() }), isLast);
    expect(without.every(({ event }) => !event!.type.startsWith('$'))).toBe(true);
  });

  test('delivers every event to each of several subscribers', async () => {
    const stream = newStream();
    const all = range(0, 8).map(() => take(client.subscribeToAll({ filter: ofStream(stream) }), 50));
    for (const n of range(0, 10)) await client.appendToStream(stream, counted(...range(n * 5, 5)));
    for (const received of await Promise.all(all)) expect(received).toEqual(range(0, 50));
  });
});

describe('a filtered subscription to $all', () => {
  test('can be filtered by stream name or event type, by prefix or regular expression', async () => {
    const [one, other] = [newStream('filter-one'), newStream('filter-other')];
    const typed = (type: string, n: number) => jsonEvent({ type, data: { n } });
    const types = [newStream('Red'), newStream('Green'), newStream('Blue')] as const;
    const { position: fromPosition } = await client.appendToStream(newStream(), counted(0));
    await client.appendToStream(one, [typed(types[0], 0), typed(types[1], 1)]);
    await client.appendToStream(other, [typed(types[2], 2), typed(types[0], 3)]);

    const filters = [
      [streamNameFilter({ prefixes: [one] }), [0, 1]],
      [streamNameFilter({ prefixes: ['nothing-', other, one] }), [0, 1, 2, 3]],
      [streamNameFilter({ regex: `^filter-(one|two).*${one.slice(-12)}$` }), [0, 1]],
      [eventTypeFilter({ prefixes: [types[1], types[2]] }), [1, 2]],
      [eventTypeFilter({ regex: `^(${types[0]}|${types[1]})$` }), [0, 1, 3]],
    ] as const;
    for (const [filter, expected] of filters) {
      const subscription = client.subscribeToAll({ fromPosition: fromPosition!, filter });
      expect(await take(subscription, expected.length)).toEqual(expected);
    }
  });

  test('with an invalid regular expression is refused', async () => {
    const subscription = client.subscribeToAll({ filter: eventTypeFilter({ regex: '(' }) });
    await expect(collect(subscription)).rejects.toThrow();
  });

  test.each(['stream', 'type'] as const)(
    'filtered by %s receives checkpoints without matches, and misses no event when resumed from one',
    async (by) => {
      const { position: fromPosition } = await client.appendToStream(newStream(), counted(0));
      const stream = newStream();
      const filterOf = by === 'stream' ? streamNameFilter : eventTypeFilter;
      const checkpoints: Position[] = [];
      let onEnough = () => {};
      const reached = new Promise<void>((resolve) => (onEnough = resolve));
      const subscription = client.subscribeToAll({
        fromPosition: fromPosition!,
        filter: filterOf({
          prefixes: [stream],
          checkpointInterval: 2,
          maxSearchWindow: 5,
          checkpointReached: async (_, position) => {
            checkpoints.push(position);
            if (checkpoints.length === 5) onEnough();
          },
        }),
      });
      const received: number[] = [];
      subscription.on('data', (resolved) => received.push(numberOf(resolved)));
      for (const n of range(0, 6)) await client.appendToStream(newStream(), counted(...range(n * 10, 10)));
      await reached;
      await subscription.unsubscribe();

      expect(received).toEqual([]);
      const commits = checkpoints.map(({ commit }) => commit);
      expect([...commits].sort((a, b) => (a < b ? -1 : 1))).toEqual(commits);
      expect(commits[0]).toBeGreaterThan(fromPosition!.commit);

      await client.appendToStream(stream, jsonEvent({ type: stream, data: { n: 1 } }));
      const filter = filterOf({ prefixes: [stream] });
      expect(await take(client.subscribeToAll({ fromPosition: checkpoints.at(-1)!, filter }), 1)).toEqual([1]);
    },
  );
});
