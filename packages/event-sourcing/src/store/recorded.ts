import { createHash, randomBytes } from 'node:crypto';
import { Timestamp } from '@cpg/contracts';
import { type CallContext, newId } from '@cpg/platform';
import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import canonicalize from 'canonicalize';
import { ulidToUUID, uuidToULID } from 'ulid';
import { z } from 'zod';
import { UnreadableEventError } from './errors.ts';

/** The values that decide on repeats of a request: the fingerprint of the request, and until when its key is kept. */
const Idempotency = z.object({ requestHash: z.string(), until: Timestamp });
export type Idempotency = z.infer<typeof Idempotency>;

/** Metadata of every event, for audits. EventStoreDB defines the names `$correlationId` and `$causationId`. */
export const EventMetadata = z.object({
  actor: z.string(),
  requestId: z.string(),
  $correlationId: z.string(),
  $causationId: z.string(),
  previousHash: z.string(),
  hash: z.string(),
  /** Which fields the hash covers, and in which form: `HASH_VERSION`. */
  hashVersion: z.int(),
  /** 128 random bits in base64url. The record of a deletion keeps a hash: without them, who guesses the content could
   *  confirm it. */
  salt: z.string(),
  /** On the first event of a stream that a request with an Idempotency-Key created. */
  idempotency: Idempotency.optional(),
  /** A value whose hash is in the data. No audit and no log shows it. */
  secret: z.string().optional(),
});
export type EventMetadata = z.infer<typeof EventMetadata>;

/** A position in the log, as checkpoints store it. */
export interface LogPosition {
  readonly commit: string;
  readonly prepare: string;
  /** The event at the position. Absent in checkpoints of versions that did not store it. */
  readonly event?: { readonly id: string; readonly stream: string };
}

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

/** A recorded event. */
export interface Recorded<E extends DomainEvent = DomainEvent> {
  readonly stream: string;
  /** Position in its stream, starting at 0. */
  readonly revision: number;
  /** `evt_` and a ULID. EventStoreDB keeps the same 128 bits as a UUID. */
  readonly id: string;
  readonly event: E;
  readonly metadata: EventMetadata;
  /** When the event store recorded it; absent before it is read back. */
  readonly recordedAt?: Date;
}

/** The end of a stream: its last revision (-1 if empty), and the hash for the next event. */
export interface StreamEnd {
  readonly revision: number;
  readonly hash: string;
}

/** An event of any type, with its data as recorded. */
export const AnyEvent = z.object({ type: z.string(), data: z.looseObject({ at: Timestamp }) });
export type AnyEvent = z.infer<typeof AnyEvent>;

const PREFIX = 'evt_';

export const eventUuid = (id: string): string => ulidToUUID(id.slice(PREFIX.length));

/** The id of an event in messages, from its id in the event store. */
export const eventIdOf = (uuid: string): string => PREFIX + uuidToULID(uuid.toUpperCase());

/** Reads an event from the client with the schema of its stream. Throws UnreadableEventError for malformed data. The
 *  schema decides about event types that it does not know. */
export const parseRecorded = <E extends DomainEvent>(schema: z.ZodType<E>, { event }: ResolvedEvent): Recorded<E> => {
  if (!event) throw new Error('a link to a deleted event');
  const { streamId: stream, type } = event;
  const revision = Number(event.revision);
  try {
    return {
      stream,
      revision,
      id: eventIdOf(event.id),
      event: schema.parse({ type, data: event.data }),
      metadata: EventMetadata.parse(event.metadata),
      recordedAt: event.created,
    };
  } catch (error) {
    throw new UnreadableEventError({ stream, revision, type }, error);
  }
};

/** The position of a log entry. */
export const positionOf = ({ event }: AllStreamResolvedEvent): LogPosition => {
  const { id, streamId: stream, position } = event!;
  return { commit: String(position.commit), prepare: String(position.prepare), event: { id, stream } };
};

