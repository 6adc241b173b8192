import type sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type Expectation, type ProposedEvent, sizeOf } from '../events.ts';
import { invalid, type Refusal, RefusedError } from '../refusals.ts';
import type { Written } from '../storage/batch.ts';
import type { Store } from '../store.ts';
import { batchAppendResponse } from './batch-append-response.ts';
import { int64Of, proposedEventOf, streamNameOf } from './messages.ts';

type BatchAppendCall = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;

/** An append whose events are still arriving, or that waits for its commit. */
interface Pending {
  readonly correlationId: sharedPb.UUID | undefined;
  readonly options: streamsPb.BatchAppendReq.Options;
  readonly events: ProposedEvent[];
  /** Takes the append back unless its commit has begun. */
  readonly abandoned: AbortController;
  bytes: number;
  isComplete: boolean;
}

const DEADLINE_CHECK_MS = 200;
/** Appends of one call that may wait at a time; beyond that the client is not read from. */
const MAX_PENDING = 4_096;

/** Many appends on one call, each with a correlation id of its own, each answered once and as soon as it is done.
 *  Resolves when the client has ended its side and all is answered; throws what ends the call otherwise. */
export const batchAppend = (
  store: Store,
  maxAppendBytes: number,
  call: BatchAppendCall,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const appends = new BatchAppends(store, maxAppendBytes, call, (error) => {
      clearInterval(deadlines);
      if (error === undefined) resolve();
      else reject(error);
    });
    const deadlines = setInterval(() => appends.expire(Date.now()), DEADLINE_CHECK_MS);
    signal.addEventListener('abort', () => appends.stop(signal.reason), { once: true });
    call.on('cancelled', () => appends.fail(signal.reason));
    call.on('data', (request: streamsPb.BatchAppendReq) => appends.receive(request));
    call.on('end', () => appends.end());
  });

class BatchAppends {
  readonly #store: Store;
  readonly #maxAppendBytes: number;
  readonly #call: BatchAppendCall;
  readonly #finish: (error?: unknown) => void;
  readonly #pending = new Map<string, Pending>();
  /** What the call ends with once all is answered; null while it goes on. */
  #ending: { readonly error?: unknown } | null = null;

  constructor(store: Store, maxAppendBytes: number, call: BatchAppendCall, finish: (error?: unknown) => void) {
    this.#store = store;
    this.#maxAppendBytes = maxAppendBytes;
    this.#call = call;
    this.#finish = finish;
  }

  receive(request: streamsPb.BatchAppendReq): void {
    if (this.#ending) return;
    const key = keyOf(request.getCorrelationId());
    const options = request.getOptions();
    if (options && !this.#pending.has(key)) this.#pending.set(key, begin(request.getCorrelationId(), options));
    const append = this.#pending.get(key);
    if (!append) return; // the rest of one that was refused
    try {
      for (const message of request.getProposedMessagesList()) {
        const event = proposedEventOf(message);
        append.events.push(event);
        append.bytes += sizeOf(event);
      }
      if (append.bytes > this.#maxAppendBytes) {
        throw new RefusedError({ kind: 'append-too-large', limit: this.#maxAppendBytes });
      }
      if (request.getIsFinal()) this.#commit(key, append);
    } catch (error) {
      this.#refuse(key, error);
    }
    if (this.#pending.size >= MAX_PENDING) this.#call.pause();
  }

  /** Answers the appends whose deadline has passed. */
  expire(nowMs: number): void {
    for (const [key, { options, abandoned }] of this.#pending) {
      if (!isOver(options, nowMs)) continue;
      abandoned.abort();
      this.#answer(key, { kind: 'deadline-exceeded' });
    }
  }

  /** The client sends no more. */
  end(): void {
    this.#endWith({});
  }

  /** The server takes no more: what has arrived as a whole is still answered. */
  stop(reason: unknown): void {
    this.#call.pause();
    for (const [key, { isComplete }] of this.#pending) if (!isComplete) this.#pending.delete(key);
    this.#endWith({ error: reason });
  }

  /** Ends the call at once. */
  fail(error: unknown): void {
    for (const { abandoned } of this.#pending.values()) abandoned.abort();
    this.#pending.clear();
    this.#endWith({ error });
  }

  #commit(key: string, append: Pending): void {
    const { options, events, abandoned } = append;
    if (isOver(options, Date.now())) throw new RefusedError({ kind: 'deadline-exceeded' });
    append.isComplete = true;
    const stream = streamNameOf(options.getStreamIdentifier());
    const command = { kind: 'append', stream, expected: expectationOf(options), events } as const;
    this.#store.writer.execute(command, abandoned.signal).then(
      (written) => this.#answer(key, written),
      (error) => this.#refuse(key, error),
    );
  }

  #answer(key: string, outcome: Written | Refusal): void {
    const append = this.#pending.get(key);
    if (!append) return; // answered when its deadline passed
    this.#pending.delete(key);
    this.#call.write(batchAppendResponse(append.correlationId, append.options.getStreamIdentifier(), outcome));
    if (this.#ending) this.#endWith(this.#ending);
    else if (this.#call.isPaused() && this.#pending.size < MAX_PENDING) this.#call.resume();
  }

  /** Without its database the server fails the call as a whole, so that clients see it as unavailable. */
  #refuse(key: string, error: unknown): void {
    if (error instanceof RefusedError && error.refusal.kind !== 'unavailable') this.#answer(key, error.refusal);
    else this.fail(error);
  }

  #endWith(ending: { readonly error?: unknown }): void {
    this.#ending ??= ending;
    if (this.#pending.size === 0) this.#finish(this.#ending.error);
  }
}

const begin = (correlationId: sharedPb.UUID | undefined, options: streamsPb.BatchAppendReq.Options): Pending => ({
  correlationId,
  options,
  events: [],
  abandoned: new AbortController(),
  bytes: 0,
  isComplete: false,
});

/** The correlation id in either of its forms; none at all counts as one. */
const keyOf = (correlationId: sharedPb.UUID | undefined): string =>
  Buffer.from(correlationId?.serializeBinary() ?? []).toString('latin1');

const isOver = (options: streamsPb.BatchAppendReq.Options, nowMs: number): boolean => {
  const deadline = options.getDeadline();
  return deadline !== undefined && deadline.toDate().getTime() <= nowMs;
};

const expectationOf = (options: streamsPb.BatchAppendReq.Options): Expectation => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasStreamPosition()) return int64Of(options.getStreamPosition());
  throw invalid('an expected revision is required');
};
