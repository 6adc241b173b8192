import type { Api } from '../broker.ts';
import { type ErrorCode, KafkaError, code, codeOf } from './errors.ts';

/** A producer id that was never given out before. Transactional producers are refused. */
export const initProducerId: Api = {
  key: 22,
  name: 'InitProducerId',
  min: 0,
  max: 1,
  handle: async ({ reader }, { writer }) => {
    const transactionalId = reader.nullableString();
    reader.int32(); // transaction timeout
    const fresh = async () => {
      if (transactionalId !== null) {
        throw new KafkaError(code.transactionalIdAuthorizationFailed, 'transactions are not supported');
      }
      const { rows } = await writer.run((db) => db.query<{ id: number }>(NEXT_ID));
      return { error: code.none as ErrorCode, id: rows[0]!.id, epoch: 0 };
    };
    const producer = await fresh().catch((error: unknown) => ({
      error: codeOf(error, code.coordinatorLoadInProgress),
      id: -1,
      epoch: -1,
    }));
    return (response) => {
      response.int32(0).int16(producer.error).int64(producer.id).int16(producer.epoch);
    };
  },
};

const NEXT_ID = `select nextval('kafka.producer_id')::float8 as id`;
