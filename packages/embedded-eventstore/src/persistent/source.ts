import { NO_REVISION, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { type Resolved, resolve } from '../links.ts';
import { ALL, type GroupRow } from '../storage/group-rows.ts';
import type { Reader } from '../storage/reader.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../subscriptions/messages.ts';
import { subscribeToAll } from '../subscriptions/subscribe-all.ts';
import { subscribeToStream } from '../subscriptions/subscribe-stream.ts';
import type { Message } from './group.ts';
import { PARKED_PREFIX, PARKED_SUFFIX } from './parked-messages.ts';
import { filterOf, type GroupSettings, type StartFrom } from './settings.ts';

/** Events that a filter leaves out are passed this many at a time. */
const PASS_EVENTS = 100;

/** What a group reads: its stream, or the log through its filter, after a place; for ever. */
export const follow = (
  store: Store,
  { source, settings: { filter } }: GroupRow,
  after: bigint,
  signal: AbortSignal,
): AsyncGenerator<ReadMessage> => {
  if (source !== ALL) return subscribeToStream(store, { stream: source, from: after }, signal);
  const isWanted = filter ? filterOf(filter) : () => true;
  const wants = (event: RecordedEvent) => !isParkedOfAll(event) && isWanted(event);
  return subscribeToAll(store, { from: after, filter: { wants, checkpointInterval: PASS_EVENTS } }, signal);
};

/** What groups of $all parked is not read by them again. */
const isParkedOfAll = ({ stream }: RecordedEvent): boolean =>
  stream.startsWith(`${PARKED_PREFIX}${ALL}::`) && stream.endsWith(PARKED_SUFFIX);

/** Where an event of this source stands. */
export const placeOf = (source: string, { revision, position }: RecordedEvent): bigint =>
  source === ALL ? position : revision;

/** The place after which a group begins that starts `from`. */
export const startOf = async ({ reader, live }: Store, source: string, from: StartFrom): Promise<bigint> => {
  if (from === 'start') return source === ALL ? 0n : NO_REVISION;
  if (from !== 'end') return from - 1n;
  if (source === ALL) return live.head;
  return (await reader.streamBackwards(source, TOMBSTONE, 1)).last;
};

/** A message of what was read; null if it is a link that leads nowhere. */
export const messageOf = async (
  reader: Reader,
  original: RecordedEvent,
  { origin, place }: Pick<Message, 'origin' | 'place'>,
  { resolveLinks, strategy }: Pick<GroupSettings, 'resolveLinks' | 'strategy'>,
): Promise<Message | null> => {
  const { event, link }: Resolved = resolveLinks ? await resolve(reader, original) : { event: original };
  if (!event) return null;
  const correlationId = strategy === 'PinnedByCorrelation' ? correlationIdOf(event) : undefined;
  return { id: original.id, event, link, stream: event.stream, correlationId, origin, place, retryCount: 0 };
};

const correlationIdOf = ({ metadata }: RecordedEvent): string | undefined => {
  try {
    const { $correlationId } = JSON.parse(Buffer.from(metadata).toString()) as { $correlationId?: unknown };
    return typeof $correlationId === 'string' ? $correlationId : undefined;
  } catch {
    return undefined;
  }
};