/** Null is the start of the log. */
export const isBefore = (one: LogPosition | null, other: LogPosition | null): boolean => {
  if (one === null || other === null) return other !== null;
  const [commit, otherCommit] = [BigInt(one.commit), BigInt(other.commit)];
  return commit < otherCommit || (commit === otherCommit && BigInt(one.prepare) < BigInt(other.prepare));
};

const STREAM_DELETED = '$streamDeleted';

/** Whether a log entry is the tombstone of its stream. */
export const isTombstone = ({ event }: ResolvedEvent): boolean => event?.type === STREAM_DELETED;

/** The start of a stream's hash chain. It depends on the name, so one stream cannot pass for another. */
export const genesisHash = (stream: string): string => sha256(stream);

/** The version of the hash that new events get. Version 1 covered the type and the data alone. */
export const HASH_VERSION = 2;

/** Begins the text that is hashed, so that no hash of another kind can pass for one of an event. */
const HASH_DOMAIN = `cpg event ${HASH_VERSION}`;

type Unsealed = Omit<Recorded, 'metadata' | 'recordedAt'> & { readonly metadata: Omit<EventMetadata, 'hash'> };

/** What the hash of an event covers, with the names of the audit export. Not the time of the event store, which the
 *  writer does not know yet, and not `idempotency` and `secret`, which no export shows. */
export const hashedFields = ({ id, stream, revision, event, metadata }: Unsealed) => ({
  id,
  stream,
  sequence: revision,
  type: event.type,
  actor: metadata.actor,
  request_id: metadata.requestId,
  correlation_id: metadata.$correlationId,
  causation_id: metadata.$causationId,
  hash_version: metadata.hashVersion,
  salt: metadata.salt,
  previous_hash: metadata.previousHash,
  data: event.data,
});

/** The hash of an event: SHA-256, in hexadecimal, over `cpg event 2`, a line feed and its `hashedFields` in canonical
 *  JSON (RFC 8785). */
export const eventHash = (event: Unsealed): string => sha256(`${HASH_DOMAIN}\n${canonicalJson(hashedFields(event))}`);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

// The types of the package describe its CommonJS export as an ES module.
const serialize = canonicalize as unknown as typeof canonicalize.default;

/** Canonical JSON of a value. Source: RFC 8785. */
const canonicalJson = (value: unknown): string | undefined => serialize(value);

/** Adds ids, revisions and metadata, with each event's hash chained to the one before it. `idempotency` goes to the
 *  first event. */
export const linkEvents = <E extends DomainEvent>(
  events: readonly E[],
  stream: string,
  end: StreamEnd,
  context: CallContext,
  { causationId, idempotency }: { readonly causationId: string; readonly idempotency?: Idempotency | undefined },
): Recorded<E>[] => {
  let { revision, hash } = end;
  return events.map((event, index) => {
    const linked = linkEvent({ id: newId('event'), event }, stream, { revision, hash }, context, causationId);
    ({ revision } = linked);
    ({ hash } = linked.metadata);
    return idempotency && index === 0 ? { ...linked, metadata: { ...linked.metadata, idempotency } } : linked;
  });
};

/** Adds revision and metadata to the event that follows the end of a stream. */
export const linkEvent = <E extends DomainEvent>(
  { id, event }: Pick<Recorded<E>, 'id' | 'event'>,
  stream: string,
  { revision, hash: previousHash }: StreamEnd,
  { actor, requestId, correlationId: $correlationId }: CallContext,
  $causationId: string,
): Recorded<E> => {
  const salt = randomBytes(16).toString('base64url');
  const metadata = { actor, requestId, $correlationId, $causationId, previousHash, hashVersion: HASH_VERSION, salt };
  return seal({ stream, revision: revision + 1, id, event, metadata });
};

/** Adds the hash of an event. */
export const seal = <E extends DomainEvent>(event: Unsealed & { readonly event: E }): Recorded<E> => ({
  ...event,
  metadata: { ...event.metadata, hash: eventHash(event) },
});
