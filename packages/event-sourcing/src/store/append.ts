import { outcomeUnknown } from '@cpg/contracts';
import { newContext, newId, withTimeout } from '@cpg/platform';
import {
  type EventStoreDBClient,
  jsonEvent,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { asUnavailable, EVENT_STORE } from './errors.ts';
import { linkEvents, type DomainEvent, eventUuid, genesisHash, type Recorded, type StreamEnd } from './recorded.ts';

/** Errors of the client before it has a connection. */
const NOT_CONNECTED = /No connection established|Failed to discover/;
const APPEND_TIMEOUT_MS = 4_000;
/** The client sends the deadline of an append as an instant of its own clock, and 10 s ahead by default. The server
 *  refuses it once its clock is past that, so it must be far ahead however much the clocks differ. */
export const FAR_DEADLINE_MS = 365 * 24 * 3_600_000;
const APPEND_ATTEMPTS = 2;

type AppendResult = 'appended' | 'conflict' | 'deleted';

/** Appends events after `expectedRevision` (-1: the stream must not exist). An append without an answer is retried with
 *  the same event ids, which EventStoreDB recognizes. When there is still no answer, it throws `outcome_unknown`: the
 *  events may or may not be recorded. Throws `dependency_unavailable` if nothing could be sent. `beforeAttempt` runs
 *  right before each attempt and may throw to refuse it; the append then throws that error, or `outcome_unknown` after
 *  an earlier attempt. */
export const append = async (
  client: EventStoreDBClient,
  stream: string,
  events: ReadonlyArray<Pick<Recorded, 'id' | 'event' | 'metadata'>>,
  expectedRevision: number,
  beforeAttempt: () => void = () => {},
): Promise<AppendResult> => {
  const proposed = events.map(({ id, event, metadata }) =>
    jsonEvent({ id: eventUuid(id), type: event.type, data: event.data as Record<string, unknown>, metadata }),
  );
  const options = {
    expectedRevision: expectedRevision < 0 ? ('no_stream' as const) : BigInt(expectedRevision),
    deadline: FAR_DEADLINE_MS,
  };
  await passGuard(client);
  let wasSent = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      beforeAttempt();
    } catch (refusal) {
      throw wasSent ? unanswered(refusal) : refusal;
    }
    try {
      // The client has no timeout for batch appends.
      const { success } = await withTimeout(APPEND_TIMEOUT_MS, client.appendToStream(stream, proposed, options));
      // With throwOnAppendFailure=false in its address, the client answers a conflict instead of throwing it.
      return success ? 'appended' : 'conflict';
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return 'conflict';
      // After an attempt without an answer, the deletion may have followed these events.
      if (error instanceof StreamDeletedError && !wasSent) return 'deleted';
      wasSent ||= !NOT_CONNECTED.test((error as Error).message);
      if (attempt < APPEND_ATTEMPTS) continue;
      throw wasSent ? unanswered(error) : asUnavailable(error);
    }
  }
};

const unanswered = (cause: unknown) =>
  outcomeUnknown('the event store did not answer, and the request may have taken effect', cause, EVENT_STORE);

/** Tombstones a stream: it can never be read again. Idempotent. With a revision, `conflict` if the stream has changed
 *  since. */
export const tombstone = async (
  client: EventStoreDBClient,
  stream: string,
  revision?: number,
): Promise<'tombstoned' | 'conflict'> => {
  await passGuard(client);
  try {
    await client.tombstoneStream(stream, { expectedRevision: revision === undefined ? 'any' : BigInt(revision) });
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) return 'conflict';
    if (!(error instanceof StreamDeletedError)) throw asUnavailable(error);
  }
  return 'tombstoned';
};

const guards = new WeakMap<EventStoreDBClient, () => Promise<void>>();

/** Runs `guard` before every append and tombstone of a client. When it throws, nothing is sent. */
export const guardAppends = (client: EventStoreDBClient, guard: () => Promise<void>): void =>
  void guards.set(client, guard);

const passGuard = async (client: EventStoreDBClient): Promise<void> => guards.get(client)?.();

/** The end of a stream after its last event; null before the first one. */
export const endOf = (stream: string, last: Pick<Recorded, 'revision' | 'metadata'> | null): StreamEnd =>
  last ? { revision: last.revision, hash: last.metadata.hash } : { revision: -1, hash: genesisHash(stream) };

/** Appends an event recorded without a request. Resolves to the new end of the stream, or null if
 *  another process appended meanwhile. Throws if the stream was deleted, and like `append`. */
export const appendOne = async (
  client: EventStoreDBClient,
  stream: string,
  event: DomainEvent,
  end: StreamEnd,
  actor: string,
): Promise<StreamEnd | null> => {
  const context = newContext(actor, newId('event'));
  const events = linkEvents([event], stream, end, context, { causationId: context.requestId });
  const result = await append(client, stream, events, end.revision);
  if (result === 'deleted') throw deletedStream(stream);
  return result === 'conflict' ? null : endOf(stream, events[0]!);
};

export const deletedStream = (stream: string): Error =>
  new Error(`the stream ${stream} was deleted: restore the event store from a backup`);
