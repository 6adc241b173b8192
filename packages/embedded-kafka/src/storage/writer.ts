import pg from 'pg';
import { KafkaError, StorageAway } from '../protocol/errors.ts';
import { ForeignFormat } from './schema.ts';

/** A database has one writing broker. The session that writes holds this advisory lock ("kafka" in ASCII): when the session
 *  ends the lock is free, and nothing that it had sent can still be written. */
const LOCK = 0x6b61666b61;
const RETRY_FROM_MS = 50;
const RETRY_UP_TO_MS = 2_000;
const QUERY_TIMEOUT_MS = 30_000;

export class SecondBroker extends Error {
  override readonly name = 'SecondBroker';
}

export interface WriterOptions {
  readonly databaseUrl: string;
  /** How long the start waits for another broker to end, in ms. */
  readonly lockWaitMs: number;
  readonly log: (line: string) => void;
  /** Loads the state that writing builds on. Runs while this session holds the lock and before anything is written. */
  readonly load: (db: pg.ClientBase) => Promise<void>;
  /** The session ended: what was under way may or may not be stored, and memory cannot be trusted until the next `load`. */
  readonly lost: () => void;
}

/** The only way to the database for writes: one session that holds the lock, one task at a time. A task that fails for any
 *  reason but a refusal (KafkaError, StorageAway) ends the session; a new one takes the lock and loads the state again. */
export class Writer {
  private readonly options: WriterOptions;
  private session: pg.Client | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private stopped = false;
  private wake: () => void = () => {};

  constructor(options: WriterOptions) {
    this.options = options;
  }

  /** Resolves once this broker may write. Waits for a database that is away; throws ForeignFormat for data of another version,
   *  SecondBroker when another broker keeps the lock. From then on sessions are replaced as they end, until `stop`. */
  async start(): Promise<void> {
    const waitUntil = Date.now() + this.options.lockWaitMs;
    await this.connect((error) => {
      if (error instanceof ForeignFormat) throw error;
      if (error instanceof SecondBroker && Date.now() > waitUntil) throw error;
    });
  }

  /** Runs `task` after all earlier ones. Throws StorageAway when there is no session, or another one than when it was asked. */
  run<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
    const { session } = this;
    const result = this.queue.then(async () => {
      if (!session || session !== this.session) throw new StorageAway();
      try {
        return await task(session);
      } catch (error) {
        if (error instanceof KafkaError || error instanceof StorageAway) throw error;
        this.lose(session, error as Error);
        throw new StorageAway(error);
      }
    });
    this.queue = result.catch(() => {});
    return result;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    await this.queue;
    const { session } = this;
    this.session = null;
    await session?.end().catch(() => {});
  }

  private async connect(giveUp: (error: Error) => void): Promise<void> {
    let complaint = '';
    for (let waitMs = RETRY_FROM_MS; !this.stopped; waitMs = Math.min(2 * waitMs, RETRY_UP_TO_MS)) {
      try {
        await this.open();
        if (complaint) this.options.log('the database is back');
        return;
      } catch (error) {
        if (this.stopped) return;
        giveUp(error as Error);
        const reason = describe(error as Error);
        if (reason !== complaint) this.options.log(`waiting for the database: ${reason}`);
        complaint = reason;
      }
      await new Promise<void>((done) => {
        const timer = setTimeout(done, waitMs);
        this.wake = () => (clearTimeout(timer), done());
      });
    }
  }

  private async open(): Promise<void> {
    const session = new pg.Client({
      connectionString: this.options.databaseUrl,
      application_name: 'embedded-kafka',
      connectionTimeoutMillis: 5_000,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
    });
    session.on('error', (error) => this.lose(session, error));
    session.on('end', () => this.lose(session, new Error('the session ended')));
    try {
      await session.connect();
      const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK]);
      if (!rows[0]?.locked)
        throw new SecondBroker('another broker writes to this database: stop it, or use another database');
      await this.options.load(session);
      if (this.stopped) throw new StorageAway();
    } catch (error) {
      await session.end().catch(() => {});
      throw error;
    }
    this.session = session;
  }

  private lose(session: pg.Client, error: Error): void {
    if (session !== this.session) return;
    this.session = null;
    if (this.stopped) return;
    this.options.log(`lost the database: ${describe(error)}`);
    this.options.lost();
    session.end().catch(() => {});
    void this.connect(() => {});
  }
}

/** `statements` in one transaction of `db`. */
export const inTransaction = async <T>(db: pg.ClientBase, statements: () => Promise<T>): Promise<T> => {
  await db.query('begin');
  try {
    const result = await statements();
    await db.query('commit');
    return result;
  } catch (error) {
    await db.query('rollback');
    throw error;
  }
};

// A refused connection is an AggregateError without a message of its own.
const describe = (error: Error): string =>
  (error.message || (error as NodeJS.ErrnoException).code || error.name).split('\n')[0]!;
