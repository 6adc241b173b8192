import { KafkaError, errorCode } from '../errors.ts';
import type { Batch } from '../records/batch.ts';

/** Where one batch of an idempotent producer ended up. */
export interface StoredBatch {
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly baseOffset: number;
}

/** What a partition remembers of one idempotent producer: its epoch and its last batches, oldest first. Without batches after a
 *  transaction of it ended here before it had sent any, or in the name of a newer epoch. */
export interface ProducerState {
  readonly epoch: number;
  readonly batches: readonly StoredBatch[];
}

/** As many batches as a producer may have in flight. */
const REMEMBERED = 5;
const LARGEST_SEQUENCE = 0x7fffffff;

/** The place of the same batch when it was stored before, else null: the batch comes next. Throws KafkaError for a producer that
 *  a newer epoch has replaced and for a gap in the sequence. A producer without state may start anywhere (KIP-360). */
export const checkSequence = (state: ProducerState | undefined, batch: Batch): StoredBatch | null => {
  if (!state) return null;
  if (batch.producerEpoch < state.epoch) {
    throw new KafkaError(errorCode.invalidProducerEpoch, `epoch ${batch.producerEpoch} was replaced by ${state.epoch}`);
  }
  const lastSequence = lastSequenceOf(batch);
  if (batch.producerEpoch === state.epoch) {
    const same = state.batches.find((b) => b.baseSequence === batch.baseSequence && b.lastSequence === lastSequence);
    if (same) return same;
  }
  const last = batch.producerEpoch === state.epoch ? state.batches.at(-1) : undefined;
  const expected = last ? after(last.lastSequence) : 0;
  if (batch.baseSequence !== expected) {
    throw new KafkaError(errorCode.outOfOrderSequence, `sequence ${batch.baseSequence} came where ${expected} was due`);
  }
  return null;
};

/** The state once `batch` is stored at `baseOffset`. */
export const withStoredBatch = (state: ProducerState | undefined, batch: Batch, baseOffset: number): ProducerState => {
  const earlier = state?.epoch === batch.producerEpoch ? state.batches : [];
  const placed = { baseSequence: batch.baseSequence, lastSequence: lastSequenceOf(batch), baseOffset };
  return { epoch: batch.producerEpoch, batches: [...earlier, placed].slice(-REMEMBERED) };
};

// Sequences are 32 bits wide and start over at 0.
const lastSequenceOf = ({ baseSequence, lastOffsetDelta }: Batch): number =>
  (baseSequence + lastOffsetDelta) % (LARGEST_SEQUENCE + 1);
const after = (sequence: number): number => (sequence === LARGEST_SEQUENCE ? 0 : sequence + 1);
