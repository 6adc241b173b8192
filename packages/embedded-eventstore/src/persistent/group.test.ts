import type { RecordedEvent } from '../events.ts';
import { type Effect, Group, type Message } from './group.ts';
import type { Strategy } from './settings.ts';

const group = (limits: { maxRetryCount?: number; messageTimeoutMs?: number; strategy?: Strategy } = {}) =>
  new Group(
    { maxRetryCount: 3, messageTimeoutMs: 1_000, historyBufferSize: 100, strategy: 'RoundRobin', ...limits },
    -1n,
  );
const event = (bytes: number) =>
  ({ type: '', data: new Uint8Array(bytes), metadata: new Uint8Array() }) as Partial<RecordedEvent> as RecordedEvent;
const message = (n: number, stream = 's'): Message => ({
  id: `e${n}`,
  event: event(0),
  stream,
  origin: 'source',
  place: BigInt(n),
  retryCount: 0,
});
const parked = (n: number): Message => ({ ...message(n), id: `p${n}`, origin: 'parked' });
/** `subscriber<-id` for what is sent, `park id` for what is parked. */
const told = (effects: Effect[]) =>
  effects.map((e) => (e.kind === 'send' ? `${e.subscriber}<-${e.message.id}` : `park ${e.message.id}`));
const readAll = (to: Group, messages: Message[], nowMs = 0) => told(messages.flatMap((one) => to.read(one, nowMs)));

test('a subscriber gets what there is, up to its capacity, and more for each it is done with', () => {
  const one = group();
  expect(readAll(one, [message(0), message(1), message(2)])).toEqual([]);
  expect(told(one.connected('a', 2, 0))).toEqual(['a<-e0', 'a<-e1']);
  expect(told(one.acknowledged(['e1'], 0))).toEqual(['a<-e2']);
  expect(one.source.done).toBe(-1n);
  expect(told(one.acknowledged(['e0', 'e2'], 0))).toEqual([]);
  expect(one.source.done).toBe(2n);
});

test('one that takes nothing at a time gets nothing', () => {
  const one = group();
  one.connected('a', 0, 0);
  expect(readAll(one, [message(0)])).toEqual([]);
});

test('its room is what it may still be given', () => {
  const one = group();
  readAll(one, [message(0), message(1)]);
  expect(one.room).toBe(98);
  one.connected('a', 1, 0);
  expect(one.room).toBe(99);
});

test('large messages use it up sooner, until they are sent', () => {
  const one = group();
  for (let n = 0; n < 16; n++) one.read({ ...message(n), event: event(1024 * 1024) }, 0);
  expect(one.room).toBe(0);
  one.connected('a', 1, 0);
  expect(one.room).toBe(85);
  one.blocked('a', true, 0);
  one.refused(['e0'], 'retry', '', 0);
  expect(one.room).toBe(0);
});

test.each([
  ['retry', ['a<-e0']],
  ['unknown', ['a<-e0']],
  ['park', ['park e0', 'a<-e1']],
  ['skip', ['a<-e1']],
  ['stop', ['a<-e1']],
] as const)('a message refused with %s', (action, expected) => {
  const one = group();
  one.connected('a', 1, 0);
  readAll(one, [message(0), message(1)]);
  expect(told(one.refused(['e0'], action, 'why', 0))).toEqual(expected);
  expect(one.source.done).toBe(action === 'skip' || action === 'stop' ? 0n : -1n);
});

test('a retry is counted and comes before what is younger', () => {
  const one = group();
  one.connected('a', 2, 0);
  readAll(one, [message(0), message(1), message(2)]);
  one.blocked('a', true, 0);
  one.refused(['e1'], 'retry', '', 0);
  one.refused(['e0'], 'retry', '', 0);
  const effects = one.blocked('a', false, 0);
  expect(told(effects)).toEqual(['a<-e0', 'a<-e1']);
  expect(effects.map((effect) => effect.message.retryCount)).toEqual([1, 1]);
});

test('after its retries a message is parked, and open until that is done', () => {
  const one = group({ maxRetryCount: 2 });
  one.connected('a', 1, 0);
  readAll(one, [message(0)]);
  for (const _ of [1, 2]) expect(told(one.refused(['e0'], 'retry', '', 0))).toEqual(['a<-e0']);
  const [park] = one.refused(['e0'], 'retry', '', 0);
  expect(park).toMatchObject({ kind: 'park', reason: 'Reached retry count of 2' });
  expect(one.source.done).toBe(-1n);
  one.settled(park!.message);
  expect(one.source.done).toBe(0n);
});

test('what is not acknowledged in time is tried again, and parked in the end', () => {
  const one = group({ maxRetryCount: 1 });
  one.connected('a', 5, 0);
  readAll(one, [message(0)], 100);
  expect(told(one.ticked(1_099))).toEqual([]);
  expect(told(one.ticked(1_100))).toEqual(['a<-e0']);
  expect(told(one.ticked(2_100))).toEqual(['park e0']);
});

test('without a time limit it waits for ever', () => {
  const one = group({ messageTimeoutMs: 0 });
  one.connected('a', 5, 0);
  readAll(one, [message(0)]);
  expect(told(one.ticked(Number.MAX_SAFE_INTEGER))).toEqual([]);
});

