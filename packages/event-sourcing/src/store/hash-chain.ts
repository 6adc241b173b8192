import type { AllStreamResolvedEvent, EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { readLog } from './log.ts';
import {
  AnyEvent,
  eventHash,
  genesisHash,
  HASH_VERSION,
  isTombstone,
  type LogPosition,
  parseRecorded,
  positionOf,
  type Recorded,
} from './recorded.ts';
import { eventBefore, rawEventsOf } from './stream.ts';

/** The event of a stream that the next event must reference by its hash. */
type Link = { readonly revision: number; readonly hash: string };

/** Precedes the first event of a stream. */
const genesisOf = (stream: string): Link => ({ revision: -1, hash: genesisHash(stream) });

/** The fault of an event that follows `previous` on its stream, or null. With `previous` null only the event's own hash
 *  is checked: its predecessor is unreadable. */
const hashChainFault = (recorded: Recorded, previous: Link | null): string | null => {
  const { revision, metadata } = recorded;
  if (previous && revision !== previous.revision + 1) return `the preceding event ${previous.revision + 1} is missing`;
  if (previous && metadata.previousHash !== previous.hash)
    return 'its previous hash does not match the preceding event';
  if (metadata.hashVersion !== HASH_VERSION)
    return `its hash has version ${metadata.hashVersion}, and this program checks version ${HASH_VERSION}`;
  if (metadata.hash !== eventHash(recorded)) return 'its hash does not match its content';
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

interface HashChainFault {
  readonly stream: string;
  readonly revision: number;
  readonly fault: string;
}

export interface HashChainVerification {
  /** How many events the log has, without those up to `since`. */
  readonly events: number;
  /** How many events have a fault. */
  readonly faults: number;
  /** At most `MAX_FAULTS_SHOWN` of them. */
  readonly shown: readonly HashChainFault[];
  /** The position in the log up to which this is true. */
  readonly position: LogPosition | null;
}

const MAX_FAULTS_SHOWN = 50;

export interface HashChainsOptions {
  readonly prefixes: readonly string[];
  /** Verifies only the streams with an event after this position, each from its first event. Default: all. */
  readonly since?: LogPosition | null;
  readonly signal: AbortSignal;
  /** Number of streams whose last event is cached. */
  readonly cachedStreams?: number;
}

/** Verifies the hash chains of streams with these name prefixes in one pass over the log. Memory is bounded: on a
 *  cache miss the preceding event is read from its stream. */
export const verifyHashChains = async (
  client: EventStoreDBClient,
  { prefixes, since = null, signal, cachedStreams = 20_000 }: HashChainsOptions,
): Promise<HashChainVerification> => {
  const shown: HashChainFault[] = [];
  let events = 0;
  let faults = 0;
  const report = (fault: HashChainFault) => {
    faults += 1;
    if (shown.length < MAX_FAULTS_SHOWN) shown.push(fault);
  };
  const check = hashChainChecker(client, { cachedStreams, checksEarlier: since !== null, report });
  const handle = async (batch: readonly AllStreamResolvedEvent[]) => {
    for (const resolved of batch) {
      if (since && isAt(resolved, since)) continue;
      await check(resolved);
      if (!isTombstone(resolved)) events += 1;
    }
  };
  const position = await readLog(client, { from: since, prefixes, handle, signal });
  return { events, faults, shown, position };
};

const isAt = (entry: AllStreamResolvedEvent, { commit, prepare }: LogPosition): boolean => {
  const position = positionOf(entry);
  return position.commit === commit && position.prepare === prepare;
};

interface CheckerOptions {
  readonly cachedStreams: number;
  /** Whether the events before the first one of a stream are checked too. */
  readonly checksEarlier: boolean;
  readonly report: (fault: HashChainFault) => void;
}

/** Checks events in log order, each against the event before it on its stream. */
const hashChainChecker = (client: EventStoreDBClient, { cachedStreams, checksEarlier, report }: CheckerOptions) => {
  const heads = new LRUCache<string, Link>({ max: cachedStreams });
  // A stream that left the cache is read again.
  const reportedEarlier = new Set<string>();

  const faultOf = (resolved: ResolvedEvent, previous: Link | null): HashChainFault | null => {
    const { streamId: stream, revision } = resolved.event!;
    const recorded = recordedIn(resolved);
    if (recorded) heads.set(stream, linkOf(recorded));
    else heads.delete(stream);
    const fault = recorded ? hashChainFault(recorded, previous) : 'it is not a valid event';
    return fault === null ? null : { stream, revision: Number(revision), fault };
  };

  /** Checks the events of a stream before a revision. Resolves to the last of them. */
  const earlierOf = async (stream: string, revision: number): Promise<Link | null> => {
    let previous: Link | null = genesisOf(stream);
    let isEmpty = true;
    for await (const resolved of rawEventsOf(client, stream)) {
      if (Number(resolved.event!.revision) >= revision) break;
      isEmpty = false;
      const fault = faultOf(resolved, previous);
      previous = heads.get(stream) ?? null;
      const key = `${fault?.revision}@${stream}`;
      if (fault && !reportedEarlier.has(key)) report(fault);
      if (fault) reportedEarlier.add(key);
    }
    return isEmpty ? eventBeforeIn(stream, revision) : previous;
  };

  const eventBeforeIn = async (stream: string, revision: number): Promise<Link | null> => {
    const before = await eventBefore(client, stream, revision);
    if (before === null) return genesisOf(stream);
    const recorded = before === 'deleted' ? null : recordedIn(before);
    return recorded && linkOf(recorded);
  };

  const previousOf = async (stream: string, revision: number): Promise<Link | null> => {
    if (revision === 0) return genesisOf(stream);
    return heads.get(stream) ?? (checksEarlier ? earlierOf(stream, revision) : eventBeforeIn(stream, revision));
  };

  return async (resolved: AllStreamResolvedEvent): Promise<void> => {
    const { streamId: stream, revision } = resolved.event!;
    if (isTombstone(resolved)) return void heads.delete(stream);
    const fault = faultOf(resolved, await previousOf(stream, Number(revision)));
    if (fault) report(fault);
  };
};
