import { createHash } from 'node:crypto';
import { newId } from '@cpg/platform';
import { AT } from '../testing/jest-memory-store.ts';
import { UnreadableEventError } from './errors.ts';
import {
  AnyEvent,
  eventHash,
  eventIdOf,
  eventUuid,
  genesisHash,
  isBefore,
  isTombstone,
  linkEvents,
  type LogPosition,
  parseRecorded,
  positionOf,
} from './recorded.ts';

const at = (commit: number, prepare = commit): LogPosition => ({ commit: String(commit), prepare: String(prepare) });

test.each<[LogPosition | null, LogPosition | null, boolean]>([
  [null, null, false],
  [null, at(0), true],
  [at(0), null, false],
  [at(9), at(10), true],
  [at(10), at(9), false],
  [at(5), at(5), false],
  [at(5, 3), at(5, 4), true],
  [at(5, 4), at(5, 3), false],
  [at(6, 3), at(5, 4), false],
])('whether %j is before %j: %s', (one, other, expected) => expect(isBefore(one, other)).toBe(expected));

test('an id in messages and its id in the event store are the same bits', () => {
  const id = newId('event');
  expect(eventUuid(id)).toMatch(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i);
  expect(eventIdOf(eventUuid(id).toLowerCase())).toBe(id);
});

const METADATA = { actor: 'a', requestId: 'r', $correlationId: 'c', $causationId: 'r', previousHash: 'p', hash: 'h' };
const entryOf = (changes: object = {}) =>
  ({
    event: {
      id: eventUuid(newId('event')),
      streamId: 's-1',
      revision: 4n,
      type: 'Happened',
      data: { at: AT },
      metadata: METADATA,
      created: new Date(AT),
      position: { commit: 12n, prepare: 11n },
      ...changes,
    },
  }) as never;

test('a recorded event has its place, its data and its time', () => {
  expect(parseRecorded(AnyEvent, entryOf())).toMatchObject({
    stream: 's-1',
    revision: 4,
    event: { type: 'Happened', data: { at: AT } },
    metadata: METADATA,
    recordedAt: new Date(AT),
  });
  const { id } = (entryOf() as { event: { id: string } }).event;
  expect(positionOf(entryOf({ id }))).toEqual({ commit: '12', prepare: '11', event: { id, stream: 's-1' } });
});

test.each([
  ['data', { data: { at: 'never' } }],
  ['metadata', { metadata: { ...METADATA, hash: undefined } }],
])('an event with wrong %s is unreadable, by name', (_, changes) => {
  expect(() => parseRecorded(AnyEvent, entryOf(changes))).toThrow(UnreadableEventError);
  expect(() => parseRecorded(AnyEvent, entryOf(changes))).toThrow('event 4 (Happened) of stream s-1 cannot be read: ');
});

test('a link to a deleted event is no event', () =>
  expect(() => parseRecorded(AnyEvent, {})).toThrow('a link to a deleted event'));

test('only the deletion of a stream is its tombstone', () => {
  expect([entryOf({ type: '$streamDeleted' }), entryOf(), {}].map((entry) => isTombstone(entry as never))).toEqual([
    true,
    false,
    false,
  ]);
});

test('the hash of an event covers its type, its data in any order of fields, and the hash before it', () => {
  const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
  expect(genesisHash('s-1')).toBe(sha256('s-1'));
  expect(eventHash('p', { type: 'T', data: { b: 1, a: [2] } })).toBe(sha256('p\nT\n{"a":[2],"b":1}'));
});

test('linked events continue a stream, and the first one alone decides on repeats', () => {
  const [one, two] = [1, 2].map((n) => ({ type: 'Counted', data: { n } }));
  const idempotency = { requestHash: 'h', until: AT };
  const context = { actor: 'a', requestId: 'r', correlationId: 'c' };
  const end = { revision: 6, hash: 'before' };
  const events = linkEvents([one!, two!], 's-1', end, context, { causationId: 'cause', idempotency });
  const [firstHash, secondHash] = [eventHash('before', one!), eventHash(eventHash('before', one!), two!)];
  const common = { actor: 'a', requestId: 'r', $correlationId: 'c', $causationId: 'cause' };
  expect(events).toEqual([
    {
      stream: 's-1',
      revision: 7,
      id: expect.stringMatching(/^evt_/),
      event: one,
      metadata: { ...common, previousHash: 'before', hash: firstHash, idempotency },
    },
    {
      stream: 's-1',
      revision: 8,
      id: expect.stringMatching(/^evt_/),
      event: two,
      metadata: { ...common, previousHash: firstHash, hash: secondHash },
    },
  ]);
  expect(events[0]!.id).not.toBe(events[1]!.id);
});
