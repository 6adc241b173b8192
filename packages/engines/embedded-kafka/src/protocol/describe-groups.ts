import { errorCode, settle } from '../errors.ts';
import type { Api } from './api.ts';

/** The client did not ask for its authorized operations. */
const NO_AUTHORIZED_OPERATIONS = -2147483648;

export const describeGroups: Api = {
  key: 15,
  name: 'DescribeGroups',
  min: 0,
  max: 4,
  handle: async ({ reader, version }, { groups }) => {
    const ids = reader.array(reader.string);
    if (version >= 3) reader.boolean(); // include authorized operations
    const { error, result } = await settle(groups.listGroups(), errorCode.coordinatorNotAvailable, []);
    const stored = new Map(result.map((group) => [group.id, group.protocolType]));
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.array(ids, (id) => {
        const group = groups.findGroup(id);
        const members = [...(group?.members.values() ?? [])];
        const protocol = group?.protocol ?? '';
        response
          .int16(error)
          .string(id)
          .string(group?.state ?? (stored.has(id) ? 'Empty' : 'Dead'));
        response.string(group?.protocolType ?? stored.get(id) ?? '').string(protocol);
        response.array(members, (member) => {
          response.string(member.id);
          if (version >= 4) response.string(member.instanceId);
          response.string(member.clientId).string(member.clientHost);
          response.bytes(member.protocols.find(({ name }) => name === protocol)?.metadata ?? Buffer.alloc(0));
          response.bytes(member.assignment);
        });
        if (version >= 3) response.int32(NO_AUTHORIZED_OPERATIONS);
      });
    };
  },
};

export const listGroups: Api = {
  key: 16,
  name: 'ListGroups',
  min: 0,
  max: 2,
  handle: async ({ version }, { groups }) => {
    const { error, result: all } = await settle(groups.listGroups(), errorCode.coordinatorNotAvailable, []);
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error).array(all, ({ id, protocolType }) => response.string(id).string(protocolType));
    };
  },
};

/** Deletes groups without members, and their offsets. */
export const deleteGroups: Api = {
  key: 42,
  name: 'DeleteGroups',
  min: 0,
  max: 1,
  handle: async ({ reader }, { groups }) => {
    const ids = reader.array(reader.string);
    const outcomes = await Promise.all(
      ids.map(async (id) => ({
        id,
        ...(await settle(groups.deleteGroup(id), errorCode.coordinatorNotAvailable, undefined)),
      })),
    );
    return (response) => {
      response.int32(0); // throttle time
      response.array(outcomes, ({ id, error }) => response.string(id).int16(error));
    };
  },
};
