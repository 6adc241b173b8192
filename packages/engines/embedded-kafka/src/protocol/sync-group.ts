import { type ErrorCode, errorCode } from '../errors.ts';
import type { Api } from './api.ts';
import { groupErrorOf, unlessAborted } from './group-errors.ts';

const STATIC_MEMBERS_FROM = 3;

/** Returns the assignment of a member. The response waits for the assignments of the leader. */
export const syncGroup: Api = {
  key: 14,
  name: 'SyncGroup',
  min: 0,
  max: 3,
  handle: async ({ reader, version, signal }, { groups }) => {
    const groupId = reader.string();
    const generation = reader.int32();
    const memberId = reader.string();
    const instanceId = version >= STATIC_MEMBERS_FROM ? reader.nullableString() : null;
    const assignments = new Map(reader.array(() => [reader.string(), Buffer.from(reader.bytes())] as const));
    const { error, assignment } = await unlessAborted(
      groups.sync(groupId, { generation, memberId, instanceId }, assignments),
      signal,
    ).then(
      (result) => ({ error: errorCode.none as ErrorCode, assignment: result }),
      (refusal: unknown) => ({ error: groupErrorOf(refusal), assignment: Buffer.alloc(0) }),
    );
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error).bytes(assignment);
    };
  },
};
