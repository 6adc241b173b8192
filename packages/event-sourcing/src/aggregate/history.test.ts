import { AnyEvent, type Recorded } from '../store/recorded.ts';
import { AT, memoryStore } from '../testing/jest-memory-store.ts';
import { historyEntry, type HistoryRange, readHistory, readHistoryEntries } from './history.ts';

const ALWAYS = { from: '', to: '9' };
const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();

/** Streams of events at these seconds, each the text of its message. */
const start = (streams: Readonly<Record<string, readonly (number | [number, string])[]>>) => {
  const { client, record, reads } = memoryStore();
  for (const [name, events] of Object.entries(streams))
    record(
      name,
      ...events.map((event) => {
        const [at, text] = typeof event === 'number' ? [event, String(event)] : event;
        return { type: 'Noted', data: { at: second(at), text } };
      }),
    );
  const of = Object.entries(streams).map(([name, [first]]) => ({
    name,
    startedAt: second(typeof first === 'number' ? first : first![0]),
  }));
  const decider = { initial: 0, evolve: (count: number) => count + 1 };
  const messageOf = ({ event }: Recorded<AnyEvent>) => event.data.text as string;
  const page = async (range: HistoryRange = ALWAYS) => {
    const { messages, more } = await readHistory({ client, decider, schema: AnyEvent, messageOf }, of, range);
    return { texts: messages.map(({ message }) => message), more, places: messages.map(({ place }) => place) };
  };
  return { client, of, page, reads };
};
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test.each([
  [50, 50, false],
  [51, 50, true],
])('of %i messages a page has %i, and more is %s', async (count, shown, more) => {
  const { page } = start({ a: upTo(count) });
  expect(await page()).toMatchObject({ texts: upTo(shown).map(String), more });
});

// The JSON of a text has two quotes.
const text = (characters: number) => 'x'.repeat(characters - 2);
test.each([
  ['exactly full', [131_072, 131_072], 2],
  ['one character too long', [131_072, 131_073], 1],
  ['an oversized first message', [300_000, 100], 1],
])('a page of characters is %s', async (_, sizes, shown) => {
  const { page } = start({ a: sizes.map((size, n): [number, string] => [n, text(size)]) });
  const { texts, more } = await page();
  expect([texts.length, more]).toEqual([shown, shown < sizes.length]);
});

test('a stream that starts after the page is not read, and one that starts at its end is', async () => {
  const { page, reads } = start({ a: upTo(51), b: [[50, 'b']], c: [51] });
  const { texts, places } = await page();
  expect(texts).toHaveLength(50);
  expect(reads.map((read) => read.split(' ')[0])).toEqual(['a', 'a', 'b']);
  expect((await page({ ...ALWAYS, after: places.at(-1) })).texts.toSorted()).toEqual(['50', '51', 'b']);
});

test('an earlier stream puts the last messages on the next page', async () => {
  const { page } = start({
    a: upTo(50),
    b: [
      [0, 'b'],
      [60, 'late'],
    ],
  });
  const { texts, more, places } = await page();
  expect(texts).toHaveLength(50);
  expect(texts).toContain('b');
  expect(texts).not.toContain('49');
  expect(more).toBe(true);
  expect((await page({ ...ALWAYS, after: places.at(-1) })).texts).toEqual(['49', 'late']);
});

test('a late event has the place of the one before it, and the range goes by its own time', async () => {
  const { page } = start({ a: [0, 9, [3, 'late']] });
  const { places } = await page();
  const [, , late] = places;
  expect(late!.slice(0, 24)).toBe(second(9));
  expect(places.map((place) => place.split(' ').at(-1))).toEqual(['0000000000', '0000000001', '0000000002']);
  expect((await page({ from: second(1), to: second(3) })).texts).toEqual(['late']);
  expect((await page({ ...ALWAYS, after: places[1] })).texts).toEqual(['late']);
});

test('an entry of the export has the facts of its event', async () => {
  const { client, of } = start({ a: [5] });
  const range = { from: '', to: '9' };
  const { messages, more } = await readHistoryEntries(client, of, range);
  const entry = {
    id: expect.stringMatching(/^evt_/),
    stream: 'a',
    sequence: 0,
    type: 'Noted',
    at: second(5),
    recorded_at: AT,
    actor: 'a',
    request_id: 'r',
    correlation_id: 'c',
    causation_id: 'c',
    hash_version: 2,
    salt: 's',
    previous_hash: 'p',
    hash: 'hash 0',
    data: { at: second(5), text: '5' },
  };
  expect([messages.map(({ message }) => message), more]).toEqual([[entry], false]);
  const caller = { actor: '1', requestId: '2', $correlationId: '3', $causationId: '4' };
  const metadata = { ...caller, previousHash: '5', hash: '6', hashVersion: 7, salt: '8' };
  expect(
    historyEntry({
      stream: 's',
      revision: 7,
      id: 'evt_1',
      event: { type: 'T', data: { at: AT } },
      metadata,
      recordedAt: new Date(AT),
    }),
  ).toMatchObject({
    actor: '1',
    request_id: '2',
    correlation_id: '3',
    causation_id: '4',
    previous_hash: '5',
    hash: '6',
    hash_version: 7,
    salt: '8',
  });
});
