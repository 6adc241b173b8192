import { type Metadata, type ServerInterceptor, ServerInterceptingCall, status } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';

/** Answers for tests what a server with users answers. `user` is `name:password`, or null without credentials. */
export type Access = (
  user: string | null,
  asked: 'all' | 'append' | 'other',
) => 'granted' | 'unauthenticated' | 'denied';

/** Refuses calls as EventStoreDB does with users: a wrong password at once, a missing permission per call. */
export const accessControl =
  (access: Access): ServerInterceptor =>
  ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) => {
        let user: string | null = null;
        next({
          onReceiveMetadata: (metadata, proceed) => {
            user = userOf(metadata);
            proceed(metadata);
          },
          onReceiveMessage: (message, proceed) => {
            const decision = isOpen(path) ? 'granted' : access(user, askedIn(message));
            if (decision === 'granted') return proceed(message);
            call.sendStatus(
              decision === 'denied'
                ? { code: status.PERMISSION_DENIED, details: 'Access Denied' }
                : { code: status.UNAUTHENTICATED, details: 'Received HTTP status code 401' },
            );
          },
        });
      },
    });

/** Gossip and server features need no user. */
const isOpen = (path: string): boolean => !path.startsWith('/event_store.client.streams.');

const askedIn = (message: unknown): 'all' | 'append' | 'other' => {
  if (message instanceof streamsPb.BatchAppendReq || message instanceof streamsPb.AppendReq) return 'append';
  return message instanceof streamsPb.ReadReq && message.getOptions()?.hasAll() ? 'all' : 'other';
};

const userOf = (metadata: Metadata): string | null => {
  const [, encoded] = /^Basic (.+)$/.exec(String(metadata.get('authorization')[0] ?? '')) ?? [];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
};
