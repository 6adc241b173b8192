import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import persistentGrpc from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import type { IPersistentSubscriptionsServer } from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { ticksOf } from '../events.ts';
import { unsupported } from '../refusals.ts';
import type { Store } from '../store.ts';
import { append, softDelete, tombstone } from './append.ts';
import { batchAppend } from './batch-append.ts';
import type { CallHandlers } from './call-handlers.ts';
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

/** The version of EventStoreDB that this server imitates. */
const SERVER_VERSION = '24.2.0';

const FEATURES: Record<string, readonly string[]> = {
  'event_store.client.streams.streams/read': ['position', 'events'],
};
// Listed although every call is refused: for an unlisted method the client falls back to HTTP, or reports that the
// server version does not support it.
const PERSISTENT_SUBSCRIPTIONS = 'event_store.client.persistent_subscriptions.persistentsubscriptions';

const featuresOf = (service: string, name: string): readonly string[] =>
  service === PERSISTENT_SUBSCRIPTIONS ? ['stream', 'all'] : (FEATURES[`${service}/${name}`] ?? []);

/** Lists every method of `services` as supported. */
const supportedMethods = (services: readonly ServiceDefinition[]): featuresPb.SupportedMethods => {
  const supported = new featuresPb.SupportedMethods();
  supported.setEventStoreServerVersion(SERVER_VERSION);
  for (const { path } of services.flatMap((service) => Object.values(service))) {
    const [, service = '', name = ''] = path.toLowerCase().split('/');
    const method = new featuresPb.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    method.setFeaturesList([...featuresOf(service, name)]);
    supported.addMethods(method);
  }
  return supported;
};

interface Node {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

/** Gossip about a cluster of one node, which is the leader. */
const clusterOf = ({ id, host, port }: Node, nowMs: number): gossipPb.ClusterInfo => {
  const endPoint = new gossipPb.EndPoint();
  endPoint.setAddress(host);
  endPoint.setPort(port);
  const instanceId = new sharedPb.UUID();
  instanceId.setString(id);
  const member = new gossipPb.MemberInfo();
  member.setInstanceId(instanceId);
  member.setTimeStamp(String(ticksOf(nowMs)));
  member.setState(gossipPb.MemberInfo.VNodeState.LEADER);
  member.setIsAlive(true);
  member.setHttpEndPoint(endPoint);
  const cluster = new gossipPb.ClusterInfo();
  cluster.addMembers(member);
  return cluster;
};

const refuse = (): Promise<never> =>
  Promise.reject(
    unsupported('the embedded event store does not support persistent subscriptions: use a catch-up subscription'),
  );

/** Handlers that refuse every call with UNIMPLEMENTED and a reason. Without this service the client would fall back to
 *  HTTP, or report that the server version is too old (features.ts). */
const persistentSubscriptionHandlers = (handlers: CallHandlers): IPersistentSubscriptionsServer => ({
  create: handlers.unary(refuse),
  update: handlers.unary(refuse),
  delete: handlers.unary(refuse),
  read: handlers.bidirectional(refuse),
  getInfo: handlers.unary(refuse),
  replayParked: handlers.unary(refuse),
  list: handlers.unary(refuse),
  restartSubsystem: handlers.unary(refuse),
});
