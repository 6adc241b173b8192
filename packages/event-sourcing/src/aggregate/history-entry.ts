import type { RecordedEntry, RecordedHistory } from '@cpg/contracts';
import { AnyEvent, type Recorded } from '../store/recorded.ts';
import { type HistoryRange, type HistoryStream, readHistory } from './history.ts';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** A recorded event in the format of the audit export. */
export const historyEntry = ({
  id,
  stream,
  revision,
  event,
  metadata,
  recordedAt,
}: Recorded<AnyEvent>): RecordedEntry => ({
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

/** Reads recorded events of some streams page by page, as `readHistory` does. */
export const readHistoryEntries = (
  client: EventStoreDBClient,
  streams: readonly HistoryStream[],
  range: HistoryRange,
): Promise<RecordedHistory> =>
  readHistory({ client, decider: stateless, schema: AnyEvent, messageOf: historyEntry }, streams, range);
