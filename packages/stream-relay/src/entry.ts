import type { HistoryEntry, RecordedHistory } from '@cpg/contracts';
import { AnyEvent, type HistoryRange, type HistoryStream, readHistory, type Recorded } from '@cpg/event-store';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** A recorded event as auditors see it. */
export const entryOf = ({ id, stream, revision, event, metadata, recordedAt }: Recorded<AnyEvent>): HistoryEntry => ({
  id,
  stream,
  sequence: revision,
  type: event.type,
  at: event.data.at,
  recorded_at: recordedAt!.toISOString(),
  actor: metadata.actor,
  request_id: metadata.requestId,
  correlation_id: metadata.$correlationId,
  causation_id: metadata.$causationId,
  previous_hash: metadata.previousHash,
  hash: metadata.hash,
  data: event.data,
});

const stateless = { initial: null, evolve: () => null };

/** `readHistory` of what is recorded. */
export const readEntries = (
  client: EventStoreDBClient,
  streams: readonly HistoryStream[],
  range: HistoryRange,
): Promise<RecordedHistory> =>
  readHistory({ client, decider: stateless, schema: AnyEvent, messageOf: entryOf }, streams, range);
