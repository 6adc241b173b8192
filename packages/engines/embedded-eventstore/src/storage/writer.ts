import { FencedWriter } from '@cpg/embedded-postgres';
import type { ClientBase } from 'pg';
import { type Command, type RecordedEvent, sizeOf, ticksOf, type WriteResult } from '../events.ts';
import { invalid, RefusedError, unavailable } from '../refusals.ts';
import { Batch, requiredStreams } from './batch.ts';
import { mayBeRetry } from './idempotency.ts';
import { type HiddenEvents, Pruner } from './removal.ts';
import { prepareSchema, UnsupportedSchemaVersion } from './schema.ts';
import {
  cachedStreamHeads,
  createStreamHeadCache,
  loadStreamHeads,
  type StreamHead,
  withAbsent,
} from './stream-heads.ts';
import { findEventLocations, INDEX_SCAN_SETTINGS, insertEvents, isDataError, lastPosition } from './writer-queries.ts';

export interface WriterOptions {
  readonly databaseUrl: string;
  readonly log: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the end of the log before commands are accepted, again after each reconnection. */
  readonly onOpen: (lastPosition: bigint) => void;
  /** Called with committed events, in the order of the log, before their commands are answered. */
  readonly onCommit: (events: readonly RecordedEvent[]) => void;
  /** Called after events were removed, before the command that hid them is answered. */
  readonly onRemove: (hidden: HiddenEvents) => void;
}

