import { Readable } from 'node:stream';
import { newId } from '@cpg/platform';
import { type EventStoreDBClient, StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client';
import { eventUuid } from '../store/recorded.ts';
import { METADATA } from './metadata.ts';

export const AT = '2026-01-31T12:00:00.000Z';

interface Proposed {
  readonly id?: string;
  readonly type: string;
  readonly data?: unknown;
  readonly metadata?: object;
}
interface ReadOptions {
  readonly fromRevision: bigint | 'start' | 'end';
  readonly direction?: 'forwards' | 'backwards';
  readonly maxCount?: number;
}

/** Streams in memory, behind the client of EventStoreDB: for what the real engine does not do on demand. */
export const memoryStore = () => {
  const streams = new Map<string, ReturnType<typeof recorded>[] | 'deleted'>();
  /** Each read, as `stream from+count`. */
  const reads: string[] = [];
  let appends = 0;

  const recorded = (streamId: string, revision: number, { id, type, data, metadata }: Proposed) => ({
    id: (id ?? eventUuid(newId('event'))).toLowerCase(),
    type,
    streamId,
    revision: BigInt(revision),
    created: new Date(AT),
    data: data ?? { at: AT },
    metadata: {
      ...METADATA,
      $causationId: 'c',
      hash: `hash ${revision}`,
      ...metadata,
    },
  });
  /** Records events without a check of the revision, as another process does. */
  const record = (stream: string, ...proposed: Proposed[]): void => {
    const events = streams.get(stream) ?? [];
    if (events === 'deleted') throw StreamDeletedError.fromStreamName(stream);
    streams.set(stream, [...events, ...proposed.map((event, n) => recorded(stream, events.length + n, event))]);
  };
  const failing = (error: Error) => new Readable({ objectMode: true, read: () => {} }).destroy(error);

  const client = {
    readStream: (stream: string, { fromRevision, direction = 'forwards', maxCount }: ReadOptions) => {
      reads.push(`${stream} ${fromRevision}+${maxCount}`);
      const events = streams.get(stream);
      if (events === undefined) return failing(new StreamNotFoundError(undefined, stream));
      if (events === 'deleted') return failing(StreamDeletedError.fromStreamName(stream));
      const isWanted = ({ revision }: { revision: bigint }) =>
        typeof fromRevision !== 'bigint' ||
        (direction === 'forwards' ? revision >= fromRevision : revision <= fromRevision);
      const wanted = events.filter(isWanted);
      const ordered = direction === 'forwards' ? wanted : wanted.toReversed();
      return Readable.from(ordered.slice(0, maxCount).map((event) => ({ event })));
    },
    appendToStream: async (
      stream: string,
      proposed: Proposed[],
      { expectedRevision }: { expectedRevision: unknown },
    ) => {
      appends += 1;
      const events = streams.get(stream) ?? [];
      if (events === 'deleted') throw StreamDeletedError.fromStreamName(stream);
      const end = expectedRevision === 'no_stream' ? -1 : Number(expectedRevision);
      if (end !== events.length - 1) return { success: false };
      record(stream, ...proposed);
      return { success: true };
    },
    tombstoneStream: async (stream: string) => void streams.set(stream, 'deleted'),
  };
  return {
    client: client as unknown as EventStoreDBClient,
    reads,
    appends: () => appends,
    record,
    /** Keeps the first events of a stream, as an older backup does. */
    keep: (stream: string, count: number) =>
      void streams.set(stream, (streams.get(stream) as ReturnType<typeof recorded>[]).slice(0, count)),
    eventsOf: (stream: string) => (streams.get(stream) ?? []) as ReturnType<typeof recorded>[],
  };
};
