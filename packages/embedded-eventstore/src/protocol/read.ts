import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { eventFilter, type EventFilter } from '../filter.ts';
import { readAll, readStream } from '../read.ts';
import { invalid, unsupported } from '../refusals.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../subscriptions/messages.ts';
import { subscribeToAll } from '../subscriptions/subscribe-all.ts';
import { subscribeToStream } from '../subscriptions/subscribe-stream.ts';
import { int64Of, readResponse, streamNameOf } from './messages.ts';

type Options = streamsPb.ReadReq.Options;
type FilterOptions = streamsPb.ReadReq.Options.FilterOptions;

/** Reads and subscriptions, of a stream or of $all: the protocol has one call for the four of them. */
export async function* read(
  store: Store,
  request: streamsPb.ReadReq,
  signal: AbortSignal,
): AsyncGenerator<streamsPb.ReadResp> {
  const options = request.getOptions();
  if (!options) throw invalid('options are required');
  if (options.getResolveLinks()) throw unsupported('the embedded event store does not resolve links');
  const uuids = options.getUuidOption()?.hasString() ? 'string' : 'structured';
  for await (const message of messagesFor(store, options, signal)) yield readResponse(message, uuids);
}

const messagesFor = (store: Store, options: Options, signal: AbortSignal): AsyncGenerator<ReadMessage> => {
  const backwards = options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
  const direction = backwards ? 'backwards' : 'forwards';
  if (options.hasSubscription() && backwards) throw invalid('a subscription goes forwards');

  if (options.hasStream()) {
    if (options.hasFilter()) throw invalid('only $all can be filtered');
    const stream = streamNameOf(options.getStream()!.getStreamIdentifier());
    const from = revisionOf(options.getStream()!);
    if (options.hasSubscription()) return subscribeToStream(store, { stream, from }, signal);
    const tellsPositions = (options.getControlOption()?.getCompatibility() ?? 0) >= 1;
    return readStream(store.reader, { stream, direction, from, maxCount: int64Of(options.getCount()), tellsPositions });
  }
  if (!options.hasAll()) throw invalid('a read names a stream or $all');
  const from = positionOf(options.getAll()!);
  const filter = options.getFilter();
  const wants = filter && filterOf(filter);
  if (!options.hasSubscription())
    return readAll(store.reader, { direction, from, maxCount: int64Of(options.getCount()), wants }, signal);
  if (!filter || !wants) return subscribeToAll(store, { from }, signal);
  return subscribeToAll(store, { from, filter: { wants, checkpointInterval: checkpointIntervalOf(filter) } }, signal);
};

const revisionOf = (stream: streamsPb.ReadReq.Options.StreamOptions): 'start' | 'end' | bigint => {
  if (stream.hasStart()) return 'start';
  return stream.hasEnd() ? 'end' : int64Of(stream.getRevision());
};

const positionOf = (all: streamsPb.ReadReq.Options.AllOptions): 'start' | 'end' | bigint => {
  if (all.hasStart()) return 'start';
  return all.hasEnd() ? 'end' : int64Of(all.getPosition()!.getCommitPosition());
};

const filterOf = (filter: FilterOptions): EventFilter => {
  const onType = filter.getEventType();
  const expression = onType ?? filter.getStreamIdentifier();
  if (!expression) throw invalid('a filter is by event type or by stream name');
  try {
    return eventFilter(onType ? 'type' : 'stream', expression.getPrefixList(), expression.getRegex());
  } catch (error) {
    throw invalid((error as Error).message);
  }
};

/** Window of a filter that does not say one, in events. Source: `ReadBatchSize` of EventStoreDB's enumerators. */
const DEFAULT_WINDOW = 32;

const checkpointIntervalOf = (filter: FilterOptions): number => {
  const multiplier = filter.getCheckpointintervalmultiplier();
  if (multiplier === 0) throw invalid('the checkpoint interval multiplier is at least 1');
  return multiplier * (filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW);
};
