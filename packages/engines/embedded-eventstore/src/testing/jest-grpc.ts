import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';

export const hostOf = (url: string): string => new URL(url.replace('esdb:', 'http:')).host;

/** The generated client, for parts of the protocol that `@eventstore/db-client` does not use. */
export const streamsClient = (url: string): streamsGrpc.StreamsClient =>
  new streamsGrpc.StreamsClient(hostOf(url), credentials.createInsecure());

export const identifierOf = (stream: string): sharedPb.StreamIdentifier => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  return identifier;
};
