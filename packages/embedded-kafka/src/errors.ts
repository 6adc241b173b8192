/** The protocol's error codes that this broker answers with. Source: kafka.apache.org/protocol, "Error Codes". */
export const errorCode = {
  none: 0,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  messageTooLarge: 10,
  offsetMetadataTooLarge: 12,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  invalidTopic: 17,
  invalidRequiredAcks: 21,
  illegalGeneration: 22,
  inconsistentGroupProtocol: 23,
  invalidGroupId: 24,
  unknownMemberId: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  unsupportedVersion: 35,
  topicAlreadyExists: 36,
  invalidPartitions: 37,
  invalidReplicationFactor: 38,
  invalidReplicaAssignment: 39,
  invalidConfig: 40,
  notController: 41,
  invalidRequest: 42,
  unsupportedForMessageFormat: 43,
  outOfOrderSequence: 45,
  invalidProducerEpoch: 47,
  invalidTransactionState: 48,
  invalidProducerIdMapping: 49,
  invalidTransactionTimeout: 50,
  transactionalIdAuthorizationFailed: 53,
  operationNotAttempted: 55,
  storageError: 56,
  nonEmptyGroup: 68,
  groupIdNotFound: 69,
  fetchSessionIdNotFound: 70,
  unknownLeaderEpoch: 75,
  unsupportedCompressionType: 76,
  memberIdRequired: 79,
  fencedInstanceId: 82,
  invalidRecord: 87,
  producerFenced: 90,
} as const;

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode];

/** A refusal that the protocol has a code for: part of an answer, never the end of a connection. */
export class KafkaError extends Error {
  override readonly name = 'KafkaError';
  readonly code: ErrorCode;

  constructor(errorCode: ErrorCode, message: string) {
    super(message);
    this.code = errorCode;
  }
}

/** PostgreSQL is away, or took back what it was given: nothing was acknowledged, the client may try again. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageAway';

  constructor(cause?: unknown) {
    super('the storage is away', { cause });
  }
}

/** The code that tells a client about `error`; `away` is the retriable one that its API has for a broker without storage.
 *  Anything unforeseen is thrown on: it is a bug, and ends the connection. */
export const errorCodeOf = (error: unknown, away: ErrorCode): ErrorCode => {
  if (error instanceof KafkaError) return error.code;
  if (error instanceof StorageUnavailable) return away;
  throw error;
};
