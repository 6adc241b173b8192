import { FencedWriter, type FencedWriterOptions } from '@cpg/embedded-postgres';
import type pg from 'pg';
import { KafkaError, StorageUnavailable } from '../errors.ts';
import { UnsupportedSchemaVersion } from './schema.ts';

/** Key of the lock that the one writing broker of a database holds: "kafka" in ASCII. */
const LOCK_KEY = 0x6b61666b61;

export interface StorageWriterOptions extends Pick<
  FencedWriterOptions,
  'databaseUrl' | 'lockWaitMs' | 'log' | 'load' | 'onLost'
> {
  /** Stores the rows of the records that are visible already. */
  readonly storeUnwritten: (db: pg.ClientBase) => Promise<void>;
}

/** The only way to write to the database. One broker at a time holds the lock, and tasks run one after another.
 *  A task that throws KafkaError or StorageUnavailable is refused; any other error ends the session. */
export class StorageWriter {
  private readonly writer: FencedWriter;
  private readonly storeUnwritten: StorageWriterOptions['storeUnwritten'];

  constructor({ storeUnwritten, ...options }: StorageWriterOptions) {
    this.storeUnwritten = storeUnwritten;
    this.writer = new FencedWriter({
      ...options,
      applicationName: 'embedded-kafka',
      lockKey: LOCK_KEY,
      holder: 'broker',
      // Planning the statements anew for each call costs more than running them.
      settings: { plan_cache_mode: 'force_generic_plan' },
      isPermanent: (error) => error instanceof UnsupportedSchemaVersion,
      isRefusal,
    });
  }

  start = (): Promise<void> => this.writer.start();
  stop = (): Promise<void> => this.writer.stop();

  /** Whether there is a session. */
  get isOpen(): boolean {
    return this.writer.isOpen;
  }

  /** Runs `task` after all earlier ones, and after the rows of all records that are visible before it are stored.
   *  Throws StorageUnavailable when its writes may not be stored. */
  run<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.runWithUnwritten(async (db) => {
      await this.storeUnwritten(db);
      return task(db);
    });
  }

  /** The same for a task that stores those rows itself. */
  async runWithUnwritten<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
    try {
      return await this.writer.run(task);
    } catch (error) {
      throw isRefusal(error) ? error : new StorageUnavailable(error);
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof KafkaError || error instanceof StorageUnavailable;

/** Runs `statements` in one transaction of `db`. */
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
