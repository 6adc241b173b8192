import type { Api } from './api.ts';
import { runAndGetError } from './group-errors.ts';

const STATIC_MEMBERS_FROM = 3;

/** Restarts the session timeout of a member, and tells it about a rebalance. */
export const heartbeat: Api = {
  key: 12,
  name: 'Heartbeat',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const generation = reader.int32();
    const memberId = reader.string();
    const instanceId = version >= STATIC_MEMBERS_FROM ? reader.nullableString() : null;
    const error = runAndGetError(() => groups.heartbeat(groupId, { generation, memberId, instanceId }));
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error);
    };
  },
};
