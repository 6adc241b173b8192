import { KafkaError, errorCode } from '../errors.ts';
import type { Batch } from '../records/batch.ts';

/** The sequence numbers of a stored batch of an idempotent producer, and its offset. Stored as JSON. */
export interface StoredBatch {
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly baseOffset: number;
}

/** The state of one idempotent producer in a partition: its epoch and its last batches, oldest first.
 *  There are none when the last write was a transaction marker with a newer epoch. */
export interface ProducerState {
  readonly epoch: number;
  readonly batches: readonly StoredBatch[];
}

/** The number of batches that an idempotent producer may have in flight. Older duplicates cannot be recognised. */
const MAX_KEPT_BATCHES = 5;
const MAX_SEQUENCE = 0x7fffffff;

/** Returns the stored batch if `batch` is a duplicate, or null if it is the next one. Throws KafkaError for an epoch
 *  that was replaced by a newer one, and for a gap in the sequence. A producer without state may start at any sequence
 *  (KIP-360). */
export const checkSequence = (state: ProducerState | undefined, batch: Batch): StoredBatch | null => {
  if (!state) return null;
  if (batch.producerEpoch < state.epoch) {
    throw new KafkaError(
      errorCode.invalidProducerEpoch,
      `producer epoch ${batch.producerEpoch} was replaced by ${state.epoch}`,
    );
  }
  const lastSequence = lastSequenceOf(batch);
  if (batch.producerEpoch === state.epoch) {
    const duplicate = state.batches.find(
      (b) => b.baseSequence === batch.baseSequence && b.lastSequence === lastSequence,
    );
    if (duplicate) return duplicate;
  }
  const last = batch.producerEpoch === state.epoch ? state.batches.at(-1) : undefined;
  const expected = last ? sequenceAfter(last.lastSequence) : 0;
  if (batch.baseSequence !== expected) {
    throw new KafkaError(errorCode.outOfOrderSequence, `expected sequence ${expected}, got ${batch.baseSequence}`);
  }
  return null;
};

/** The state after `batch` is stored at `baseOffset`. */
export const withStoredBatch = (state: ProducerState | undefined, batch: Batch, baseOffset: number): ProducerState => {
  const earlier = state?.epoch === batch.producerEpoch ? state.batches : [];
  const stored = { baseSequence: batch.baseSequence, lastSequence: lastSequenceOf(batch), baseOffset };
  return { epoch: batch.producerEpoch, batches: [...earlier, stored].slice(-MAX_KEPT_BATCHES) };
};

// Sequences have 31 bits and wrap around to 0.
const lastSequenceOf = ({ baseSequence, lastOffsetDelta }: Batch): number =>
  (baseSequence + lastOffsetDelta) % (MAX_SEQUENCE + 1);
const sequenceAfter = (sequence: number): number => (sequence === MAX_SEQUENCE ? 0 : sequence + 1);
