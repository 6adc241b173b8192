import { Readable } from 'node:stream';
import { newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { ulidToUUID } from 'ulid';
import { foldedStream } from './folded-stream.ts';
import { AnyEvent } from '../store/recorded.ts';

const AT = '2026-01-31T12:00:00.000Z';
const METADATA = { actor: 'a', requestId: 'r', $correlationId: 'r', $causationId: 'r', previousHash: 'p', hash: 'h' };
const CONTEXT = { actor: 'service:test', requestId: 'req', correlationId: 'req' };

const recordedAs = (type: string, revision: number) => {
  const id = ulidToUUID(newId('event').slice('evt_'.length));
  return {
    id,
    type,
    streamId: 's',
    revision: BigInt(revision),
    created: new Date(),
    data: { at: AT },
    metadata: METADATA,
  };
};

/** One stream in memory, with the revisions from which it was read. */
const startStore = () => {
  let events: ReturnType<typeof recordedAs>[] = [];
  const reads: number[] = [];
  const client = {
    readStream: (_: string, { fromRevision }: { fromRevision: bigint }) => {
      reads.push(Number(fromRevision));
      return Readable.from(events.slice(Number(fromRevision)).map((event) => ({ event })));
    },
    appendToStream: async (
      _: string,
      proposed: { type: string }[],
      { expectedRevision }: { expectedRevision: unknown },
    ) => {
      const end = expectedRevision === 'no_stream' ? -1 : Number(expectedRevision);
      if (end !== events.length - 1) return { success: false };
      events.push(...proposed.map(({ type }, n) => recordedAs(type, end + 1 + n)));
      return { success: true };
    },
  };
  const start = () =>
    foldedStream({
      client: client as unknown as EventStoreDBClient,
      stream: 's',
      schema: AnyEvent,
      initial: [] as readonly string[],
      evolve: (state, recorded) => [...state, ...recorded.map(({ event }) => event.type)],
    });
  return {
    reads,
    start,
    record: (...types: string[]) => types.forEach((type) => events.push(recordedAs(type, events.length))),
    /** As an older backup does. */
    keep: (count: number) => void (events = events.slice(0, count)),
  };
};
const propose = (type: string) => [{ event: { type, data: { at: AT } } }];

test('reads an empty stream, and then the last known event with those after it', async () => {
  const { start, record, reads } = startStore();
  const { read } = start();
  expect(await read()).toEqual([]);
  record('A', 'B');
  expect(await read()).toEqual(['A', 'B']);
  record('C');
  expect(await read()).toEqual(['A', 'B', 'C']);
  expect(reads).toEqual([0, 0, 1]);
});

test('calls of one moment share a read', async () => {
  const { start, record, reads } = startStore();
  record('A');
  const { read } = start();
  expect(await Promise.all([read(), read(), read()])).toEqual([['A'], ['A'], ['A']]);
  expect(reads).toHaveLength(1);
});

test('decides again on the events of another process', async () => {
  const { start } = startStore();
  const [one, other] = [start(), start()];
  const once = (type: string) => (state: readonly string[]) => (state.length === 0 ? propose(type) : []);
  const both = await Promise.all([one.change(once('A'), CONTEXT), other.change(once('B'), CONTEXT)]);
  expect(both[0]).toEqual(both[1]);
  expect(both[0]).toHaveLength(1);
});

test('a stream that an older backup shortened, or went on differently, is folded again', async () => {
  const { start, record, keep } = startStore();
  const folded = start();
  record('A', 'B', 'C');
  await folded.read();
  keep(1);
  expect(await folded.read()).toEqual(['A']);
  record('D', 'E');
  expect(await folded.read()).toEqual(['A', 'D', 'E']);
  expect(await folded.change(() => propose('F'), CONTEXT)).toEqual(['A', 'D', 'E', 'F']);
});
