import { type ErrorCode, errorCode } from '../errors.ts';
import type { Api } from './api.ts';
import { alterConfigs, describeConfigs } from './configs.ts';
import { deleteGroups, describeGroups, heartbeat, joinGroup, leaveGroup, listGroups, syncGroup } from './groups.ts';
import { fetch } from './fetch.ts';
import { listOffsets } from './list-offsets.ts';
import { findCoordinator, metadata } from './metadata.ts';
import { offsetCommit, offsetFetch } from './offsets.ts';
import { produce } from './produce.ts';
import type { ResponseWriter } from './response-writer.ts';
import { createPartitions, createTopics, deleteRecords, deleteTopics } from './topics.ts';
import { addPartitionsToTxn, endTxn, initProducerId } from './transactions.ts';

type Range = Pick<Api, 'key' | 'min' | 'max'>;

/** Lists the supported versions of each API. */
const apiVersions: Api = {
  key: 18,
  name: 'ApiVersions',
  min: 0,
  max: 3,
  flexibleFrom: 3,
  handle: ({ reader, version }) => {
    if (version >= 3) {
      reader.string(); // name of the client software
      reader.string(); // version of the client software
      reader.skipTaggedFields();
    }
    return writeVersions(version, errorCode.none, apis);
  },
};

/** Answers an unsupported version in version 0, so that every client can read the supported ones (KIP-511). */
export const unsupportedApiVersions = (all: readonly Range[]) => writeVersions(0, errorCode.unsupportedVersion, all);

const writeVersions = (version: number, error: ErrorCode, all: readonly Range[]) => (response: ResponseWriter) => {
  response.flexible = version >= 3;
  response.int16(error).array(all, ({ key, min, max }) => {
    response.int16(key).int16(min).int16(max).taggedFields();
  });
  if (version >= 1) response.int32(0); // throttle time
  response.taggedFields();
};

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
  apiVersions,
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
