import { createHash } from 'node:crypto';
import { type RecordedEntry, OrderEvent } from '@cpg/contracts';
import { type EventStoreDBClient, StreamDeletedError } from '@eventstore/db-client';
import canonicalize from 'canonicalize';
import { z } from 'zod';

const Metadata = z.object({
  actor: z.string().min(1),
  requestId: z.string().min(1),
  $correlationId: z.string().min(1),
  $causationId: z.string().min(1),
  previousHash: z.string(),
  hash: z.string(),
});

export interface StoredEvent {
  readonly revision: number;
  readonly event: OrderEvent;
  readonly metadata: z.infer<typeof Metadata>;
}

/** Reads the stream of an order from EventStoreDB and checks its hash chain. Null for a tombstone; throws for a
 *  broken chain. */
export const readOrderStream = async (client: EventStoreDBClient, orderId: string): Promise<StoredEvent[] | null> => {
  const stream = `order-${orderId}`;
  const stored: StoredEvent[] = [];
  let previousHash = sha256(stream);
  try {
    for await (const { event } of client.readStream(stream)) {
      if (!event) throw new Error(`${stream} contains a link`);
      const metadata = Metadata.parse(event.metadata);
      const hash = hashOf(previousHash, { type: event.type, data: event.data });
      if (metadata.previousHash !== previousHash || metadata.hash !== hash) {
        throw new Error(`the hash chain of ${stream} is broken at event ${event.revision}`);
      }
      previousHash = hash;
      stored.push({
        revision: Number(event.revision),
        event: OrderEvent.parse({ type: event.type, data: event.data }),
        metadata,
      });
    }
    return stored;
  } catch (error) {
    if (error instanceof StreamDeletedError) return null;
    throw error;
  }
};

/** The streams of a history in which each event names the hash of the one before it. The hashes themselves cover the
 *  recorded form, which only the audit commands print. */
export const linkedStreamsIn = (history: readonly Omit<RecordedEntry, 'data'>[]): string[] => {
  const streams = [...new Set(history.map(({ stream }) => stream))];
  return streams.filter((stream) => {
    const entries = history.filter((entry) => entry.stream === stream);
    return entries.every(({ sequence, previous_hash }, index) => {
      const previous = index === 0 ? sha256(stream) : entries[index - 1]!.hash;
      return sequence === index && previous_hash === previous;
    });
  });
};

/** The streams of a recorded history whose hash chain is complete and valid. */
export const intactStreamsIn = (history: readonly RecordedEntry[]): string[] => {
  const streams = [...new Set(history.map(({ stream }) => stream))];
  return streams.filter((stream) => {
    let previousHash = sha256(stream);
    return history
      .filter((entry) => entry.stream === stream)
      .every((entry, index) => {
        const follows = entry.sequence === index && entry.previous_hash === previousHash;
        previousHash = hashOf(previousHash, entry);
        return follows && entry.hash === previousHash;
      });
  });
};

const hashOf = (previousHash: string, { type, data }: { type: string; data: unknown }): string =>
  sha256(`${previousHash}\n${type}\n${serialize(data)}`);

// The types of the package describe its CommonJS export as an ES module.
const serialize = canonicalize as unknown as typeof canonicalize.default;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The entries that an `audit` command prints, one per line. */
export const entriesIn = (output: string): RecordedEntry[] =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedEntry);
