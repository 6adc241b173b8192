/** The error codes of the Kafka protocol that this broker uses. Source: kafka.apache.org/protocol, "Error Codes". */
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
  invalidTimestamp: 32,
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

/** A refused request. The response carries the error code; the connection stays open. */
export class KafkaError extends Error {
  override readonly name = 'KafkaError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** PostgreSQL is unavailable, or a commit failed. Nothing was acknowledged, and the client may retry. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';

  constructor(cause?: unknown) {
    super('the storage is unavailable', { cause });
  }
}

/** The error code for `error`. `unavailable` is the retriable code that the API defines for a broker without its
 *  storage. Throws any other error again: it is a bug, and closes the connection. */
export const errorCodeOf = (error: unknown, unavailable: ErrorCode): ErrorCode => {
  if (error instanceof KafkaError) return error.code;
  if (error instanceof StorageUnavailable) return unavailable;
  throw error;
};

/** The result of `work` and no error, or `refused` and the error code of a refusal. `unavailable` as for
 *  `errorCodeOf`. */
export const settle = <T>(
  work: Promise<T>,
  unavailable: ErrorCode,
  refused: T,
): Promise<{ readonly error: ErrorCode; readonly result: T }> =>
  work.then(
    (result) => ({ error: errorCode.none, result }),
    (error: unknown) => ({ error: errorCodeOf(error, unavailable), result: refused }),
  );

/** How a change of a topic ended. */
export interface Outcome {
  readonly error: ErrorCode;
  /** Why it was refused. */
  readonly message: string | null;
}

/** The outcome of `work`. `unavailable` as for `errorCodeOf`. */
export const outcomeOf = (work: Promise<void>, unavailable: ErrorCode): Promise<Outcome> =>
  work.then(
    () => ({ error: errorCode.none, message: null }),
    (error: unknown) => ({ error: errorCodeOf(error, unavailable), message: (error as Error).message }),
  );
