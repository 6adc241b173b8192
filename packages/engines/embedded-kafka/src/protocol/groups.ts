import { type ErrorCode, errorCode, errorCodeOf, settle, StorageUnavailable } from '../errors.ts';
import { MemberIdRequired } from '../groups/members.ts';
import type { Api, ApiRequest } from './api.ts';

const REBALANCE_TIMEOUT_FROM = 1;
const MEMBER_ID_REQUIRED_FROM = 4;
const JOIN_STATIC_MEMBERS_FROM = 5;

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
    const instanceId = version >= JOIN_STATIC_MEMBERS_FROM ? reader.nullableString() : null;
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
        if (version >= JOIN_STATIC_MEMBERS_FROM) response.string(member.instanceId);
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
    const synced = groups.sync(groupId, { generation, memberId, instanceId }, assignments);
    const none: Buffer = Buffer.alloc(0);
    const { error, result } = await settle(unlessAborted(synced, signal), errorCode.coordinatorNotAvailable, none);
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(error).bytes(result);
    };
  },
};

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

const groupErrorOf = (error: unknown): ErrorCode => errorCodeOf(error, errorCode.coordinatorNotAvailable);

/** Runs `act` and returns the error code of its refusal, or `none`. */
const runAndGetError = (act: () => void): ErrorCode => {
  try {
    act();
    return errorCode.none;
  } catch (error) {
    return groupErrorOf(error);
  }
};

/** Settles as `result`, or rejects when `signal` is aborted: without it, a disconnected client would be waited for. */
const unlessAborted = <T>(result: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((done, fail) => {
    const abort = () => fail(new StorageUnavailable());
    signal.addEventListener('abort', abort);
    result.then(done, fail).finally(() => signal.removeEventListener('abort', abort));
  });

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
