import { type ErrorCode, errorCode } from '../errors.ts';
import { MemberIdRequired } from '../groups/member.ts';
import type { Api } from './api.ts';
import { groupErrorOf, unlessAborted } from './group-errors.ts';

const REBALANCE_TIMEOUT_FROM = 1;
const MEMBER_ID_REQUIRED_FROM = 4;
const STATIC_MEMBERS_FROM = 5;

/** Joins a consumer group. The response waits for the rebalance. */
export const joinGroup: Api = {
  key: 11,
  name: 'JoinGroup',
  min: 0,
  max: 5,
  handle: async ({ reader, version, clientId, clientHost, signal }, { groups }) => {
    const groupId = reader.string();
    const sessionTimeoutMs = reader.int32();
    const rebalanceTimeoutMs = version >= REBALANCE_TIMEOUT_FROM ? reader.int32() : sessionTimeoutMs;
    const memberId = reader.string();
    const instanceId = version >= STATIC_MEMBERS_FROM ? reader.nullableString() : null;
    const protocolType = reader.string();
    const protocols = reader.array(() => ({ name: reader.string(), metadata: Buffer.from(reader.bytes()) }));
    const asksForId = version >= MEMBER_ID_REQUIRED_FROM;
    const { error, joined } = await unlessAborted(
      groups.join(groupId, {
        memberId,
        instanceId,
        clientId,
        clientHost,
        sessionTimeoutMs,
        rebalanceTimeoutMs,
        protocolType,
        protocols,
        supportsMemberIdRequired: asksForId,
      }),
      signal,
    ).then(
      (result) => ({ error: errorCode.none as ErrorCode, joined: result }),
      (refusal: unknown) => ({ error: groupErrorOf(refusal), joined: notJoined(refusal, memberId) }),
    );
    return (response) => {
      if (version >= 2) response.int32(0); // throttle time
      response
        .int16(error)
        .int32(joined.generation)
        .string(joined.protocol)
        .string(joined.leader)
        .string(joined.memberId);
      response.array(joined.members, (member) => {
        response.string(member.memberId);
        if (version >= STATIC_MEMBERS_FROM) response.string(member.instanceId);
        response.bytes(member.metadata);
      });
    };
  },
};

const notJoined = (error: unknown, memberId: string) => ({
  generation: -1,
  protocol: '',
  leader: '',
  memberId: error instanceof MemberIdRequired ? error.memberId : memberId,
  members: [],
});
