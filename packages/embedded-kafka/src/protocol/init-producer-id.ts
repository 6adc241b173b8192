import type { Api } from '../broker.ts';
import { type ErrorCode, errorCode, errorCodeOf } from '../errors.ts';

/** A producer id that was never given out before, or that of the transactional id in an epoch that replaces all earlier ones. */
export const initProducerId: Api = {
  key: 22,
  name: 'InitProducerId',
  min: 0,
  max: 1,
  handle: async ({ reader }, { transactions }) => {
    const transactionalId = reader.nullableString();
    const timeoutMs = reader.int32();
    const fresh = async () =>
      transactionalId === null
        ? { producerId: await transactions.newProducerId(), epoch: 0 }
        : transactions.initProducer(transactionalId, timeoutMs);
    const { error, producerId, epoch } = await fresh().then(
      (producer) => ({ error: errorCode.none as ErrorCode, ...producer }),
      (refused: unknown) => ({
        error: errorCodeOf(refused, errorCode.coordinatorLoadInProgress),
        producerId: -1,
        epoch: -1,
      }),
    );
    return (response) => {
      response.int32(0).int16(error).int64(producerId).int16(epoch);
    };
  },
};