test('an acknowledgement that comes too late, twice or for nothing changes nothing', () => {
  const one = group();
  one.connected('a', 1, 0);
  readAll(one, [message(0)]);
  one.blocked('a', true, 0);
  one.ticked(5_000);
  expect(told(one.acknowledged(['e0', 'e0', 'nothing'], 5_000))).toEqual([]);
  expect(one.source.done).toBe(-1n);
  expect(told(one.blocked('a', false, 5_000))).toEqual(['a<-e0']);
});

test('what a lost subscriber had goes to another', () => {
  const one = group();
  one.connected('a', 2, 0);
  readAll(one, [message(0), message(1)]);
  expect(told(one.connected('b', 5, 0))).toEqual([]);
  expect(told(one.disconnected('a', 0))).toEqual(['b<-e0', 'b<-e1']);
});

test('the same id twice is sent one after the other', () => {
  const one = group();
  one.connected('a', 5, 0);
  expect(readAll(one, [message(0), { ...message(1), id: 'e0' }])).toEqual(['a<-e0']);
  expect(told(one.acknowledged(['e0'], 0))).toEqual(['a<-e0']);
  one.acknowledged(['e0'], 0);
  expect(one.source.done).toBe(1n);
});

test('replayed messages come first and have a progress of their own', () => {
  const one = group();
  readAll(one, [message(0)]);
  expect(told([...one.read(parked(4), 0), ...one.connected('a', 1, 0)])).toEqual(['a<-p4']);
  expect(told(one.acknowledged(['p4'], 0))).toEqual(['a<-e0']);
  expect([one.parked.done, one.source.done]).toEqual([4n, -1n]);
});

describe('sharing among subscribers', () => {
  const messages = (count: number, streams = 1) =>
    Array.from({ length: count }, (_, n) => message(n, `s-${n % streams}`));

  test('RoundRobin: in turns, passing over who is full', () => {
    const one = group();
    one.connected('a', 1, 0);
    one.connected('b', 3, 0);
    expect(readAll(one, messages(5))).toEqual(['a<-e0', 'b<-e1', 'b<-e2', 'b<-e3']);
  });

  test('DispatchToSingle: one until it is full, then the next until that is', () => {
    const one = group({ strategy: 'DispatchToSingle' });
    one.connected('a', 2, 0);
    one.connected('b', 2, 0);
    expect(readAll(one, messages(3))).toEqual(['a<-e0', 'a<-e1', 'b<-e2']);
    expect(told(one.acknowledged(['e0'], 0))).toEqual([]);
    expect(readAll(one, [message(3)])).toEqual(['b<-e3']);
  });

  test('Pinned: a stream belongs to one, and waits for it while others are free', () => {
    const one = group({ strategy: 'Pinned' });
    one.connected('a', 1, 0);
    one.connected('b', 1, 0);
    const sent = readAll(one, messages(8, 4));
    expect(sent).toHaveLength(2);
    const owner = new Map<string, string>();
    for (let taken = 0; taken < 8; taken++) {
      const [subscriber, id] = sent.shift()!.split('<-') as [string, string];
      const stream = `s-${Number(id.slice(1)) % 4}`;
      expect(owner.get(stream) ?? subscriber).toBe(subscriber);
      owner.set(stream, subscriber);
      sent.push(...told(one.acknowledged([id], 0)));
    }
    expect(new Set(owner.values())).toEqual(new Set(['a', 'b']));
  });

  test('Pinned: streams of one that left go to the others', () => {
    const one = group({ strategy: 'Pinned' });
    one.connected('a', 10, 0);
    expect(readAll(one, messages(2, 2))).toEqual(['a<-e0', 'a<-e1']);
    one.connected('b', 10, 0);
    expect(readAll(one, [message(2, 's-0')])).toEqual(['a<-e2']);
    expect(told(one.disconnected('a', 0))).toEqual(['b<-e0', 'b<-e1', 'b<-e2']);
  });

  test('Pinned: one that joins gets its share of the streams nobody works on', () => {
    const one = group({ strategy: 'Pinned' });
    one.connected('a', 100, 0);
    readAll(one, messages(40, 40));
    one.acknowledged(
      messages(40).map(({ id }) => id),
      0,
    );
    one.connected('b', 100, 0);
    const sent = readAll(
      one,
      Array.from({ length: 40 }, (_, n) => message(40 + n, `s-${n}`)),
    );
    for (const subscriber of ['a', 'b']) {
      expect(sent.filter((line) => line.startsWith(subscriber)).length).toBeGreaterThanOrEqual(15);
    }
  });

  test('PinnedByCorrelation: what belongs together goes to one, whatever its stream', () => {
    const one = group({ strategy: 'PinnedByCorrelation' });
    for (const id of ['a', 'b', 'c']) one.connected(id, 10, 0);
    const sent = readAll(
      one,
      messages(6, 6).map((m) => ({ ...m, correlationId: 'same' })),
    );
    expect(new Set(sent.map((line) => line[0])).size).toBe(1);
  });

  test('nobody is sent what it does not read', () => {
    const one = group();
    one.connected('a', 5, 0);
    one.connected('b', 5, 0);
    one.blocked('a', true, 0);
    expect(readAll(one, messages(2))).toEqual(['b<-e0', 'b<-e1']);
  });
});
