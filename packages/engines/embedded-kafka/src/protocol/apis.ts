import { alterConfigs } from './alter-configs.ts';
import { apiVersions } from './api-versions.ts';
import type { Api } from './api.ts';
import { deleteRecords } from './delete-records.ts';
import { describeConfigs } from './describe-configs.ts';
import { deleteGroups, describeGroups, listGroups } from './describe-groups.ts';
import { fetch } from './fetch.ts';
import { findCoordinator } from './find-coordinator.ts';
import { heartbeat } from './heartbeat.ts';
import { initProducerId } from './init-producer-id.ts';
import { joinGroup } from './join-group.ts';
import { leaveGroup } from './leave-group.ts';
import { listOffsets } from './list-offsets.ts';
import { metadata } from './metadata.ts';
import { offsetCommit, offsetFetch } from './offsets.ts';
import { produce } from './produce.ts';
import { syncGroup } from './sync-group.ts';
import { createPartitions, createTopics, deleteTopics } from './topics.ts';
import { addPartitionsToTxn, endTxn } from './transactions.ts';

/** All supported APIs. ApiVersions advertises exactly these. */
const apis: readonly Api[] = [
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
  addPartitionsToTxn,
  endTxn,
  describeConfigs,
  alterConfigs,
  createPartitions,
  deleteGroups,
];

export const findApi = (key: number): Api | undefined => apis.find((api) => api.key === key);
