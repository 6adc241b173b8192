import { createHash } from 'node:crypto';
import { Minor, Timestamp } from '@cpg/contracts';
import type { ResolvedEvent } from '@eventstore/db-client';
import canonicalize from 'canonicalize';
import { ulidToUUID, uuidToULID } from 'ulid';
import { z } from 'zod';

/** What auditors need to know of every event, in its metadata. `$correlationId` and `$causationId` are EventStoreDB's
 *  own names. */
export const EventMetadata = z.object({
  actor: z.string(),
  requestId: z.string(),
  $correlationId: z.string(),
  $causationId: z.string(),
  previousHash: z.string(),
  hash: z.string(),
});
export type EventMetadata = z.infer<typeof EventMetadata>;

/** A log position, as a checkpoint keeps it. */
export const LogPosition = z.object({ commit: Minor, prepare: Minor });
export type LogPosition = z.infer<typeof LogPosition>;

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

/** An event as it stands in its stream. */
export interface Recorded<E extends DomainEvent = DomainEvent> {
  readonly stream: string;
  /** Its number on the stream, from 0. */
  readonly revision: number;
  /** `evt_` and a ULID. EventStoreDB keeps the same 128 bits as a UUID. */
  readonly id: string;
  readonly event: E;
  readonly metadata: EventMetadata;
  /** When the event store wrote it; absent until it is read. */
  readonly recordedAt?: Date;
  /** Its place in $all; absent when it was read from its stream. */
  readonly position?: LogPosition;
}

/** An event of any kind, its data as they are stored. */
export const AnyEvent = z.object({ type: z.string(), data: z.looseObject({ at: Timestamp }) });
export type AnyEvent = z.infer<typeof AnyEvent>;

const PREFIX = 'evt_';

export const eventUuid = (id: string): string => ulidToUUID(id.slice(PREFIX.length));

const eventId = (uuid: string): string => PREFIX + uuidToULID(uuid.toUpperCase());

/** Reads an event from the client with the schema of its stream. Throws ZodError for malformed data. The schema decides about event types
 *  that it does not know: those of orders and payments accept them as they are recorded. */
export const parseRecorded = <E extends DomainEvent>(schema: z.ZodType<E>, { event }: ResolvedEvent): Recorded<E> => {
  if (!event) throw new Error('a link to an event that is gone');
  const position = 'position' in event ? (event.position as { commit: bigint; prepare: bigint }) : undefined;
  return {
    stream: event.streamId,
    revision: Number(event.revision),
    id: eventId(event.id),
    event: schema.parse({ type: event.type, data: event.data }),
    metadata: EventMetadata.parse(event.metadata),
    recordedAt: event.created,
    ...(position && { position: { commit: String(position.commit), prepare: String(position.prepare) } }),
  };
};

const STREAM_DELETED = '$streamDeleted';

/** Whether an entry of the log says that its stream was tombstoned. */
export const isTombstone = ({ event }: ResolvedEvent): boolean => event?.type === STREAM_DELETED;

/** Where the hash chain of a stream begins: its name, so that a stream cannot be passed off as another. */
export const genesisHash = (stream: string): string => sha256(stream);

/** The hash of an event: SHA-256 over the previous hash, the type and the data in canonical JSON (RFC 8785). */
export const eventHash = (previousHash: string, event: DomainEvent): string =>
  sha256(`${previousHash}\n${event.type}\n${canonicalize(event.data)}`);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
