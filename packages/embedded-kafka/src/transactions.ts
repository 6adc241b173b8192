import { KafkaError, StorageAway, code } from './protocol/errors.ts';
import type { Catalogue } from './storage/catalogue.ts';
import type { Log } from './storage/log.ts';
import type { Next } from './storage/next.ts';
import {
  type PartitionName,
  type ProducerClaim,
  type Transaction,
  endOf,
  initialised,
  isOverdue,
  joined,
} from './storage/transaction.ts';
import type { Writer } from './storage/writer.ts';

/** As with groups, longer ids do not fit an index of PostgreSQL. */
const LONGEST_ID = 1_000;

export interface TransactionLimits {
  readonly maxTransactionTimeoutMs: number;
  readonly transactionCheckMs: number;
}

/** The coordinator of transactions. What it says happened is committed, together with what it means for the logs. */
export class Transactions {
  private readonly log: Log;
  private readonly writer: Writer;
  private readonly catalogue: Catalogue;
  private readonly limits: TransactionLimits;
  private readonly timer: NodeJS.Timeout;

  constructor(log: Log, writer: Writer, catalogue: Catalogue, limits: TransactionLimits) {
    this.log = log;
    this.writer = writer;
    this.catalogue = catalogue;
    this.limits = limits;
    this.timer = setInterval(() => this.abortOverdue(Date.now()), limits.transactionCheckMs);
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
  async initialise(id: string, timeoutMs: number): Promise<Pick<Transaction, 'producerId' | 'epoch'>> {
    if (id === '' || id.length > LONGEST_ID || id.includes('\0')) {
      throw new KafkaError(code.invalidRequest, `a transactional id has 1 to ${LONGEST_ID} characters`);
    }
    if (timeoutMs <= 0 || timeoutMs > this.limits.maxTransactionTimeoutMs) {
      throw new KafkaError(
        code.invalidTransactionTimeout,
        `a transaction may take 1 to ${this.limits.maxTransactionTimeoutMs} ms`,
      );
    }
    const freshId = await this.newProducerId();
    return this.log.change((next) => {
      const current = next.transaction(id);
      if (current?.state === 'ongoing') next.end(current, false, current.epoch + 1);
      const transaction = initialised(current, { id, timeoutMs, freshId });
      next.keep(transaction);
      return transaction;
    });
  }

  addPartitions = (claim: ProducerClaim, partitions: readonly PartitionName[]): Promise<void> =>
    this.log.change((next) => next.keep(joined(next.demand(claim), partitions, Date.now())));

  /** Ending it again in the same way is fine: the answer may have been lost. */
  end = (claim: ProducerClaim, commit: boolean): Promise<void> =>
    this.log.change((next) => {
      const current = next.demand(claim);
      if (endOf(current, commit) === 'end') finish(next, current, commit, current.epoch);
    });

  /** In the name of an epoch that nobody has: the producer that took too long is fenced. */
  private abortOverdue(now: number): void {
    for (const overdue of this.catalogue.transactions.values()) {
      if (!isOverdue(overdue, now)) continue;
      this.log
        .change((next) => {
          const current = next.transaction(overdue.id);
          if (current && isOverdue(current, now)) finish(next, current, false, current.epoch + 1);
        })
        .catch((error: unknown) => {
          if (!(error instanceof StorageAway)) throw error; // else it is still overdue at the next look
        });
    }
  }
}

const finish = (next: Next, transaction: Transaction, commit: boolean, epoch: number): void => {
  next.end(transaction, commit, epoch);
  next.keep({ ...transaction, epoch, state: commit ? 'committed' : 'aborted', partitions: [] });
};

const NEXT_ID = `select nextval('kafka.producer_id')::float8 as id`;
