import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedEvent } from '../events.ts';
import { sizeOf, ticksOf } from '../events.ts';
import { RefusedError, unavailable } from '../refusals.ts';
import { Batch, type Command, mayBeRepeat, streamsOf, type Written } from './batch.ts';
import { HeadCache, loadHeads } from './heads.ts';
import { findPlaces, insertEvents, lastPosition } from './log-writes.ts';
import { UnusableDatabaseError } from './schema.ts';
import { openWriterSession, type WriterSession } from './writer-session.ts';

export interface WriterOptions {
  readonly databaseUrl: string;
  readonly log: (line: string) => void;
  readonly now: () => number;
  /** The writer holds the lock and knows the end of the log; called again after every reconnection. */
  readonly onOpen: (lastPosition: bigint) => void;
  /** The lock is gone, and with it the right to write, until `onOpen` is called again. */
  readonly onClose: () => void;
  /** Events that were committed, in the order of the log, before their commands are answered. */
  readonly onCommit: (events: readonly RecordedEvent[]) => void;
}

type Client = WriterSession['client'];

/** Other work that needs the lock. */
interface Task {
  readonly run: (client: Client) => Promise<void>;
  readonly reject: (error: RefusedError) => void;
}

interface Waiting {
  readonly command: Command;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: RefusedError) => void;
}

const MAX_BATCH_COMMANDS = 1_000;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
const BACKOFF_MS = { first: 100, last: 2_000 };

/** The one writer of the log. Commands that arrive while a transaction commits are decided together and committed in
 *  the next one, so the log grows strictly in order and the price of a flush to disk is shared. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #heads = new HeadCache();
  readonly #stopping = new AbortController();
  #queue: Waiting[] = [];
  readonly #tasks: Task[] = [];
  #session: WriterSession | null = null;
  #position = 0n;
  #wake = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Resolves once commands are taken; keeps trying while the database is away. Throws UnusableDatabaseError. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running = this.#run(resolve).catch((error: Error) => {
        this.#options.log(error.message);
        reject(error);
      });
    });
  }

  /** Finishes the commands that wait, then lets go of the lock. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
  }

  /** Resolves after the commit. Throws RefusedError; `unavailable` may or may not have been written, as the
   *  connection was lost in between. A command whose `signal` is aborted while it waits is dropped unanswered. */
  execute(command: Command, signal?: AbortSignal): Promise<Written> {
    if (!this.#session || this.#stopping.signal.aborted)
      return Promise.reject(unavailable('the event store is not ready'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, signal, resolve, reject });
      this.#wake();
    });
  }

  /** Lets `work` have the connection that holds the lock, between two batches. Throws `unavailable` when that is gone;
   *  what `work` was about to commit may or may not have been written. */
  withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (!this.#session) return Promise.reject(unavailable('the event store is not ready'));
    return new Promise((resolve, reject) => {
      this.#tasks.push({ run: async (client) => resolve(await work(client)), reject });
      this.#wake();
    });
  }

  async #run(opened: () => void): Promise<void> {
    const { databaseUrl, log, onOpen } = this.#options;
    const { signal } = this.#stopping;
    const waiting = () => log('another event store server writes to this database: waiting until it ends');
    let backoffMs = BACKOFF_MS.first;
    let isAway = false;
    while (!signal.aborted) {
      try {
        this.#session = await openWriterSession(databaseUrl, signal, waiting);
        this.#position = await lastPosition(this.#session.client);
        onOpen(this.#position);
        opened();
        if (isAway) log('PostgreSQL is back');
        isAway = false;
        backoffMs = BACKOFF_MS.first;
        await this.#serve(this.#session);
      } catch (error) {
        if (error instanceof UnusableDatabaseError) throw error;
        if (!signal.aborted && !isAway) log(`PostgreSQL is away, trying until it is back: ${(error as Error).message}`);
        isAway = true;
      } finally {
        await this.#close();
      }
      await sleep(backoffMs, undefined, { signal }).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.last);
    }
  }

  /** Nothing known about the log outlives the lock. */
  async #close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#heads.clear();
    if (session) this.#options.onClose();
    for (const { reject } of [...this.#queue.splice(0), ...this.#tasks.splice(0)]) {
      reject(unavailable('the event store lost its database'));
    }
    await session?.client.end().catch(() => {});
  }

  /** Commits batch after batch until stopped. Throws when the connection is gone. */
  async #serve({ client, ended }: WriterSession): Promise<void> {
    let gone: Error | null = null;
    void ended.then((reason) => {
      gone = reason;
      this.#wake();
    });
    for (;;) {
      if (gone) throw gone as Error;
      const task = this.#tasks.shift(); // rare, and not to be starved by writers
      if (task) await this.#perform(client, task);
      else if (this.#queue.length > 0) await this.#commit(client, this.#take());
      else if (this.#stopping.signal.aborted) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #perform(client: Client, { run, reject }: Task): Promise<void> {
    try {
      await run(client);
    } catch (error) {
      reject(unavailable('the event store lost its database', error));
      throw error;
    }
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { command } of this.#queue) {
      if (count === MAX_BATCH_COMMANDS || bytes > MAX_BATCH_BYTES) break;
      if (command.kind === 'append') for (const event of command.events) bytes += sizeOf(event);
      count++;
    }
    return this.#queue.splice(0, count).filter(({ signal }) => !signal?.aborted);
  }

  async #commit(client: Client, waiting: readonly Waiting[]): Promise<void> {
    try {
      const commands = waiting.map(({ command }) => command);
      const heads = await loadHeads(client, this.#heads, commands.flatMap(streamsOf));
      const places = await findPlaces(
        client,
        commands.filter((command) => mayBeRepeat(command, heads.get(command.stream)!)),
      );
      const batch = new Batch(this.#position, heads, places, ticksOf(this.#options.now()));
      const decided = waiting.map((one) => decide(batch, one));
      if (batch.events.length > 0) await insertEvents(client, batch.events);

      this.#position += BigInt(batch.events.length);
      for (const [stream, head] of batch.heads) this.#heads.put(stream, head);
      this.#options.onCommit(batch.events);
      for (const answer of decided) answer();
    } catch (error) {
      for (const { reject } of waiting) reject(unavailable('the event store lost its database', error));
      throw error;
    }
  }
}

/** Applies the command now; the returned function answers it once the batch is committed. */
const decide = (batch: Batch, { command, resolve, reject }: Waiting): (() => void) => {
  try {
    const written = batch.apply(command);
    return () => resolve(written);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return () => reject(error);
  }
};
