import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { createEventFilter, type EventFilter } from '../event-filter.ts';
import type { RecordedEvent } from '../events.ts';
import { readAll, type ReadMessage, readStream } from '../read.ts';
import { invalid, unsupported } from '../refusals.ts';
import type { Store } from '../store.ts';
import { subscribeToAll, subscribeToStream } from '../subscriptions.ts';
import { clampToInt64, contentTypeOf, streamIdentifier, streamNameOf, type UuidForm, uuidMessage } from './messages.ts';

type Options = streamsPb.ReadReq.Options;
type FilterOptions = streamsPb.ReadReq.Options.FilterOptions;

/** Serves the call that the protocol uses for reads and subscriptions, of a stream and of $all. A read starts at the
 *  revision or position that it names; a subscription, and a read of $all backwards, starts with the next event in its
 *  direction. */
export async function* read(
  store: Store,
  request: streamsPb.ReadReq,
  signal: AbortSignal,
): AsyncGenerator<streamsPb.ReadResp> {
  const options = request.getOptions();
  if (!options) throw invalid('a read must have options');
  if (options.getResolveLinks()) throw unsupported('the embedded event store does not resolve links');
  const uuids = options.getUuidOption()?.hasString() ? 'string' : 'structured';
  for await (const message of messagesFor(store, options, signal)) yield readResponse(message, uuids);
}

const messagesFor = (store: Store, options: Options, signal: AbortSignal): AsyncGenerator<ReadMessage> => {
  const backwards = options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
  const direction = backwards ? 'backwards' : 'forwards';
  if (options.hasSubscription() && backwards) throw invalid('a subscription cannot read backwards');

  if (options.hasStream()) {
    if (options.hasFilter()) throw invalid('only a read of $all can have a filter');
    const stream = streamNameOf(options.getStream()!.getStreamIdentifier());
    const from = revisionOf(options.getStream()!);
    if (options.hasSubscription()) return subscribeToStream(store, { stream, from }, signal);
    // Clients with this number understand messages with the first and last stream position.
    const includePositions = (options.getControlOption()?.getCompatibility() ?? 0) >= 1;
    return readStream(store.reader, {
      stream,
      direction,
      from,
      maxCount: clampToInt64(options.getCount()),
      includePositions,
    });
  }
  if (!options.hasAll()) throw invalid('a read must name a stream or $all');
  const from = positionOf(options.getAll()!);
  const filter = options.getFilter();
  const matches = filter && filterOf(filter);
  if (!options.hasSubscription())
    return readAll(
      store.reader,
      { direction, from, maxCount: clampToInt64(options.getCount()), filter: matches },
      signal,
    );
  if (!filter || !matches) return subscribeToAll(store, { from }, signal);
  return subscribeToAll(store, { from, filter: { matches, checkpointInterval: checkpointIntervalOf(filter) } }, signal);
};

const revisionOf = (stream: streamsPb.ReadReq.Options.StreamOptions): 'start' | 'end' | bigint => {
  if (stream.hasStart()) return 'start';
  return stream.hasEnd() ? 'end' : clampToInt64(stream.getRevision());
};

/** The commit position names an event alone: here its prepare position is the same. */
const positionOf = (all: streamsPb.ReadReq.Options.AllOptions): 'start' | 'end' | bigint => {
  if (all.hasStart()) return 'start';
  return all.hasEnd() ? 'end' : clampToInt64(all.getPosition()!.getCommitPosition());
};

const filterOf = (filter: FilterOptions): EventFilter => {
  const onType = filter.getEventType();
  const expression = onType ?? filter.getStreamIdentifier();
  if (!expression) throw invalid('a filter must be by event type or by stream name');
  return createEventFilter(onType ? 'type' : 'stream', expression.getPrefixList(), expression.getRegex());
};

/** A filtered subscription reads the log in windows of `max` events, matching or not; by default of this many. Source:
 *  `ReadBatchSize` of EventStoreDB's enumerators. */
const DEFAULT_WINDOW_EVENTS = 32;

/** After how many events of the log a filtered subscription gets a checkpoint. */
const checkpointIntervalOf = (filter: FilterOptions): number => {
  const multiplier = filter.getCheckpointintervalmultiplier();
  if (multiplier === 0) throw invalid('the checkpoint interval multiplier must be at least 1');
  return multiplier * (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW_EVENTS);
};

const { ReadResp } = streamsPb;
const { ReadEvent } = ReadResp;

/** Event ids are written in the form that the client asked for. */
export const readResponse = (message: ReadMessage, uuids: UuidForm): streamsPb.ReadResp => {
  const response = new ReadResp();
  switch (message.kind) {
    case 'event': {
      const event = new ReadEvent();
      event.setEvent(recordedEvent(message.event, uuids));
      event.setCommitPosition(String(message.event.position));
      response.setEvent(event);
      return response;
    }
    case 'confirmation': {
      const confirmation = new ReadResp.SubscriptionConfirmation();
      confirmation.setSubscriptionId(message.subscriptionId);
      response.setConfirmation(confirmation);
      return response;
    }
    case 'checkpoint': {
      const checkpoint = new ReadResp.Checkpoint();
      checkpoint.setCommitPosition(String(message.position));
      checkpoint.setPreparePosition(String(message.position));
      response.setCheckpoint(checkpoint);
      return response;
    }
    case 'caught-up':
      response.setCaughtUp(new ReadResp.CaughtUp());
      return response;
    case 'stream-not-found': {
      const notFound = new ReadResp.StreamNotFound();
      notFound.setStreamIdentifier(streamIdentifier(message.stream));
      response.setStreamNotFound(notFound);
      return response;
    }
    case 'first-stream-position':
      response.setFirstStreamPosition(String(message.revision));
      return response;
    case 'last-stream-position':
      response.setLastStreamPosition(String(message.revision));
      return response;
  }
};

const recordedEvent = (event: RecordedEvent, uuids: UuidForm): streamsPb.ReadResp.ReadEvent.RecordedEvent => {
  const message = new ReadEvent.RecordedEvent();
  message.setId(uuidMessage(event.id, uuids));
  message.setStreamIdentifier(streamIdentifier(event.stream));
  message.setStreamRevision(String(event.revision));
  message.setPreparePosition(String(event.position));
  message.setCommitPosition(String(event.position));
  const properties = message.getMetadataMap();
  properties.set('type', event.type);
  // In units of 100 ns since 1970.
  properties.set('created', String(event.createdTicks));
  properties.set('content-type', contentTypeOf(event));
  message.setData(event.data);
  message.setCustomMetadata(event.metadata);
  return message;
};
