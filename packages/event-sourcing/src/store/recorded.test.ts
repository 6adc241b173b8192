import { createHash } from 'node:crypto';
import { newId } from '@cpg/platform';
import { AT } from '../testing/jest-memory-store.ts';
import { METADATA } from '../testing/metadata.ts';
import { UnreadableEventError } from './errors.ts';
import {
  AnyEvent,
  eventHash,
  type EventMetadata,
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

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');

describe('the hash of an event', () => {
  const recorded = {
    stream: 's-1',
    revision: 3,
    id: 'evt_1',
    event: { type: 'T', data: { b: 1, a: [2] } },
    metadata: METADATA,
  };
  const hash = eventHash(recorded);

  test('is the one that the documents describe', () => {
    expect(genesisHash('s-1')).toBe(sha256('s-1'));
    const json =
      '{"actor":"a","causation_id":"r","correlation_id":"c","data":{"a":[2],"b":1},"hash_version":2,"id":"evt_1",' +
      '"previous_hash":"p","request_id":"r","salt":"s","sequence":3,"stream":"s-1","type":"T"}';
    expect(hash).toBe(sha256(`cpg event 2\n${json}`));
  });

  const changedMetadata: Partial<EventMetadata>[] = [
    { actor: 'key:b' },
    { requestId: 'r2' },
    { $correlationId: 'c2' },
    { $causationId: 'r2' },
    { previousHash: 'p2' },
    { hashVersion: 3 },
    { salt: 's2' },
  ];
  test.each<[string, Partial<typeof recorded>]>([
    ['the stream', { stream: 's-2' }],
    ['the revision', { revision: 4 }],
    ['the id', { id: 'evt_2' }],
    ['the type', { event: { ...recorded.event, type: 'U' } }],
    ['the data', { event: { type: 'T', data: { b: 1, a: [3] } } }],
    ...changedMetadata.map((change): [string, Partial<typeof recorded>] => [
      `${Object.keys(change)[0]} of the metadata`,
      { metadata: { ...METADATA, ...change } },
    ]),
  ])('covers %s', (_, change) => expect(eventHash({ ...recorded, ...change })).not.toBe(hash));

  test('does not cover what no export shows', () => {
    const hidden = { secret: 'xpub', idempotency: { requestHash: 'h', until: AT }, hash: 'other' };
    expect(eventHash({ ...recorded, metadata: { ...METADATA, ...hidden } })).toBe(hash);
  });
});

test('linked events continue a stream, and the first one alone decides on repeats', () => {
  const [one, two] = [1, 2].map((n) => ({ type: 'Counted', data: { n } }));
  const idempotency = { requestHash: 'h', until: AT };
  const context = { actor: 'a', requestId: 'r', correlationId: 'c' };
  const end = { revision: 6, hash: 'before' };
  const events = linkEvents([one!, two!], 's-1', end, context, { causationId: 'cause', idempotency });
  const [first, second] = events.map((event) => ({ ...event, hash: eventHash(event) }));
  const salt = expect.stringMatching(/^[\w-]{22}$/);
  const common = { actor: 'a', requestId: 'r', $correlationId: 'c', $causationId: 'cause', hashVersion: 2, salt };
  const id = expect.stringMatching(/^evt_/);
  expect(events).toEqual([
    {
      stream: 's-1',
      revision: 7,
      id,
      event: one,
      metadata: { ...common, previousHash: 'before', hash: first!.hash, idempotency },
    },
    {
      stream: 's-1',
      revision: 8,
      id,
      event: two,
      metadata: { ...common, previousHash: first!.hash, hash: second!.hash },
    },
  ]);
  expect(events[0]!.id).not.toBe(events[1]!.id);
  expect(events[0]!.metadata.salt).not.toBe(events[1]!.metadata.salt);
});
