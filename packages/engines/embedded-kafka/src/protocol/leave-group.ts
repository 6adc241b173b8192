import { errorCode } from '../errors.ts';
import type { Api, ApiRequest } from './api.ts';
import { runAndGetError } from './group-errors.ts';

const SEVERAL_MEMBERS_FROM = 3;

/** Removes members from a group. */
export const leaveGroup: Api = {
  key: 13,
  name: 'LeaveGroup',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const members = readMembers({ reader, version });
    const left = members.map((member) => ({
      ...member,
      error: runAndGetError(() => groups.leave(groupId, member.memberId, member.instanceId)),
    }));
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(version >= SEVERAL_MEMBERS_FROM ? errorCode.none : left[0]!.error);
      if (version < SEVERAL_MEMBERS_FROM) return;
      response.array(left, ({ memberId, instanceId, error }) =>
        response.string(memberId).string(instanceId).int16(error),
      );
    };
  },
};

/** Requests from version 3 on list several members, earlier ones a single member. */
const readMembers = ({ reader, version }: Pick<ApiRequest, 'reader' | 'version'>) => {
  const one = () => ({
    memberId: reader.string(),
    instanceId: version >= SEVERAL_MEMBERS_FROM ? reader.nullableString() : null,
  });
  return version >= SEVERAL_MEMBERS_FROM ? reader.array(one) : [one()];
};
