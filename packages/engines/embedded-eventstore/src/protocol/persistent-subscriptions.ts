import type { IPersistentSubscriptionsServer } from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import { unsupported } from '../refusals.ts';
import type { CallHandlers } from './call-handlers.ts';

const refuse = (): Promise<never> =>
  Promise.reject(
    unsupported('the embedded event store does not support persistent subscriptions: use a catch-up subscription'),
  );

/** Handlers that refuse every call with UNIMPLEMENTED and a reason. Without this service the client would fall back to
 *  HTTP, or report that the server version is too old (features.ts). */
export const persistentSubscriptionHandlers = (handlers: CallHandlers): IPersistentSubscriptionsServer => ({
  create: handlers.unary(refuse),
  update: handlers.unary(refuse),
  delete: handlers.unary(refuse),
  read: handlers.bidirectional(refuse),
  getInfo: handlers.unary(refuse),
  replayParked: handlers.unary(refuse),
  list: handlers.unary(refuse),
  restartSubsystem: handlers.unary(refuse),
});
