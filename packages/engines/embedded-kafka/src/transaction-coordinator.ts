import { wallClockMs } from '@cpg/platform';
import { errorCode, KafkaError, StorageUnavailable } from './errors.ts';
import type { Catalogue } from './storage/catalogue.ts';
import type { LogWriter } from './storage/log-writer.ts';
import type { StorageWriter } from './storage/storage-writer.ts';
import {
  checkEnd,
  isSameOngoing,
  type ProducerIdentity,
  startProducer,
  type Transaction,
  type TransactionPartition,
  transactionTimeouts,
  withPartitions,
} from './storage/transaction.ts';

/** Longer ids do not fit into a PostgreSQL index. */
const MAX_ID_LENGTH = 1_000;

export interface TransactionLimits {
  readonly maxTransactionTimeoutMs: number;
  readonly transactionCheckMs: number;
}

/** Coordinates transactions. A method resolves once the new state and its markers in the logs are committed,
 *  together. */
export class TransactionCoordinator {
  private readonly log: LogWriter;
  private readonly writer: StorageWriter;
  private readonly catalogue: Catalogue;
  private readonly limits: TransactionLimits;
  private readonly timer: NodeJS.Timeout;
  private readonly timedOut = transactionTimeouts();

  constructor(log: LogWriter, writer: StorageWriter, catalogue: Catalogue, limits: TransactionLimits) {
    this.log = log;
    this.writer = writer;
    this.catalogue = catalogue;
    this.limits = limits;
    this.timer = setInterval(() => this.abortTimedOut(), limits.transactionCheckMs);
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** Returns a producer id that was never used before. */
  async newProducerId(): Promise<number> {
    const { rows } = await this.writer.run((db) => db.query<{ id: number }>(NEXT_PRODUCER_ID));
    return rows[0]!.id;
  }

  /** Starts a producer under the transactional id `id`. Fences all earlier producers of this id and aborts their open
   *  transaction. */
  async initProducer(id: string, timeoutMs: number): Promise<Pick<Transaction, 'producerId' | 'epoch'>> {
    this.checkInit(id, timeoutMs);
    const freshId = await this.newProducerId();
    return this.log.commitChange((commit) => {
      const current = commit.findTransaction(id);
      if (current?.state === 'ongoing') commit.endTransaction(current, false, current.epoch + 1);
      const transaction = startProducer(current, { id, timeoutMs, freshId });
      commit.saveTransaction(transaction);
      return transaction;
    });
  }

  /** Begins a transaction, or adds partitions to the ongoing one. */
  addPartitions = (producer: ProducerIdentity, partitions: readonly TransactionPartition[]): Promise<void> =>
    this.log.commitChange((commit) => {
      const current = commit.requireTransaction(producer);
      commit.saveTransaction(withPartitions(current, partitions, wallClockMs()));
    });

  /** Ends the transaction. Idempotent, because the client retries when a response is lost. */
  end = (producer: ProducerIdentity, commitTransaction: boolean): Promise<void> =>
    this.log.commitChange((commit) => {
      const current = commit.requireTransaction(producer);
      if (checkEnd(current, commitTransaction) === 'end')
        commit.finishTransaction(current, commitTransaction, current.epoch);
    });

  private checkInit(id: string, timeoutMs: number): void {
    if (id === '' || id.length > MAX_ID_LENGTH || id.includes('\0')) {
      throw new KafkaError(errorCode.invalidRequest, `a transactional id has 1 to ${MAX_ID_LENGTH} characters`);
    }
    const { maxTransactionTimeoutMs: max } = this.limits;
    if (timeoutMs <= 0 || timeoutMs > max) {
      throw new KafkaError(errorCode.invalidTransactionTimeout, `a transaction timeout is 1 to ${max} ms`);
    }
  }

  /** Aborts the transactions past their timeout, with a new epoch: that fences their producers. */
  private abortTimedOut(): void {
    for (const transaction of this.timedOut(this.catalogue.transactions.values(), performance.now())) {
      this.log
        .commitChange((commit) => {
          const current = commit.findTransaction(transaction.id);
          if (current && isSameOngoing(transaction, current))
            commit.finishTransaction(current, false, current.epoch + 1);
        })
        .catch((error: unknown) => {
          if (!(error instanceof StorageUnavailable)) throw error; // the next check retries
        });
    }
  }
}

const NEXT_PRODUCER_ID = `select nextval('kafka.producer_id')::float8 as id`;
