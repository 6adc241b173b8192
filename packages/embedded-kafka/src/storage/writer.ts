import { FencedWriter, type FencedWriterOptions, WriterLockTaken } from '@cpg/embedded-postgres';
import type pg from 'pg';
import { KafkaError, StorageAway } from '../protocol/errors.ts';
import { ForeignFormat } from './schema.ts';

/** Key of the lock that the one writing broker of a database holds: "kafka" in ASCII. */
const LOCK_KEY = 0x6b61666b61;

export { WriterLockTaken as SecondBroker };

export type WriterOptions = Pick<FencedWriterOptions, 'databaseUrl' | 'lockWaitMs' | 'log' | 'load' | 'onLost'>;

/** The fenced writer of this broker. Its tasks throw KafkaError or StorageAway. */
export class Writer {
  private readonly fenced: FencedWriter;

  constructor(options: WriterOptions) {
    this.fenced = new FencedWriter({
      ...options,
      applicationName: 'embedded-kafka',
      lockKey: LOCK_KEY,
      holder: 'broker',
      isPermanent: (error) => error instanceof ForeignFormat,
      isRefusal: (error) => error instanceof KafkaError || error instanceof StorageAway,
    });
  }

  start = (): Promise<void> => this.fenced.start();
  stop = (): Promise<void> => this.fenced.stop();

  /** Runs `task` after all earlier ones. Throws its refusals, and StorageAway when it may not be stored. */
  async run<T>(task: (db: pg.ClientBase) => Promise<T>): Promise<T> {
    try {
      return await this.fenced.run(task);
    } catch (error) {
      if (error instanceof KafkaError || error instanceof StorageAway) throw error;
      throw new StorageAway(error);
    }
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
