import type { HistoryPage } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { type HistoryRange, readHistory } from './history.ts';
import { append, tombstone } from '../store/append.ts';
import { startTestStore } from '../testing/jest-event-store.ts';
import { METADATA } from '../testing/metadata.ts';

const Noted = z.object({ type: z.literal('Noted'), data: z.object({ text: z.string(), at: z.string() }) });
type Noted = z.infer<typeof Noted>;
type Message = { readonly text: string; readonly count: number };

let store: Awaited<ReturnType<typeof startTestStore>>;
let client: EventStoreDBClient;
let streams = 0;

beforeAll(async () => {
  store = await startTestStore();
  client = store.client;
});

afterAll(() => store.stop());

const second = (n: number) => new Date(Date.UTC(2026, 0, 31, 12, 0, n)).toISOString();
const ALWAYS = { from: second(-1e6), to: second(1e6) };

/** Writes a stream of notes taken at these seconds after noon. */
const note = async (seconds: readonly number[], text = (n: number) => String(n)) => {
  const name = `note-${(streams += 1)}`;
  const events = seconds.map((n): { id: string; event: Noted; metadata: typeof METADATA } => ({
    id: newId('event'),
    event: { type: 'Noted', data: { text: text(n), at: second(n) } },
    metadata: METADATA,
  }));
  await append(client, name, events, -1);
  return { name, startedAt: second(seconds[0]!) };
};

const read = (of: { name: string; startedAt: string }[], range: HistoryRange = ALWAYS) =>
  readHistory<number, Noted, Message>(
    {
      client,
      decider: { initial: 0, evolve: (count) => count + 1 },
      schema: Noted,
      messageOf: ({ event }, count) => (event.data.text === 'no message' ? null : { text: event.data.text, count }),
    },
    of,
    range,
  );

const readAll = async (of: { name: string; startedAt: string }[]) => {
  const pages: HistoryPage<Message>[] = [];
  for (let after = ''; ; after = pages.at(-1)!.messages.at(-1)!.place) {
    pages.push(await read(of, { ...ALWAYS, after }));
    if (!pages.at(-1)!.more) return pages;
  }
};
const textsOf = ({ messages }: HistoryPage<Message>) => messages.map(({ message }) => message.text);

test('merges streams in order of time, each event with the state right after it', async () => {
  const [one, other] = [await note([0, 2, 4]), await note([1, 3])];
  const page = await read([one, other]);
  expect(page).toMatchObject({ more: false });
  expect(textsOf(page)).toEqual(['0', '1', '2', '3', '4']);
  expect(page.messages.map(({ message }) => message.count)).toEqual([1, 1, 2, 2, 3]);
});

test('returns only the range, both ends included', async () => {
  const stream = await note([0, 1, 2, 3]);
  expect(textsOf(await read([stream], { from: second(1), to: second(2) }))).toEqual(['1', '2']);
});

test('keeps the order of a stream when an event is recorded late', async () => {
  const [one, other] = [await note([0, 5, 1]), await note([3, 6])];
  expect(textsOf(await read([one, other]))).toEqual(['0', '3', '5', '1', '6']);
});

test('returns every message once, page by page', async () => {
  const seconds = Array.from({ length: 300 }, (_, n) => n);
  const of = await Promise.all([0, 1, 2].map((part) => note(seconds.filter((n) => n % 3 === part))));
  const late = await note([250, 251, 252], (n) => `late ${n}`);
  const pages = await readAll([...of, late]);
  const texts = pages.flatMap(textsOf);
  expect(texts.filter((text) => !text.startsWith('late'))).toEqual(seconds.map(String));
  expect(texts).toHaveLength(303);
  expect(Math.max(...pages.map(({ messages }) => messages.length))).toBeLessThanOrEqual(50);
});

test('shortens pages with large messages, and gives an oversized one its own page', async () => {
  const large = (n: number) => `${n}${'x'.repeat(n % 2 === 0 ? 300_000 : 100_000)}`;
  const of = [await note([0, 1, 5], large), await note([2, 3, 4], large)];
  const pages = await readAll(of);
  expect(pages.flatMap(textsOf).map((text) => text[0])).toEqual(['0', '1', '2', '3', '4', '5']);
  for (const page of pages)
    expect(page.messages.length === 1 || JSON.stringify(page.messages).length < 300_000).toBe(true);
});

test('returns nothing for a tombstoned or missing stream', async () => {
  const [gone, there] = [await note([0]), await note([1])];
  await tombstone(client, gone.name);
  expect(textsOf(await read([gone, { name: 'note-never', startedAt: '' }, there]))).toEqual(['1']);
});