interface TakenCommand {
  readonly command: Command;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/** `command` is null once it is dropped, or its commit has begun. */
type QueuedCommand = Omit<TakenCommand, 'command'> & { command: Command | null };

/** Key of the advisory lock that the one writer of a database holds: "evst" in ASCII. */
const LOCK_KEY = 0x65767374;
const MAX_BATCH_COMMANDS = 1_000;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** The only writer of the log. Commands that arrive during a commit form the next batch, which one transaction stores.
 *  So positions become visible in order, and many commands share one flush to disk. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #session: FencedWriter;
  readonly #heads = createStreamHeadCache();
  readonly #pruner: Pruner;
  #position = 0n;
  #queue: QueuedCommand[] = [];
  #committing: Promise<void> | null = null;
  #isStopping = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#session = new FencedWriter({
      databaseUrl: options.databaseUrl,
      applicationName: 'embedded-eventstore writer',
      lockKey: LOCK_KEY,
      holder: 'event store server',
      // With index scans only, each statement has one plan: PostgreSQL makes it once.
      settings: { ...INDEX_SCAN_SETTINGS, plan_cache_mode: 'force_generic_plan' },
      log: options.log,
      load: (client) => this.#load(client),
      onOpen: () => void this.#pruner.catchUp(this.#position),
      isPermanent: (error) => error instanceof UnsupportedSchemaVersion,
    });
    this.#pruner = new Pruner({ session: this.#session, heads: this.#heads, onRemove: options.onRemove });
  }

  /** Resolves once commands are accepted. Retries while the database is unavailable, and waits while another server
   *  holds the lock. Throws UnsupportedSchemaVersion. */
  start(): Promise<void> {
    return this.#session.start();
  }

  /** Finishes the queued commands, then frees the lock. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#committing;
    await this.#pruner.stop(this.#position);
    await this.#session.stop();
  }

  /** Resolves after the commit. Throws RefusedError; after `unavailable` the events may or may not be stored.
   *  A command whose `signal` aborts while it is queued is dropped, and the signal's reason is thrown. */
  execute(command: Command, signal?: AbortSignal): Promise<WriteResult> {
    if (!this.#session.isOpen || this.#isStopping) {
      return Promise.reject(unavailable('the event store is not ready'));
    }
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const queued: QueuedCommand = { command, resolve, reject };
      this.#queue.push(queued);
      const drop = () => {
        if (queued.command === null) return; // its commit has begun
        // Frees the events at once: while PostgreSQL does not answer, dropped commands would fill the memory.
        queued.command = null;
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', drop, { once: true });
      this.#committing ??= this.#commitQueue();
    });
  }

  async #load(client: ClientBase): Promise<void> {
    await prepareSchema(client);
    this.#heads.clear();
    this.#position = await lastPosition(client);
    this.#options.onOpen(this.#position);
  }

  async #commitQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      let batch: TakenCommand[] = [];
      try {
        await this.#session.run((client) => {
          batch = this.#takeBatch();
          return this.#commit(client, batch);
        });
      } catch (error) {
        const lost = unavailable('the event store lost its database', error);
        for (const { reject } of [...batch, ...this.#queue.splice(0)]) reject(lost);
      }
    }
    this.#committing = null;
  }

  #takeBatch(): TakenCommand[] {
    const batch: TakenCommand[] = [];
    let bytes = 0;
    let count = 0;
    for (const queued of this.#queue) {
      if (batch.length === MAX_BATCH_COMMANDS || bytes > MAX_BATCH_BYTES) break;
      count++;
      const { command } = queued;
      if (command === null) continue;
      if (command.kind === 'append') for (const event of command.events) bytes += sizeOf(event);
      batch.push({ ...queued, command });
      queued.command = null;
    }
    this.#queue.splice(0, count);
    return batch;
  }

  /** Commits the commands in one statement. If PostgreSQL refuses their data, commits each half on its own, until only
   *  the commands that it refuses are left. */
  async #commit(client: ClientBase, queued: readonly TakenCommand[]): Promise<void> {
    try {
      await this.#commitAtOnce(client, queued);
    } catch (error) {
      if (!isDataError(error)) throw error;
      const [first] = queued;
      if (queued.length === 1) return first!.reject(invalid(`the database refuses the data: ${error.message}`));
      const middle = queued.length / 2;
      await this.#commit(client, queued.slice(0, middle));
      await this.#commit(client, queued.slice(middle));
    }
  }

  async #commitAtOnce(client: ClientBase, queued: readonly TakenCommand[]): Promise<void> {
    const commands = queued.map(({ command }) => command);
    const cached = cachedStreamHeads(this.#heads, commands.flatMap(requiredStreams));
    // Most appends start a stream. The statement that stores them checks that it is new, so no query has to.
    const areNew = commands.every((command) => startsStream(command) || hasHeads(command, cached.heads));
    if (areNew && (await this.#store(client, queued, withAbsent(cached), cached.missing))) return;
    await this.#store(client, queued, await loadStreamHeads(client, cached), []);
  }

  /** Commits and answers the commands. Does neither, and resolves to false, if a stream of `absent` exists. */
  async #store(
    client: ClientBase,
    queued: readonly TakenCommand[],
    heads: Map<string, StreamHead>,
    absent: readonly string[],
  ): Promise<boolean> {
    const locations = await findEventLocations(
      client,
      queued.flatMap(({ command }) => (mayBeRetry(command, heads.get(command.stream)!) ? [command] : [])),
    );
    const batch = new Batch(this.#position, heads, locations, ticksOf(this.#options.now()));
    const answers = queued.map((one) => decide(batch, one));
    if (batch.events.length > 0 && !(await insertEvents(client, batch.events, absent))) return false;

    this.#position += BigInt(batch.events.length);
    for (const [stream, head] of batch.heads) this.#heads.set(stream, head);
    this.#options.onCommit(batch.events);
    await this.#pruner.afterCommit(client, batch.events);
    for (const answer of answers) answer();
    return true;
  }
}

/** Such an append is decided without a query: it is refused or repeated only if its stream exists. */
const startsStream = (command: Command): boolean =>
  command.kind === 'append' && command.expected === 'no_stream' && command.events.length > 0;

const hasHeads = (command: Command, heads: ReadonlyMap<string, StreamHead>): boolean =>
  requiredStreams(command).every((stream) => heads.has(stream));

/** Applies the command to the batch. The returned function answers it and is called after the commit. */
const decide = (batch: Batch, { command, resolve, reject }: TakenCommand): (() => void) => {
  try {
    const result = batch.apply(command);
    return () => resolve(result);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return () => reject(error);
  }
};
