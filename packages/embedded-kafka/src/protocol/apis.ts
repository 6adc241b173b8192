import type { Api } from '../broker.ts';
import { apiVersions } from './api-versions.ts';
import { deleteRecords } from './delete-records.ts';
import { describeCluster } from './describe-cluster.ts';
import { describeConfigs } from './describe-configs.ts';
import { deleteGroups, describeGroups, listGroups } from './describe-groups.ts';
import { fetch } from './fetch.ts';
import { findCoordinator, heartbeat, joinGroup, leaveGroup, syncGroup } from './groups.ts';
import { initProducerId } from './init-producer-id.ts';
import { listOffsets } from './list-offsets.ts';
import { metadata } from './metadata.ts';
import { offsetCommit, offsetFetch, offsetForLeaderEpoch } from './offsets.ts';
import { produce } from './produce.ts';
import { addPartitionsToTxn, endTxn } from './transactions.ts';
import { createPartitions, createTopics, deleteTopics } from './topics.ts';

/** Everything that this broker speaks: what is advertised is what is here. */
export const apis: readonly Api[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  describeGroups,
  listGroups,
  apiVersions(() => apis),
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  addPartitionsToTxn,
  endTxn,
  describeConfigs,
  createPartitions,
  deleteGroups,
  describeCluster,
];

export const findApi = (key: number): Api | undefined => apis.find((api) => api.key === key);
