import { wallClockMs } from '@cpg/platform';
import type sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type ProposedEvent, sizeOf, type WriteResult } from '../events.ts';
import { type Refusal, RefusedError, unavailable } from '../refusals.ts';
import { pendingBytesOf, type Store } from '../store.ts';
import { batchAppendResponse } from './batch-append-response.ts';
import { batchExpectedRevisionOf, proposedEventOf, streamNameOf } from './messages.ts';

type BatchAppendCall = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;

const DEADLINE_CHECK_MS = 200;
/** The most unanswered appends of one call, and their bytes. At these limits the server stops reading from the client
 *  (backpressure). */
const MAX_PENDING = 4_096;
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/** Serves many appends on one call. Each has its own correlation id and is answered once, as soon as it is done.
 *  Resolves when the client has ended its side and every append is answered. Throws an error that ends the call. */
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
    const deadlines = setInterval(() => appends.expire(wallClockMs()), DEADLINE_CHECK_MS);
    signal.addEventListener('abort', () => appends.stop(signal.reason), { once: true });
    call.on('cancelled', () => appends.fail(signal.reason));
    call.on('data', (request: streamsPb.BatchAppendReq) => appends.receive(request));
    call.on('end', () => appends.end());
  });

const isUnanswered = (error: unknown): boolean => error instanceof RefusedError && error.refusal.kind === 'unanswered';

class BatchAppends {
  readonly #store: Store;
  readonly #maxAppendBytes: number;
  readonly #call: BatchAppendCall;
  readonly #finish: (error?: unknown) => void;
  readonly #pending = new Map<string, PendingAppend>();
  #heldBytes = 0;
  #complete = 0;
  /** Set once the call is to end: it ends, with this error if any, when every append is answered. */
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
    if (options && !this.#pending.has(key)) this.#pending.set(key, pendingAppend(request.getCorrelationId(), options));
    const append = this.#pending.get(key);
    if (!append) return; // a later part of an append that was refused
    try {
      for (const message of request.getProposedMessagesList()) {
        const event = proposedEventOf(message);
        this.#hold(append, event);
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
    if (!this.#isFull) return;
    // Nothing would ever make room: no append can be answered, and no last part of one can arrive.
    if (this.#complete === 0) this.fail(unavailable('too many appends of this call are incomplete'));
    else this.#call.pause();
  }

  /** Answers the appends whose deadline has passed with `deadline-exceeded`. */
  expire(nowMs: number): void {
    for (const [key, { options, abandoned }] of this.#pending) {
      if (!isPastDeadline(options, nowMs)) continue;
      abandoned.abort();
      this.#answer(key, { kind: 'deadline-exceeded' });
    }
  }

  /** The client has ended its side. As in EventStoreDB, a call without pending appends then stays open until the client
   *  cancels it. */
  end(): void {
    if (this.#pending.size > 0) this.#endWith({});
  }

  /** The server is stopping: drops incomplete appends, and still answers complete ones. */
  stop(reason: unknown): void {
    this.#call.pause();
    for (const [key, append] of this.#pending) if (!append.isComplete) this.#remove(key, append);
    this.#endWith({ error: reason });
  }

  /** Ends the call at once. */
  fail(error: unknown): void {
    for (const [key, append] of this.#pending) {
      append.abandoned.abort();
      this.#remove(key, append);
    }
    this.#endWith({ error });
  }

  get #isFull(): boolean {
    return this.#pending.size >= MAX_PENDING || this.#heldBytes >= MAX_PENDING_BYTES;
  }

  #hold(append: PendingAppend, event: ProposedEvent): void {
    const bytes = pendingBytesOf(event);
    this.#store.pendingBytes.take(bytes);
    append.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  #remove(key: string, append: PendingAppend): void {
    this.#pending.delete(key);
    this.#store.pendingBytes.release(append.heldBytes);
    this.#heldBytes -= append.heldBytes;
    if (append.isComplete) this.#complete--;
  }

  #commit(key: string, append: PendingAppend): void {
    const { options, events, abandoned } = append;
    if (isPastDeadline(options, wallClockMs())) throw new RefusedError({ kind: 'deadline-exceeded' });
    append.isComplete = true;
    this.#complete++;
    const stream = streamNameOf(options.getStreamIdentifier());
    const command = { kind: 'append', stream, expected: batchExpectedRevisionOf(options), events } as const;
    this.#store.writer.execute(command, abandoned.signal).then(
      (result) => this.#answer(key, result),
      (error) => {
        if (!abandoned.signal.aborted) this.#refuse(key, error);
      },
    );
  }

  #answer(key: string, outcome: WriteResult | Refusal): void {
    const append = this.#pending.get(key);
    if (!append) return; // already answered as past its deadline
    this.#remove(key, append);
    this.#call.write(batchAppendResponse(append.correlationId, append.options.getStreamIdentifier(), outcome));
    if (this.#ending) this.#endWith(this.#ending);
    else if (this.#call.isPaused() && !this.#isFull) this.#call.resume();
  }

  /** Without its database the server fails the whole call, so that the client reports it as unavailable. */
  #refuse(key: string, error: unknown): void {
    const append = this.#pending.get(key);
    if (append && isUnanswered(error)) this.#remove(key, append);
    else if (error instanceof RefusedError && error.refusal.kind !== 'unavailable') this.#answer(key, error.refusal);
    else this.fail(error);
  }

  #endWith(ending: { readonly error?: unknown }): void {
    this.#ending ??= ending;
    if (this.#pending.size === 0) this.#finish(this.#ending.error);
  }
}

/** One append of a batch call: its events are still arriving, or it waits for its commit. */
interface PendingAppend {
  readonly correlationId: sharedPb.UUID | undefined;
  readonly options: streamsPb.BatchAppendReq.Options;
  readonly events: ProposedEvent[];
  /** Aborting it withdraws the append, unless its commit has begun. */
  readonly abandoned: AbortController;
  /** Size of the events, as counted for the limit of one append. */
  bytes: number;
  /** Memory of the events. */
  heldBytes: number;
  /** Whether the last event has arrived. */
  isComplete: boolean;
}

const pendingAppend = (
  correlationId: sharedPb.UUID | undefined,
  options: streamsPb.BatchAppendReq.Options,
): PendingAppend => ({
  correlationId,
  options,
  events: [],
  abandoned: new AbortController(),
  bytes: 0,
  heldBytes: 0,
  isComplete: false,
});

/** A map key for the correlation id in either of its wire forms. A missing id is a key, too. */
const keyOf = (correlationId: sharedPb.UUID | undefined): string =>
  Buffer.from(correlationId?.serializeBinary() ?? []).toString('latin1');

const isPastDeadline = (options: streamsPb.BatchAppendReq.Options, nowMs: number): boolean => {
  const deadline = options.getDeadline();
  return deadline !== undefined && deadline.toDate().getTime() <= nowMs;
};
