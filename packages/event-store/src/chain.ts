import type { AllStreamResolvedEvent, EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { readLog } from './log.ts';
import { AnyEvent, eventHash, genesisHash, isTombstone, parseRecorded, type Recorded } from './recorded.ts';
import { eventBefore } from './stream.ts';

/** The event of a stream that another one follows. */
export type Link = { readonly revision: number; readonly hash: string };

/** Before the first event of a stream. */
const startOf = (stream: string): Link => ({ revision: -1, hash: genesisHash(stream) });

/** What is wrong with an event that is to follow `previous` on its stream, or null. When what it follows cannot be known any more, null,
 *  only its own hash is looked at. */
export const chainFault = ({ revision, event, metadata }: Recorded, previous: Link | null): string | null => {
  if (previous && revision !== previous.revision + 1) return `event ${previous.revision + 1} is missing before it`;
  if (previous && metadata.previousHash !== previous.hash) return 'it does not follow the event before it';
  if (metadata.hash !== eventHash(metadata.previousHash, event)) return 'it is not what was hashed';
  return null;
};

const linkOf = ({ revision, metadata }: Recorded): Link => ({ revision, hash: metadata.hash });

/** Null for what cannot be read as one. */
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
  readonly faults: number;
  /** At most `CHAIN_FAULTS_SHOWN` of them. */
  readonly shown: readonly ChainFault[];
}

export const CHAIN_FAULTS_SHOWN = 50;

export interface ChainsOptions {
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
  /** Of how many streams the last event is remembered. */
  readonly remembered?: number;
}

/** Follows the hash chains of all streams whose names begin so, in one reading of the log. Memory is bounded: what an event follows is read
 *  again where it is long ago. What is left of deleted streams is looked at by itself. */
export const verifyChains = async (
  client: EventStoreDBClient,
  { prefixes, signal, remembered = 20_000 }: ChainsOptions,
): Promise<ChainVerification> => {
  const heads = new LRUCache<string, Link>({ max: remembered });
  const shown: ChainFault[] = [];
  let events = 0;
  let faults = 0;

  const previousOf = async (stream: string, revision: number): Promise<Link | null> => {
    const head = revision === 0 ? startOf(stream) : heads.get(stream);
    if (head) return head;
    const before = await eventBefore(client, stream, revision);
    if (before === null) return startOf(stream);
    const recorded = before === 'deleted' ? null : recordedIn(before);
    return recorded && linkOf(recorded);
  };
  const faultOf = async (resolved: AllStreamResolvedEvent): Promise<string | null> => {
    const { streamId: stream, revision } = resolved.event!;
    const recorded = recordedIn(resolved);
    if (!recorded) {
      heads.delete(stream);
      return 'it is no event of this system';
    }
    const previous = await previousOf(stream, Number(revision));
    heads.set(stream, linkOf(recorded));
    return chainFault(recorded, previous);
  };
  const handle = async (batch: readonly AllStreamResolvedEvent[]) => {
    for (const resolved of batch) {
      const { streamId: stream, revision } = resolved.event!;
      if (isTombstone(resolved)) {
        heads.delete(stream);
        continue;
      }
      events += 1;
      const fault = await faultOf(resolved);
      if (fault === null) continue;
      faults += 1;
      if (shown.length < CHAIN_FAULTS_SHOWN) shown.push({ stream, revision: Number(revision), fault });
    }
  };
  await readLog(client, { from: null, prefixes, handle, signal });
  return { events, faults, shown };
};
