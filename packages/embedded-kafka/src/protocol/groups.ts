import { type Api, type ApiRequest, NODE_ID } from '../broker.ts';
import { MemberIdRequired } from '../groups/member.ts';
import { type ErrorCode, StorageUnavailable, errorCode, errorCodeOf } from '../errors.ts';

const REBALANCE_TIMEOUT_FROM = 1;
const MEMBER_ID_REQUIRED_FROM = 4;
const STATIC_MEMBERS_FROM = 5;

/** Of groups and of transactions alike: it is the one node. */
export const findCoordinator: Api = {
  key: 10,
  name: 'FindCoordinator',
  min: 0,
  max: 2,
  handle:
    ({ version }, { address }) =>
    (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(errorCode.none);
      if (version >= 1) response.string(null); // error message
      response.int32(NODE_ID).string(address.host).int32(address.port);
    },
};

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
    const { error, joined } = await orGone(
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
      (refused: unknown) => ({ error: groupCode(refused), joined: notJoined(refused, memberId) }),
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

export const syncGroup: Api = {
  key: 14,
  name: 'SyncGroup',
  min: 0,
  max: 3,
  handle: async ({ reader, version, signal }, { groups }) => {
    const groupId = reader.string();
    const generation = reader.int32();
    const memberId = reader.string();
    const instanceId = version >= 3 ? reader.nullableString() : null;
    const assignments = new Map(reader.array(() => [reader.string(), Buffer.from(reader.bytes())] as const));
    const { error, assignment } = await orGone(
      groups.sync(groupId, { generation, memberId, instanceId }, assignments),
      signal,
    ).then(
      (result) => ({ error: errorCode.none as ErrorCode, assignment: result }),
      (refused: unknown) => ({ error: groupCode(refused), assignment: Buffer.alloc(0) }),
    );
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error).bytes(assignment);
    };
  },
};

export const heartbeat: Api = {
  key: 12,
  name: 'Heartbeat',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const generation = reader.int32();
    const memberId = reader.string();
    const instanceId = version >= 3 ? reader.nullableString() : null;
    const error = attempt(() => groups.heartbeat(groupId, { generation, memberId, instanceId }));
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error);
    };
  },
};

export const leaveGroup: Api = {
  key: 13,
  name: 'LeaveGroup',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const members = leaving({ reader, version });
    const left = members.map((member) => ({
      ...member,
      error: attempt(() => groups.leave(groupId, member.memberId, member.instanceId)),
    }));
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(version >= 3 ? errorCode.none : left[0]!.error);
      if (version < 3) return;
      response.array(left, ({ memberId, instanceId, error }) =>
        response.string(memberId).string(instanceId).int16(error),
      );
    };
  },
};

/** Version 3 names several members, the earlier ones one. */
const leaving = ({ reader, version }: Pick<ApiRequest, 'reader' | 'version'>) => {
  const one = () => ({ memberId: reader.string(), instanceId: version >= 3 ? reader.nullableString() : null });
  return version >= 3 ? reader.array(one) : [one()];
};

const attempt = (act: () => void): ErrorCode => {
  try {
    act();
    return errorCode.none;
  } catch (error) {
    return groupCode(error);
  }
};

const groupCode = (error: unknown): ErrorCode => errorCodeOf(error, errorCode.coordinatorNotAvailable);

const notJoined = (error: unknown, memberId: string) => ({
  generation: -1,
  protocol: '',
  leader: '',
  memberId: error instanceof MemberIdRequired ? error.memberId : memberId,
  members: [],
});

/** The answer, or a refusal nobody will read once the client is gone. */
const orGone = <T>(answer: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((done, fail) => {
    const gone = () => fail(new StorageUnavailable());
    signal.addEventListener('abort', gone);
    answer.then(done, fail).finally(() => signal.removeEventListener('abort', gone));
  });
