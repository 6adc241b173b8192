import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { ticksOf } from '../events.ts';

export interface Node {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

/** Gossip about a cluster of one node, which is the leader. */
export const clusterOf = ({ id, host, port }: Node, nowMs: number): gossipPb.ClusterInfo => {
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
