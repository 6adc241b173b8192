import { type ErrorCode, errorCode, errorCodeOf } from '../errors.ts';
import type { Api } from './api.ts';

/** Returns a new producer id. With a transactional id, returns its producer id with an epoch that fences all earlier
 *  producers. */
export const initProducerId: Api = {
  key: 22,
  name: 'InitProducerId',
  min: 0,
  max: 1,
  handle: async ({ reader }, { transactions }) => {
    const transactionalId = reader.nullableString();
    const timeoutMs = reader.int32();
    const init = async () =>
      transactionalId === null
        ? { producerId: await transactions.newProducerId(), epoch: 0 }
        : transactions.initProducer(transactionalId, timeoutMs);
    const { error, producerId, epoch } = await init().then(
      (producer) => ({ error: errorCode.none as ErrorCode, ...producer }),
      (refused: unknown) => ({
        error: errorCodeOf(refused, errorCode.coordinatorLoadInProgress),
        producerId: -1,
        epoch: -1,
      }),
    );
    return (response) => {
      response.int32(0); // throttle time
      response.int16(error).int64(producerId).int16(epoch);
    };
  },
};
