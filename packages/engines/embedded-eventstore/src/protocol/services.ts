import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { ticksOf } from '../events.ts';
import type { Store } from '../store.ts';
import { append, softDelete, tombstone } from './append.ts';
import { batchAppend } from './batch-append.ts';
import type { CallHandlers } from './call-handlers.ts';
import { read } from './read.ts';

const { StreamsService } = streamsGrpc;
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
  server.addService(GossipService, { read: handlers.unary(async () => clusterOf(node(), now())) });
  server.addService(ServerFeaturesService, {
    getSupportedMethods: handlers.unary(async () =>
      supportedMethods([StreamsService, GossipService, ServerFeaturesService]),
    ),
  });
};

/** The version of EventStoreDB that this server imitates. */
const SERVER_VERSION = '24.2.0';

const FEATURES: Record<string, readonly string[]> = {
  'event_store.client.streams.streams/read': ['position', 'events'],
};

/** Lists every method of `services` as supported. */
const supportedMethods = (services: readonly ServiceDefinition[]): featuresPb.SupportedMethods => {
  const supported = new featuresPb.SupportedMethods();
  supported.setEventStoreServerVersion(SERVER_VERSION);
  for (const { path } of services.flatMap((service) => Object.values(service))) {
    const [, service = '', name = ''] = path.toLowerCase().split('/');
    const method = new featuresPb.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    method.setFeaturesList([...(FEATURES[`${service}/${name}`] ?? [])]);
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
