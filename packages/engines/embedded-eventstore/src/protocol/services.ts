import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import persistentGrpc from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { Server } from '@grpc/grpc-js';
import type { Store } from '../store.ts';
import { append } from './append.ts';
import { batchAppend } from './batch-append.ts';
import type { CallHandlers } from './call-handlers.ts';
import { softDelete, tombstone } from './delete.ts';
import { supportedMethods } from './features.ts';
import { clusterOf, type Node } from './gossip.ts';
import { persistentSubscriptionHandlers } from './persistent-subscriptions.ts';
import { read } from './read.ts';

const { StreamsService } = streamsGrpc;
const { PersistentSubscriptionsService } = persistentGrpc;
const { GossipService } = gossipGrpc;
const { ServerFeaturesService } = featuresGrpc;

export interface Services {
  readonly store: Store;
  readonly handlers: CallHandlers;
  readonly maxAppendBytes: number;
  readonly node: () => Node;
  readonly now: () => number;
}

/** Registers the handlers of the supported services. gRPC answers every other call with UNIMPLEMENTED. */
export const addServices = (server: Server, services: Services): void => {
  const { store, handlers, maxAppendBytes, node, now } = services;
  server.addService(StreamsService, {
    append: handlers.clientStream((call, signal) => append(store, maxAppendBytes, call, signal)),
    batchAppend: handlers.bidirectional((call, signal) => batchAppend(store, maxAppendBytes, call, signal)),
    read: handlers.serverStream((request: streamsPb.ReadReq, signal) => read(store, request, signal)),
    delete: handlers.unary((request: streamsPb.DeleteReq, signal) => softDelete(store, request, signal)),
    tombstone: handlers.unary((request: streamsPb.TombstoneReq, signal) => tombstone(store, request, signal)),
  });
  server.addService(PersistentSubscriptionsService, persistentSubscriptionHandlers(handlers));
  server.addService(GossipService, { read: handlers.unary(async () => clusterOf(node(), now())) });
  server.addService(ServerFeaturesService, {
    getSupportedMethods: handlers.unary(async () =>
      supportedMethods([StreamsService, PersistentSubscriptionsService, GossipService, ServerFeaturesService]),
    ),
  });
};
