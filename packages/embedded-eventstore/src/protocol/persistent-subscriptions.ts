import type { IPersistentSubscriptionsServer } from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import { unsupported } from '../refusals.ts';
import type { Calls } from './calls.ts';

const refuse = (): Promise<never> =>
  Promise.reject(unsupported('the embedded event store has no persistent subscriptions: use a catch-up subscription'));

/** Answers every call of the service with UNIMPLEMENTED and a reason. */
export const refusePersistentSubscriptions = (calls: Calls): IPersistentSubscriptionsServer => ({
  create: calls.unary(refuse),
  update: calls.unary(refuse),
  delete: calls.unary(refuse),
  read: calls.bidirectional(refuse),
  getInfo: calls.unary(refuse),
  replayParked: calls.unary(refuse),
  list: calls.unary(refuse),
  restartSubsystem: calls.unary(refuse),
});
