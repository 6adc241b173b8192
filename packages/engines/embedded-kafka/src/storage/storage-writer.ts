import { FencedWriter, type FencedWriterOptions } from '@cpg/embedded-postgres';
import type pg from 'pg';
import { KafkaError, StorageUnavailable } from '../errors.ts';
import { UnsupportedSchemaVersion } from './schema.ts';

/** Key of the lock that the one writing broker of a database holds: "kafka" in ASCII. */
const LOCK_KEY = 0x6b61666b61;

export type StorageWriterOptions = Pick<FencedWriterOptions, 'databaseUrl' | 'lockWaitMs' | 'log' | 'load' | 'onLost'>;

/** The only way to write to the database. One broker at a time holds the lock, and tasks run one after another.
 *  A task that throws KafkaError or StorageUnavailable is refused; any other error ends the session. */
export class StorageWriter {
  private readonly writer: FencedWriter;

  constructor(options: StorageWriterOptions) {
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

  /** Runs `task` after all earlier ones. Throws StorageUnavailable when its writes may not be stored. */
  async run<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
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
