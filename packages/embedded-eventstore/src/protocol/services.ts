import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import persistentGrpc from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { Server } from '@grpc/grpc-js';
import type { Store } from '../store.ts';
import { append } from './append.ts';
import { batchAppend } from './batch-append.ts';
import type { Calls } from './calls.ts';
import { softDelete, tombstone } from './delete.ts';
import { supportedMethods } from './features.ts';
import { clusterOf, type Node } from './gossip.ts';
import { refusePersistentSubscriptions } from './persistent-subscriptions.ts';
import { read } from './read.ts';

const { StreamsService } = streamsGrpc;
const { PersistentSubscriptionsService } = persistentGrpc;
const { GossipService } = gossipGrpc;
const { ServerFeaturesService } = featuresGrpc;

export interface Services {
  readonly store: Store;
  readonly calls: Calls;
  readonly maxAppendBytes: number;
  readonly node: () => Node;
  readonly now: () => number;
}

/** Everything that is served. What is not here gRPC itself refuses with UNIMPLEMENTED. */
export const addServices = (server: Server, services: Services): void => {
  const { store, calls, maxAppendBytes, node, now } = services;
  server.addService(StreamsService, {
    append: calls.clientStream((call, signal) => append(store, maxAppendBytes, call, signal)),
    batchAppend: calls.bidirectional((call, signal) => batchAppend(store, maxAppendBytes, call, signal)),
    read: calls.serverStream((request: streamsPb.ReadReq, signal) => read(store, request, signal)),
    delete: calls.unary((request: streamsPb.DeleteReq, signal) => softDelete(store, request, signal)),
    tombstone: calls.unary((request: streamsPb.TombstoneReq, signal) => tombstone(store, request, signal)),
  });
  server.addService(PersistentSubscriptionsService, refusePersistentSubscriptions(calls));
  server.addService(GossipService, { read: calls.unary(async () => clusterOf(node(), now())) });
  server.addService(ServerFeaturesService, {
    getSupportedMethods: calls.unary(async () =>
      supportedMethods([StreamsService, PersistentSubscriptionsService, GossipService, ServerFeaturesService]),
    ),
  });
};
