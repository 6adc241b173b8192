import { AppError } from '@cpg/contracts';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { UnreadableEventError } from '../store/errors.ts';
import type { LogPosition } from '../store/recorded.ts';
import { FencedError } from './checkpoint.ts';
import { isolateFaults, RefusedMessageError } from './parked-streams.ts';

const entryOf = (commit: number, name: string, type = 'Happened') =>
  ({
    event: { id: `id-${commit}`, streamId: name, type, position: { commit: BigInt(commit), prepare: BigInt(commit) } },
  }) as AllStreamResolvedEvent;
const nameOf = ({ event }: AllStreamResolvedEvent) => `${event!.streamId}@${event!.position.commit}`;
const END: LogPosition = { commit: '99', prepare: '99' };
const unreadable = new UnreadableEventError({ stream: 'a', revision: 1, type: 'Happened' }, new Error('a schema'));

/** A handler of batches in which `fault` decides on each event. `calls` has each attempt: the position, and its events.
 *  A `99` alone moves the checkpoint past parked events. */
const start = (fault: (name: string, call: number) => Error | null, { parked = [] as string[] } = {}) => {
  const streams = new Set(parked);
  const newlyParked: string[] = [];
  const calls: string[] = [];
  const aborting = new AbortController();
  const handle = isolateFaults(
    async (events, position) => {
      calls.push([position.commit, ...events.map(nameOf)].join(' '));
      for (const event of events) {
        const error = fault(nameOf(event), calls.length);
        if (error) throw error;
      }
    },
    {
      load: async () => {},
      has: (stream) => streams.has(stream),
      park: async (entry, error) => {
        streams.add(entry.event!.streamId);
        newlyParked.push(`${nameOf(entry)}: ${(error as Error).message}`);
      },
      retry: async () => {},
      isRetryDue: () => false,
    },
    aborting.signal,
  );
  return { calls, newlyParked, aborting, run: (...events: AllStreamResolvedEvent[]) => handle(events, END) };
};
const batch = [entryOf(1, 'a'), entryOf(2, 'b'), entryOf(3, 'a'), entryOf(4, 'b')];

test('events without a fault are handled together', async () => {
  const { calls, newlyParked, run } = start(() => null);
  await run(...batch);
  expect([calls, newlyParked]).toEqual([['99 a@1 b@2 a@3 b@4'], []]);
});

test.each([
  ['an event that cannot be read', unreadable],
  ['a message that Kafka refuses', new RefusedMessageError('too large')],
])('%s parks its stream at once, and the others go on', async (_, error) => {
  const { calls, newlyParked, run } = start((name) => (name === 'a@1' ? error : null));
  await run(...batch);
  expect(newlyParked).toEqual([`a@1: ${error.message}`]);
  expect(calls).toEqual(['99 a@1 b@2 a@3 b@4', '1 a@1', '2 b@2', '4 b@4', '99']);
});

test('an unknown error is tried five times together, and five times alone', async () => {
  const { calls, newlyParked, run } = start((name) => (name === 'a@3' ? new TypeError('a bug') : null));
  await run(...batch);
  expect(newlyParked).toEqual(['a@3: a bug']);
  expect(calls).toEqual([
    ...Array<string>(5).fill('99 a@1 b@2 a@3 b@4'),
    '1 a@1',
    '2 b@2',
    ...Array<string>(5).fill('3 a@3'),
    '4 b@4',
    '99',
  ]);
});

test('an error that passes parks nothing', async () => {
  const { calls, newlyParked, run } = start((_, call) => (call < 5 ? new TypeError('for a moment') : null));
  await run(...batch);
  expect([calls.length, newlyParked]).toEqual([5, []]);
});

test.each([
  ['another leader', new FencedError('another process')],
  ['an unavailable dependency', new AppError('dependency_unavailable', 'away')],
  ['an outage of PostgreSQL', Object.assign(new Error('starting up'), { code: '57P03' })],
  ['an outage of Kafka', Object.assign(new Error('no broker'), { name: 'KafkaJSConnectionError' })],
])('%s parks nothing, and is thrown at once', async (_, outage) => {
  const all = start(() => outage);
  await expect(all.run(...batch)).rejects.toBe(outage);
  expect([all.calls.length, all.newlyParked]).toEqual([1, []]);
  const later = start((name) => (name === 'a@1' ? unreadable : name === 'b@4' ? outage : null));
  await expect(later.run(...batch)).rejects.toBe(outage);
  expect(later.newlyParked).toEqual(['a@1: ' + unreadable.message]);
  expect(later.calls.at(-1)).toBe('4 b@4');
});

test.each([
  ['together', 1],
  ['alone', 2],
])('an abort while events are handled %s parks nothing more', async (_, call) => {
  const { newlyParked, aborting, run } = start((_name, calls) => {
    if (calls === call) aborting.abort(new Error('stopped'));
    return unreadable;
  });
  await expect(run(...batch)).rejects.toThrow('stopped');
  expect(newlyParked).toEqual([]);
});

test('events of parked streams wait, except the deletion of such a stream', async () => {
  const { calls, run } = start(() => null, { parked: ['a'] });
  await run(...batch, entryOf(5, 'a', '$streamDeleted'));
  expect(calls).toEqual(['99 b@2 b@4 a@5']);
});
