import { BACKWARDS, END, type EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client';
import { collect, collectUntil, counted, newStream, numbersIn, range, take, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

test('a stream of many pages is read completely in both directions', async () => {
  const long = newStream();
  for (const i of range(0, 4)) await client.appendToStream(long, counted(...range(i * 600, 600)));
  expect(await numbersIn(client, long)).toEqual(range(0, 2400));
  const backwards = await numbersIn(client, long, { direction: BACKWARDS, fromRevision: END });
  expect(backwards).toEqual(range(0, 2400).reverse());
  expect(await numbersIn(client, long, { fromRevision: 100n, maxCount: 1100 })).toEqual(range(100, 1100));
});

test('a stream of large events is read completely in both directions', async () => {
  const heavy = newStream();
  const event = (n: number) => jsonEvent({ type: 'Counted', data: { n, text: 'x'.repeat(900_000) } });
  for (const n of range(0, 12)) await client.appendToStream(heavy, event(n));
  expect(await numbersIn(client, heavy)).toEqual(range(0, 12));
  expect(await numbersIn(client, heavy, { direction: BACKWARDS, fromRevision: END })).toEqual(range(0, 12).reverse());
});

describe('during writes', () => {
  const WRITERS = 6;
  const APPENDS = 40;

  test('subscribers that start at any time receive every event once and in order', async () => {
    const category = newStream('busy');
    const { position: fromPosition } = await client.appendToStream(newStream(), counted(0));
    const filter = streamNameFilter({ prefixes: [category] });
    const expectedCount = WRITERS * APPENDS * 2;
    const toAll: Promise<{ position: bigint; of: string }[]>[] = [];
    const toStream: Promise<number[]>[] = [];
    const start = (writer: number) => {
      const subscription = client.subscribeToAll({ fromPosition: fromPosition!, filter });
      const received = collectUntil(subscription, (_, all) => all.length === expectedCount);
      toAll.push(
        received.then((all) => all.map(({ event, commitPosition }) => ({ position: commitPosition!, of: event!.id }))),
      );
      toStream.push(take(client.subscribeToStream(`${category}-${writer}`), APPENDS * 2));
    };
    await Promise.all(
      range(0, WRITERS).map(async (writer) => {
        for (const n of range(0, APPENDS)) {
          await client.appendToStream(`${category}-${writer}`, counted(2 * n, 2 * n + 1));
          if (n % 10 === writer) start(writer);
        }
      }),
    );

    const written = (await collect(client.readAll({ fromPosition: fromPosition! })))
      .filter(({ event }) => event!.streamId.startsWith(category))
      .map(({ event, commitPosition }) => ({ position: commitPosition!, of: event!.id }));
    expect(written).toHaveLength(expectedCount);
    for (const received of await Promise.all(toAll)) expect(received).toEqual(written);
    for (const received of await Promise.all(toStream)) expect(received).toEqual(range(0, APPENDS * 2));
  });

  test('a subscriber far behind the live tail receives every event once and in order', async () => {
    const stream = newStream();
    const count = 6_000;
    const toAll = client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ prefixes: [stream] }) });
    const toStream = client.subscribeToStream(stream, { fromRevision: END });
    await Promise.all(
      [toAll, toStream].map((subscription) =>
        new Promise((r) => subscription.once('confirmation', r)).then(() => subscription.pause()),
      ),
    );
    for (const n of range(0, count / 1_000)) await client.appendToStream(stream, counted(...range(n * 1_000, 1_000)));
    expect(await take(toAll, count)).toEqual(range(0, count));
    expect(await take(toStream, count)).toEqual(range(0, count));
  });
});
