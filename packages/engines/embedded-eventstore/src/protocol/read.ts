import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { createEventFilter, type EventFilter } from '../event-filter.ts';
import { readAll, readStream } from '../read.ts';
import { invalid, unsupported } from '../refusals.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../read-message.ts';
import { subscribeToAll } from '../subscriptions/subscribe-all.ts';
import { subscribeToStream } from '../subscriptions/subscribe-stream.ts';
import { clampToInt64, streamNameOf } from './messages.ts';
import { readResponse } from './read-response.ts';

type Options = streamsPb.ReadReq.Options;
type FilterOptions = streamsPb.ReadReq.Options.FilterOptions;

/** Serves the call that the protocol uses for reads and subscriptions, of a stream and of $all. */
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

/** Window of a filter without `max`, in events. Source: `ReadBatchSize` of EventStoreDB's enumerators. */
const DEFAULT_WINDOW = 32;

const checkpointIntervalOf = (filter: FilterOptions): number => {
  const multiplier = filter.getCheckpointintervalmultiplier();
  if (multiplier === 0) throw invalid('the checkpoint interval multiplier must be at least 1');
  return multiplier * (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW);
};
