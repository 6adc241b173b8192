import { KafkaError, StorageUnavailable, errorCode } from './errors.ts';
import type { Catalogue } from './storage/catalogue.ts';
import type { Log } from './storage/log.ts';
import type { PendingCommit } from './storage/pending-commit.ts';
import {
  type TransactionPartition,
  type ProducerIdentity,
  type Transaction,
  checkEnd,
  startProducer,
  hasTimedOut,
  withPartitions,
} from './storage/transaction.ts';
import type { StorageWriter } from './storage/storage-writer.ts';

/** As with groups, longer ids do not fit an index of PostgreSQL. */
const LONGEST_ID = 1_000;

export interface TransactionLimits {
  readonly maxTransactionTimeoutMs: number;
  readonly transactionCheckMs: number;
}

/** The coordinator of transactions. What it says happened is committed, together with what it means for the logs. */
export class TransactionCoordinator {
  private readonly log: Log;
  private readonly writer: StorageWriter;
  private readonly catalogue: Catalogue;
  private readonly limits: TransactionLimits;
  private readonly timer: NodeJS.Timeout;

  constructor(log: Log, writer: StorageWriter, catalogue: Catalogue, limits: TransactionLimits) {
    this.log = log;
    this.writer = writer;
    this.catalogue = catalogue;
    this.limits = limits;
    this.timer = setInterval(() => this.abortTimedOut(Date.now()), limits.transactionCheckMs);
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** One that was never given out before. */
  async newProducerId(): Promise<number> {
    const { rows } = await this.writer.run((db) => db.query<{ id: number }>(NEXT_ID));
    return rows[0]!.id;
  }

  /** From here on the caller alone writes as `id`: what an earlier producer has left open is aborted, what it tries is refused. */
  async initProducer(id: string, timeoutMs: number): Promise<Pick<Transaction, 'producerId' | 'epoch'>> {
    if (id === '' || id.length > LONGEST_ID || id.includes('\0')) {
      throw new KafkaError(errorCode.invalidRequest, `a transactional id has 1 to ${LONGEST_ID} characters`);
    }
    if (timeoutMs <= 0 || timeoutMs > this.limits.maxTransactionTimeoutMs) {
      throw new KafkaError(
        errorCode.invalidTransactionTimeout,
        `a transaction may take 1 to ${this.limits.maxTransactionTimeoutMs} ms`,
      );
    }
    const freshId = await this.newProducerId();
    return this.log.commitChange((next) => {
      const current = next.findTransaction(id);
      if (current?.state === 'ongoing') next.endTransaction(current, false, current.epoch + 1);
      const transaction = startProducer(current, { id, timeoutMs, freshId });
      next.saveTransaction(transaction);
      return transaction;
    });
  }

  addPartitions = (claim: ProducerIdentity, partitions: readonly TransactionPartition[]): Promise<void> =>
    this.log.commitChange((next) =>
      next.saveTransaction(withPartitions(next.requireTransaction(claim), partitions, Date.now())),
    );

  /** Ending it again in the same way is fine: the answer may have been lost. */
  end = (claim: ProducerIdentity, commit: boolean): Promise<void> =>
    this.log.commitChange((next) => {
      const current = next.requireTransaction(claim);
      if (checkEnd(current, commit) === 'end') finish(next, current, commit, current.epoch);
    });

  /** In the name of an epoch that nobody has: the producer that took too long is fenced. */
  private abortTimedOut(now: number): void {
    for (const overdue of this.catalogue.transactions.values()) {
      if (!hasTimedOut(overdue, now)) continue;
      this.log
        .commitChange((next) => {
          const current = next.findTransaction(overdue.id);
          if (current && hasTimedOut(current, now)) finish(next, current, false, current.epoch + 1);
        })
        .catch((error: unknown) => {
          if (!(error instanceof StorageUnavailable)) throw error; // else it is still overdue at the next look
        });
    }
  }
}

const finish = (next: PendingCommit, transaction: Transaction, commit: boolean, epoch: number): void => {
  next.endTransaction(transaction, commit, epoch);
  next.saveTransaction({ ...transaction, epoch, state: commit ? 'committed' : 'aborted', partitions: [] });
};

const NEXT_ID = `select nextval('kafka.producer_id')::float8 as id`;
