import { UnreadableEventError } from '../store/errors.ts';
import { AnyEvent, parseRecorded, type Recorded } from '../store/recorded.ts';
import { memoryStore } from '../testing/jest-memory-store.ts';
import { estimateBytes, recentEvents, stateAt } from './state-at.ts';

/** The types of the events so far. */
const decider = {
  initial: '',
  evolve: (state: string, { type }: AnyEvent) => {
    if (type === '!') throw new TypeError('a bug');
    return state + type;
  },
};

/** A stream of single-letter events. */
const start = (letters: string) => {
  const store = memoryStore();
  store.record('s-1', ...[...letters].map((type) => ({ type })));
  const recent = recentEvents<string, AnyEvent>();
  const entry = (revision: number) => ({ event: store.eventsOf('s-1')[revision] }) as never;
  const recorded = (revision: number): Recorded<AnyEvent> => parseRecorded(AnyEvent, entry(revision));
  return {
    ...store,
    recent,
    entry,
    recorded,
    states: stateAt({ client: store.client, decider, schema: AnyEvent, recent }),
  };
};

test('the state before and after each event, and the event with its state', async () => {
  const { states, recorded, entry } = start('abc');
  expect(await Promise.all([0, 1, 2].map((revision) => states.before(recorded(revision))))).toEqual(['', 'a', 'ab']);
  expect(await Promise.all([0, 1, 2].map((revision) => states.after(recorded(revision))))).toEqual(['a', 'ab', 'abc']);
  expect(await states.read(entry(1))).toMatchObject({ state: 'ab', recorded: { revision: 1, event: { type: 'b' } } });
});

test('consecutive events of a stream read nothing, and others only the events before', async () => {
  const { states, recorded, reads } = start('abcd');
  for (const revision of [0, 1, 2]) await states.after(recorded(revision));
  expect(reads).toEqual([]);
  expect(await states.after(recorded(1))).toBe('ab');
  expect(reads).toEqual(['s-1 0+1']);
  expect(await states.after(recorded(3))).toBe('abcd');
  expect(reads).toEqual(['s-1 0+1', 's-1 0+3']);
});

test('an event that this process has just recorded is neither parsed nor folded again', async () => {
  const { states, recent, recorded, entry, reads } = start('abc');
  recent.add({ recorded: recorded(1), state: 'known' }, 10);
  expect(await states.read(entry(1))).toMatchObject({ state: 'known' });
  expect(await states.after(recorded(2))).toBe('knownc');
  expect(reads).toEqual([]);
});

test('nothing is known of a deleted stream', async () => {
  const { client, states, recorded, entry } = start('abc');
  const [second, entries] = [recorded(1), entry(1)];
  await client.tombstoneStream('s-1');
  expect([await states.before(second), await states.after(second), await states.read(entries)]).toEqual([
    null,
    null,
    null,
  ]);
});

test('a fault of `evolve` names the event', async () => {
  const { states, recorded } = start('a!');
  const fault = states.after(recorded(1));
  await expect(fault).rejects.toBeInstanceOf(UnreadableEventError);
  await expect(fault).rejects.toThrow('event 1 (!) of stream s-1 cannot be read: a bug');
});

test('a recent event is found by its place and its id', () => {
  const { recent, recorded, entry } = start('abc');
  recent.add({ recorded: recorded(1), state: 'ab' }, 10);
  expect(recent.find(entry(1))).toMatchObject({ state: 'ab' });
  expect(recent.find(entry(0))).toBeNull();
  expect(recent.find({})).toBeNull();
  const { event } = entry(1) as { event: object };
  expect(recent.find({ event: { ...event, id: 'another' } } as never)).toBeNull();
  expect([recent.stateAfter('s-1', 1), recent.stateAfter('s-1', 0), recent.stateAfter('s-2', 1)]).toEqual([
    'ab',
    null,
    null,
  ]);
});

test('recent events are bounded in bytes', () => {
  const { recent, recorded } = start('ab');
  recent.add({ recorded: recorded(0), state: 'a' }, 20 * 1024 * 1024);
  recent.add({ recorded: recorded(1), state: 'ab' }, 20 * 1024 * 1024);
  expect([recent.stateAfter('s-1', 0), recent.stateAfter('s-1', 1)]).toEqual([null, 'ab']);
});

test.each([
  ['abc', 27],
  [7, 16],
  [null, 16],
  [undefined, 16],
  [{}, 32],
  [{ a: 'abc', b: [1, null] }, 32 + 27 + 32 + 16 + 16],
])('the memory of %j is estimated as %i bytes', (value, bytes) => expect(estimateBytes(value)).toBe(bytes));
