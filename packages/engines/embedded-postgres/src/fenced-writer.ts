import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type LockedSessionOptions, openLockedSession, WriterLockTaken } from './locked-session.ts';

export interface FencedWriterOptions extends LockedSessionOptions {
  /** How long `start` waits for the lock, in ms. Without it, `start` waits until the lock is free. */
  readonly lockWaitMs?: number;
  /** How long `stop` waits for PostgreSQL, in ms. Default: 2 s. */
  readonly stopTimeoutMs?: number;
  readonly log: (line: string) => void;
  /** Prepares the schema and loads the state that writes build on. Runs under the lock, at the start of each
   *  session. */
  readonly load: (db: pg.ClientBase) => Promise<void>;
  /** Called at the start of each session, once tasks are accepted. */
  readonly onOpen?: () => void;
  /** Called when a session ends unexpectedly. State in memory may differ from the database until the next `load`. */
  readonly onLost?: () => void;
  /** Whether an error of `load` is permanent, so that `start` throws it instead of retrying. */
  readonly isPermanent: (error: unknown) => boolean;
  /** Whether an error of a task only refuses that task. Any other error ends the session; without it, every error
   *  does. */
  readonly isRefusal?: (error: unknown) => boolean;
}

/** There is no session, or it ended before the task did. The task's writes may or may not be stored. */
export class WriterUnavailable extends Error {
  override readonly name = 'WriterUnavailable';
}

const BACKOFF_MS = { first: 50, max: 2_000 };
const STOP_TIMEOUT_MS = 2_000;
const CUT_TIMEOUT_MS = 200;

/** The only way to write to a database: one session that holds an advisory lock and runs one task at a time.
 *  The lock is the fence: when the session ends, PostgreSQL frees the lock, and nothing can be written through it.
 *  A lost session is replaced, with backoff, until `stop`. */
export class FencedWriter {
  readonly #options: FencedWriterOptions;
  readonly #stopping = new AbortController();
  #session: pg.Client | null = null;
  #lastTask: Promise<unknown> = Promise.resolve();
  #connecting: Promise<void> = Promise.resolve();

  constructor(options: FencedWriterOptions) {
    this.#options = options;
  }

  /** Whether tasks are accepted now. */
  get isOpen(): boolean {
    return this.#session !== null && !this.#stopping.signal.aborted;
  }

  /** Resolves once tasks are accepted. Retries while the database is unavailable.
   *  Throws permanent errors of `load`, WriterLockTaken after `lockWaitMs`, and WriterUnavailable after `stop`. */
  start(): Promise<void> {
    const connected = this.#connect(
      performance.now() + (this.#options.lockWaitMs ?? Infinity),
      this.#options.isPermanent,
    );
    this.#connecting = connected.catch(() => {});
    return connected;
  }

  /** Runs `task` after all earlier ones. Throws the refusals of the task.
   *  Throws WriterUnavailable if the current session ends before the task does. */
  run<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
    if (!this.isOpen) return Promise.reject(new WriterUnavailable('the database is unavailable'));
    const session = this.#session!;
    const result = this.#lastTask.then(async () => {
      if (session !== this.#session) throw new WriterUnavailable('the database session was lost');
      try {
        return await task(session);
      } catch (error) {
        if (this.#options.isRefusal?.(error)) throw error;
        this.#lose(session, error as Error);
        throw new WriterUnavailable('the database session was lost', { cause: error });
      }
    });
    this.#lastTask = result.catch(() => {});
    return result;
  }

  /** Finishes the accepted tasks, then ends the session, which frees the lock. A session that PostgreSQL does not
   *  answer is cut: PostgreSQL frees its lock when it notices. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const ended = this.#end();
    if (await isDoneWithin(this.#options.stopTimeoutMs ?? STOP_TIMEOUT_MS, ended)) return;
    cutSession(this.#session);
    await isDoneWithin(CUT_TIMEOUT_MS, ended);
  }

  async #end(): Promise<void> {
    await this.#lastTask;
    await this.#connecting;
    const session = this.#session;
    await session?.end().catch(() => {});
    this.#session = null;
  }

  async #connect(giveUpLockAt: number, isPermanent: (error: unknown) => boolean): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#stopping;
    await this.#lastTask; // `load` must not overlap a task of the lost session
    let reported = '';
    const report = (reason: string) => {
      if (reason !== reported) log(`waiting for the database: ${reason}`);
      reported = reason;
    };
    for (let backoffMs = BACKOFF_MS.first; !signal.aborted; backoffMs = Math.min(2 * backoffMs, BACKOFF_MS.max)) {
      try {
        await this.#open(giveUpLockAt, report);
        if (reported) log('the database is available again');
        return;
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof WriterLockTaken || isPermanent(error)) throw error;
        report(describe(error as Error));
      }
      await sleep(backoffMs, undefined, { signal }).catch(() => {});
    }
    throw new WriterUnavailable('stopped while waiting for the database');
  }

  async #open(giveUpAt: number, onWaiting: (reason: string) => void): Promise<void> {
    const { signal } = this.#stopping;
    let ended: Error | null = null;
    const onEnd = (session: pg.Client, error: Error) => {
      ended ??= error;
      this.#lose(session, error);
    };
    const session = await openLockedSession(this.#options, { giveUpAt, signal, onWaiting, onEnd });
    try {
      await this.#options.load(session);
      signal.throwIfAborted();
      if (ended) throw ended as Error;
    } catch (error) {
      await session.end().catch(() => {});
      throw error;
    }
    this.#session = session;
    this.#options.onOpen?.();
  }

  #lose(session: pg.Client, error: Error): void {
    if (session !== this.#session) return;
    this.#session = null;
    void session.end().catch(() => {});
    if (this.#stopping.signal.aborted) return;
    this.#options.log(`lost the database: ${describe(error)}`);
    this.#options.onLost?.();
    this.#connecting = this.#connect(Infinity, () => false).catch(() => {});
  }
}

const isDoneWithin = async (ms: number, work: Promise<void>): Promise<boolean> => {
  const timer = new AbortController();
  const timeout = sleep(ms, false, { signal: timer.signal, ref: false }).catch(() => false);
  const isDone = await Promise.race([work.then(() => true), timeout]);
  timer.abort();
  return isDone;
};

// pg's own end() waits for the answer of the server.
const cutSession = (session: pg.Client | null): void => {
  (session as unknown as { connection: pg.Connection } | null)?.connection.stream.destroy();
};

// A refused connection is an AggregateError with an empty message.
const describe = (error: Error): string =>
  (error.message || (error as NodeJS.ErrnoException).code || error.name).split('\n')[0]!;
