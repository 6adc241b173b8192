import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { type Expectation, NO_REVISION, type ProposedEvent, sizeOf } from '../events.ts';
import { invalid, type Refusal, RefusedError } from '../refusals.ts';
import type { Written } from '../storage/batch.ts';
import type { Store } from '../store.ts';
import { toBatchStatus } from './errors.ts';
import { int64Of, proposedEventOf, streamIdentifier, streamNameOf, uuidOf } from './messages.ts';

const { BatchAppendResp } = streamsPb;
const { Empty } = emptyPb;
type BatchAppendCall = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;

/** An append whose events are still arriving, or that waits for its commit. */
interface Pending {
  readonly stream: string;
  readonly expected: Expectation;
  readonly deadlineMs: number;
  readonly events: ProposedEvent[];
  readonly abandoned: AbortController;
  bytes: number;
}

const DEADLINE_CHECK_MS = 200;
/** Appends of one call that may wait at a time; the client is not read from beyond that. */
const MAX_PENDING = 4_096;

/** Many appends on one call, each with a correlation id of its own, each answered once and when it is done.
 *  Resolves when the client has ended its side and everything is answered; throws what ends the call. */
export const batchAppend = (
  store: Store,
  maxAppendBytes: number,
  call: BatchAppendCall,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const pending = new Map<string, Pending>();
    let hasEnded = false;

    const answer = (correlationId: string, outcome: Written | Refusal) => {
      const append = pending.get(correlationId);
      if (!append) return; // timed out before
      pending.delete(correlationId);
      call.write(batchResponse(correlationId, append.stream, outcome));
      if (call.isPaused() && pending.size < MAX_PENDING) call.resume();
      if (hasEnded && pending.size === 0) finish();
    };

    const receive = (request: streamsPb.BatchAppendReq) => {
      const correlationId = uuidOf(request.getCorrelationId());
      const options = request.getOptions();
      if (options && !pending.has(correlationId)) pending.set(correlationId, begin(options));
      const append = pending.get(correlationId);
      if (!append) return; // the rest of one that was refused
      try {
        for (const message of request.getProposedMessagesList()) {
          const event = proposedEventOf(message);
          append.events.push(event);
          append.bytes += sizeOf(event);
        }
        if (append.bytes > maxAppendBytes) throw new RefusedError({ kind: 'append-too-large', limit: maxAppendBytes });
      } catch (error) {
        return answer(correlationId, refusalOf(error));
      }
      if (request.getIsFinal()) commit(correlationId, append);
    };

    const commit = (correlationId: string, { stream, expected, events, abandoned }: Pending) => {
      store.writer.execute({ kind: 'append', stream, expected, events }, abandoned.signal).then(
        (written) => answer(correlationId, written),
        (error) => {
          // Without its database the server fails the call as a whole, so that clients see it as unavailable.
          if (error instanceof RefusedError && error.refusal.kind !== 'unavailable')
            answer(correlationId, error.refusal);
          else finish(error);
        },
      );
      if (pending.size >= MAX_PENDING) call.pause();
    };

    const deadlines = setInterval(() => {
      const now = Date.now();
      for (const [correlationId, { deadlineMs, abandoned }] of pending) {
        if (deadlineMs > now) continue;
        abandoned.abort();
        answer(correlationId, { kind: 'deadline-exceeded' });
      }
    }, DEADLINE_CHECK_MS);

    const finish = (error?: unknown) => {
      clearInterval(deadlines);
      signal.removeEventListener('abort', cancel);
      for (const { abandoned } of pending.values()) abandoned.abort();
      pending.clear();
      if (error) reject(error);
      else resolve();
    };
    const cancel = () => finish(signal.reason);

    signal.addEventListener('abort', cancel, { once: true });
    call.on('data', (request: streamsPb.BatchAppendReq) => {
      try {
        receive(request);
      } catch (error) {
        finish(error);
      }
    });
    call.on('end', () => {
      hasEnded = true;
      if (pending.size === 0) finish();
    });
  });

const begin = (options: streamsPb.BatchAppendReq.Options): Pending => ({
  stream: streamNameOf(options.getStreamIdentifier()),
  expected: expectationOf(options),
  deadlineMs: options.getDeadline()?.toDate().getTime() ?? Infinity,
  events: [],
  abandoned: new AbortController(),
  bytes: 0,
});

const expectationOf = (options: streamsPb.BatchAppendReq.Options): Expectation => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasStreamPosition()) return int64Of(options.getStreamPosition());
  throw invalid('an expected revision is required');
};

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof RefusedError) return error.refusal;
  throw error;
};

const batchResponse = (
  correlationId: string,
  stream: string,
  outcome: Written | Refusal,
): streamsPb.BatchAppendResp => {
  const response = new BatchAppendResp();
  const id = new sharedPb.UUID();
  id.setString(correlationId);
  response.setCorrelationId(id);
  response.setStreamIdentifier(streamIdentifier(stream));
  if ('kind' in outcome) response.setError(toBatchStatus(outcome));
  else response.setSuccess(success(outcome));
  return response;
};

const success = ({ revision, position }: Written): streamsPb.BatchAppendResp.Success => {
  const written = new BatchAppendResp.Success();
  if (revision === NO_REVISION) written.setNoStream(new Empty());
  else written.setCurrentRevision(String(revision));
  if (position === null) written.setNoPosition(new Empty());
  else {
    const place = new sharedPb.AllStreamPosition();
    place.setCommitPosition(String(position));
    place.setPreparePosition(String(position));
    written.setPosition(place);
  }
  return written;
};
