import type { AllStreamResolvedEvent, EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { readLog } from './read-log.ts';
import { AnyEvent, eventHash, genesisHash, isTombstone, parseRecorded, type Recorded } from './recorded.ts';
import { eventBefore } from './stream.ts';

/** The event of a stream that the next event must reference by its hash. */
export type Link = { readonly revision: number; readonly hash: string };

/** Precedes the first event of a stream. */
const genesisOf = (stream: string): Link => ({ revision: -1, hash: genesisHash(stream) });

/** The fault of an event that follows `previous` on its stream, or null. With `previous` null only the event's own hash
 *  is checked: its predecessor is unreadable. */
export const chainFault = ({ revision, event, metadata }: Recorded, previous: Link | null): string | null => {
  if (previous && revision !== previous.revision + 1) return `the preceding event ${previous.revision + 1} is missing`;
  if (previous && metadata.previousHash !== previous.hash)
    return 'its previous hash does not match the preceding event';
  if (metadata.hash !== eventHash(metadata.previousHash, event)) return 'its hash does not match its data';
  return null;
};

const linkOf = ({ revision, metadata }: Recorded): Link => ({ revision, hash: metadata.hash });

/** Null when the event cannot be parsed. */
const recordedIn = (resolved: ResolvedEvent): Recorded<AnyEvent> | null => {
  try {
    return parseRecorded(AnyEvent, resolved);
  } catch {
    return null;
  }
};

export interface ChainFault {
  readonly stream: string;
  readonly revision: number;
  readonly fault: string;
}

export interface ChainVerification {
  readonly events: number;
  /** How many events have a fault. */
  readonly faults: number;
  /** At most `MAX_FAULTS_SHOWN` of them. */
  readonly shown: readonly ChainFault[];
}

const MAX_FAULTS_SHOWN = 50;

export interface ChainsOptions {
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
  /** Number of streams whose last event is cached. */
  readonly cachedStreams?: number;
}

/** Verifies the hash chains of all streams with these name prefixes in one pass over the log. Memory is bounded: on a
 *  cache miss the preceding event is read from its stream. */
export const verifyChains = async (
  client: EventStoreDBClient,
  { prefixes, signal, cachedStreams = 20_000 }: ChainsOptions,
): Promise<ChainVerification> => {
  const faultOf = chainChecker(client, cachedStreams);
  const shown: ChainFault[] = [];
  let events = 0;
  let faults = 0;
  const handle = async (batch: readonly AllStreamResolvedEvent[]) => {
    for (const resolved of batch) {
      const fault = await faultOf(resolved);
      if (!isTombstone(resolved)) events += 1;
      if (fault === null) continue;
      faults += 1;
      const { streamId: stream, revision } = resolved.event!;
      if (shown.length < MAX_FAULTS_SHOWN) shown.push({ stream, revision: Number(revision), fault });
    }
  };
  await readLog(client, { from: null, prefixes, handle, signal });
  return { events, faults, shown };
};

/** Checks events in log order, each against the event before it on its stream. */
const chainChecker = (client: EventStoreDBClient, cachedStreams: number) => {
  const heads = new LRUCache<string, Link>({ max: cachedStreams });

  const previousOf = async (stream: string, revision: number): Promise<Link | null> => {
    const head = revision === 0 ? genesisOf(stream) : heads.get(stream);
    if (head) return head;
    const before = await eventBefore(client, stream, revision);
    if (before === null) return genesisOf(stream);
    const recorded = before === 'deleted' ? null : recordedIn(before);
    return recorded && linkOf(recorded);
  };

  return async (resolved: AllStreamResolvedEvent): Promise<string | null> => {
    const { streamId: stream, revision } = resolved.event!;
    if (isTombstone(resolved)) {
      heads.delete(stream);
      return null;
    }
    const recorded = recordedIn(resolved);
    if (!recorded) {
      heads.delete(stream);
      return 'it is not a valid event';
    }
    const previous = await previousOf(stream, Number(revision));
    heads.set(stream, linkOf(recorded));
    return chainFault(recorded, previous);
  };
};
