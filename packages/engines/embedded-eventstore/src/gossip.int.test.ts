import { testDatabase } from '@cpg/platform/postgres/testing';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { credentials } from '@grpc/grpc-js';
import { type EventStoreServer, startEventStore } from './server.ts';
import { hostOf } from './testing/jest-grpc.ts';

const gossipedPorts = async ({ url }: EventStoreServer): Promise<number[]> => {
  const gossip = new gossipGrpc.GossipClient(hostOf(url), credentials.createInsecure());
  const info = await new Promise<gossipPb.ClusterInfo>((done, fail) =>
    gossip.read(new sharedPb.Empty(), (error, answer) => (error ? fail(error) : done(answer))),
  );
  gossip.close();
  return info.getMembersList().map((member) => member.getHttpEndPoint()!.getPort());
};

test('gossip has the port that clients are to use, which is another one behind a proxy', async () => {
  const database = await testDatabase();
  const direct = await startEventStore({ databaseUrl: database.url, port: 0 });
  expect(await gossipedPorts(direct)).toEqual([direct.port]);
  await direct.stop();
  const proxied = await startEventStore({ databaseUrl: database.url, port: 0, advertisedPort: 12_113 });
  expect(await gossipedPorts(proxied)).toEqual([12_113]);
  await proxied.stop();
  await database.drop();
});
