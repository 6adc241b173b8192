import { KafkaError, errorCode } from '../errors.ts';
import { LEADER_EPOCH } from '../storage/partition.ts';

/** Throws KafkaError if the client knows a later leader epoch than the only one. -1 stands for an unknown epoch. */
export const checkLeaderEpoch = (epoch: number): void => {
  if (epoch > LEADER_EPOCH) throw new KafkaError(errorCode.unknownLeaderEpoch, `leader epoch ${epoch} is unknown`);
};
