import { FencedWriter } from '@cpg/embedded-postgres';
import type { ClientBase } from 'pg';
import type { RecordedEvent } from '../events.ts';
import { sizeOf, ticksOf } from '../events.ts';
import { RefusedError, unavailable } from '../refusals.ts';
import { Batch, requiredStreams } from './batch.ts';
import type { Command, WriteResult } from './commands.ts';
import { mayBeRetry } from './idempotency.ts';
import { createStreamHeadCache, loadStreamHeads } from './stream-heads.ts';
import { findEventLocations, insertEvents, lastPosition } from './writer-queries.ts';
import { INDEX_SCAN_SETTINGS } from './index-scans.ts';
import { prepareSchema, UnsupportedSchemaVersion } from './schema.ts';

export interface WriterOptions {
  readonly databaseUrl: string;
  readonly log: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the end of the log before commands are accepted, again after each reconnection. */
  readonly onOpen: (lastPosition: bigint) => void;
  /** Called with committed events, in the order of the log, before their commands are answered. */
  readonly onCommit: (events: readonly RecordedEvent[]) => void;
}

interface QueuedCommand {
  readonly command: Command;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: RefusedError) => void;
}

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
      isPermanent: (error) => error instanceof UnsupportedSchemaVersion,
    });
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
    await this.#session.stop();
  }

  /** Resolves after the commit. Throws RefusedError; after `unavailable` the events may or may not be stored.
   *  A command whose `signal` aborts while it is queued is dropped without an answer. */
  execute(command: Command, signal?: AbortSignal): Promise<WriteResult> {
    if (!this.#session.isOpen || this.#isStopping) {
      return Promise.reject(unavailable('the event store is not ready'));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, signal, resolve, reject });
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
      let batch: QueuedCommand[] = [];
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

  #takeBatch(): QueuedCommand[] {
    let bytes = 0;
    let count = 0;
    for (const { command } of this.#queue) {
      if (count === MAX_BATCH_COMMANDS || bytes > MAX_BATCH_BYTES) break;
      if (command.kind === 'append') for (const event of command.events) bytes += sizeOf(event);
      count++;
    }
    return this.#queue.splice(0, count).filter(({ signal }) => !signal?.aborted);
  }

  async #commit(client: ClientBase, queued: readonly QueuedCommand[]): Promise<void> {
    const commands = queued.map(({ command }) => command);
    const heads = await loadStreamHeads(client, this.#heads, commands.flatMap(requiredStreams));
    const locations = await findEventLocations(
      client,
      commands.filter((command) => mayBeRetry(command, heads.get(command.stream)!)),
    );
    const batch = new Batch(this.#position, heads, locations, ticksOf(this.#options.now()));
    const answers = queued.map((one) => decide(batch, one));
    if (batch.events.length > 0) await insertEvents(client, batch.events);

    this.#position += BigInt(batch.events.length);
    for (const [stream, head] of batch.heads) this.#heads.set(stream, head);
    this.#options.onCommit(batch.events);
    for (const answer of answers) answer();
  }
}

/** Applies the command to the batch. The returned function answers it and is called after the commit. */
const decide = (batch: Batch, { command, resolve, reject }: QueuedCommand): (() => void) => {
  try {
    const result = batch.apply(command);
    return () => resolve(result);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return () => reject(error);
  }
};
