import { wallClockMs } from '@cpg/platform';
import { type Batch, setBaseOffset } from '../records/batch.ts';
import { LEADER_EPOCH, notifyReaders, type Partition } from './partition.ts';
import type { ProducerState } from './producers.ts';
import type { TailCache } from './tail-cache.ts';

/** The state of one log after the pending commit. The partition itself does not change until `applyToMemory`. */
export class PendingLog {
  readonly partition: Partition;
  logEnd: number;
  position: number;
  maxTimestamp: number;
  lastAbortOffset: number;
  /** The producers that change with the commit. */
  readonly producers = new Map<number, ProducerState>();
  readonly openTransactions: Map<number, number>;
  private readonly batches: Buffer[] = [];

  constructor(partition: Partition) {
    this.partition = partition;
    this.logEnd = partition.logEnd;
    this.position = partition.position;
    this.maxTimestamp = partition.maxTimestamp;
    this.lastAbortOffset = partition.lastAbortOffset;
    this.openTransactions = new Map(partition.openTransactions);
  }

  producer = (id: number): ProducerState | undefined => this.producers.get(id) ?? this.partition.producers.get(id);

  /** Writes the next offset into the batch and returns it. */
  append(batch: Batch): number {
    const baseOffset = this.logEnd;
    setBaseOffset(batch, baseOffset, LEADER_EPOCH);
    this.logEnd += batch.lastOffsetDelta + 1;
    this.position += batch.bytes.length;
    // Without a timestamp, the batch would count as older than any retention time.
    this.maxTimestamp = Math.max(this.maxTimestamp, batch.maxTimestamp < 0 ? wallClockMs() : batch.maxTimestamp);
    this.batches.push(batch.bytes);
    return baseOffset;
  }

  /** Copies the state to the partition, once it is committed. */
  applyToMemory(cache: TailCache): void {
    const { partition, logEnd, position, maxTimestamp, lastAbortOffset, openTransactions } = this;
    Object.assign(partition, { logEnd, position, maxTimestamp, lastAbortOffset, openTransactions });
    for (const [id, state] of this.producers) partition.producers.set(id, state);
    for (const batch of this.batches) cache.add(partition.tail, batch);
    notifyReaders(partition);
  }
}
