import { KafkaError, errorCode } from '../errors.ts';
import { Group } from './group.ts';
import { type JoinRequest, type JoinResult, MemberIdRequired } from './member.ts';

/** A clock that only moves when told to. */
const manualClock = () => {
  let now = 0;
  let ids = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    after: (ms: number, run: () => void) => {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    newMemberId: (prefix: string) => `${prefix}-${(ids += 1)}`,
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && timers.delete(timer)) timer.run();
      }
    },
    pending: () => timers.size,
  };
};

const SESSION = 10_000;
const REBALANCE = 60_000;

const request = (more: Partial<JoinRequest> = {}): JoinRequest => ({
  memberId: '',
  instanceId: null,
  clientId: 'client',
  clientHost: '/127.0.0.1',
  sessionTimeoutMs: SESSION,
  rebalanceTimeoutMs: REBALANCE,
  protocolType: 'consumer',
  protocols: [{ name: 'range', metadata: Buffer.from('m') }],
  supportsMemberIdRequired: false,
  ...more,
});

let clock: ReturnType<typeof manualClock>;
let group: Group;
beforeEach(() => {
  clock = manualClock();
  group = new Group('g', clock);
});

const identity = ({ memberId, generation }: JoinResult, instanceId: string | null = null) => ({
  memberId,
  generation,
  instanceId,
});
const assigned = (...pairs: [string, string][]) => new Map(pairs.map(([id, what]) => [id, Buffer.from(what)]));
const refused = (errorCode: number) => expect.objectContaining({ code: errorCode });
const refusalOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
};

/** One member, with the whole assignment. */
const stableAlone = async (more: Partial<JoinRequest> = {}) => {
  const joined = await group.join(request(more));
  await group.sync(identity(joined, more.instanceId ?? null), assigned([joined.memberId, 'all']));
  return joined;
};

/** A leader and a follower, both assigned. */
const stablePair = async () => {
  const first = await stableAlone();
  const joining = group.join(request({ clientId: 'other' }));
  const leader = await group.join(request({ memberId: first.memberId }));
  const follower = await joining;
  const waiting = group.sync(identity(follower), new Map());
  await group.sync(identity(leader), assigned([leader.memberId, 'one'], [follower.memberId, 'two']));
  expect(String(await waiting)).toBe('two');
  return { leader, follower };
};

test('the first member leads and assigns to itself', async () => {
  const joined = await group.join(request());
  expect(joined).toMatchObject({ generation: 1, protocol: 'range', leader: joined.memberId });
  expect(joined.members).toEqual([{ memberId: joined.memberId, instanceId: null, metadata: Buffer.from('m') }]);
  expect(String(await group.sync(identity(joined), assigned([joined.memberId, 'all'])))).toBe('all');
  expect(group.state).toBe('Stable');
});

test('a newcomer makes everyone join again, and each gets what the leader assigns', async () => {
  const { leader, follower } = await stablePair();
  expect(leader.generation).toBe(2);
  expect(leader.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, follower.memberId]);
  expect(follower).toMatchObject({ generation: 2, leader: leader.memberId, members: [] });
  expect(group.state).toBe('Stable');
});

test('members hear of a rebalance in their heartbeat, sync and commit', async () => {
  const first = await stableAlone();
  void group.join(request());
  expect(refusalOf(() => group.heartbeat(identity(first)))).toEqual(refused(errorCode.rebalanceInProgress));
  expect(refusalOf(() => group.sync(identity(first), new Map()))).toEqual(refused(errorCode.rebalanceInProgress));
  group.checkMayCommit(identity(first)); // what was read may still be committed
  await group.join(request({ memberId: first.memberId }));
  const current = { ...identity(first), generation: 2 };
  group.heartbeat(current);
  expect(refusalOf(() => group.checkMayCommit(current))).toEqual(refused(errorCode.rebalanceInProgress));
});

test('a client that knows how is given its id first and joins with it', async () => {
  const error = refusalOf(() => group.join(request({ supportsMemberIdRequired: true }))) as MemberIdRequired;
  expect(error).toBeInstanceOf(MemberIdRequired);
  expect(group.members.size).toBe(0);
  const joined = await group.join(request({ supportsMemberIdRequired: true, memberId: error.memberId }));
  expect(joined.memberId).toBe(error.memberId);
});

test('an id that is not taken up is forgotten after the session time-out, and holds up nobody', async () => {
  const first = await stableAlone();
  const { memberId } = refusalOf(() => group.join(request({ supportsMemberIdRequired: true }))) as MemberIdRequired;
  const joining = group.join(request());
  const again = group.join(request({ memberId: first.memberId }));
  expect(group.state).toBe('PreparingRebalance');
  clock.pass(SESSION);
  expect((await again).generation).toBe(2);
  await joining;
  expect(refusalOf(() => group.join(request({ memberId })))).toEqual(refused(errorCode.unknownMemberId));
});

test('a member that is silent for its session time-out is out, and the others share its work', async () => {
  const { leader, follower } = await stablePair();
  clock.pass(SESSION - 1);
  group.heartbeat(identity(leader));
  clock.pass(1);
  expect(group.state).toBe('PreparingRebalance');
  expect(refusalOf(() => group.heartbeat(identity(follower)))).toEqual(refused(errorCode.unknownMemberId));
  const alone = await group.join(request({ memberId: leader.memberId }));
  expect(alone.members.map(({ memberId }) => memberId)).toEqual([leader.memberId]);
});

test('a rebalance does not wait for a silent member beyond the rebalance time-out', async () => {
  const { leader, follower } = await stablePair();
  const joining = group.join(request({ memberId: leader.memberId }));
  for (let passed = 0; passed < REBALANCE; passed += SESSION / 2) {
    clock.pass(SESSION / 2);
    if (passed + SESSION / 2 < REBALANCE)
      expect(refusalOf(() => group.heartbeat(identity(follower)))).toEqual(refused(27));
  }
  expect((await joining).members.map(({ memberId }) => memberId)).toEqual([leader.memberId]);
});

test('when the leader leaves, another one leads', async () => {
  const { leader, follower } = await stablePair();
  group.leave(leader.memberId, null);
  const joined = await group.join(request({ memberId: follower.memberId }));
  expect(joined).toMatchObject({ leader: follower.memberId, generation: 3 });
});

test('a leader that never assigns is out after the rebalance time-out, though it beats', async () => {
  const first = await stableAlone();
  const joining = group.join(request());
  const leader = await group.join(request({ memberId: first.memberId }));
  const follower = await joining;
  const waiting = group.sync(identity(follower), new Map());
  const failed = expect(waiting).rejects.toEqual(refused(errorCode.rebalanceInProgress));
  for (let passed = 0; passed < REBALANCE; passed += SESSION / 2) {
    group.heartbeat(identity(leader));
    clock.pass(SESSION / 2);
  }
  await failed;
  expect((await group.join(request({ memberId: follower.memberId }))).leader).toBe(follower.memberId);
});

test('the last member leaves an empty group, and its generations go on from there', async () => {
  const joined = await stableAlone();
  group.leave(joined.memberId, null);
  expect(group).toMatchObject({ state: 'Empty', generation: 2, protocolType: 'consumer' });
  expect(clock.pending()).toBe(0);
  expect((await group.join(request())).generation).toBe(3);
});

test('what an earlier generation says is refused', async () => {
  const { leader } = await stablePair();
  const old = { ...identity(leader), generation: 1 };
  expect(refusalOf(() => group.heartbeat(old))).toEqual(refused(errorCode.illegalGeneration));
  expect(refusalOf(() => group.checkMayCommit(old))).toEqual(refused(errorCode.illegalGeneration));
  expect(refusalOf(() => group.sync(old, new Map()))).toEqual(refused(errorCode.illegalGeneration));
});

test('who is no member may commit only while there are none', async () => {
  const outsider = { memberId: '', instanceId: null, generation: -1 };
  group.checkMayCommit(outsider);
  await stableAlone();
  expect(refusalOf(() => group.checkMayCommit(outsider))).toEqual(refused(errorCode.unknownMemberId));
});

test('a follower that joins again unchanged gets the same generation, a changed one a new one', async () => {
  const { follower } = await stablePair();
  expect(await group.join(request({ memberId: follower.memberId }))).toMatchObject({ generation: 2, members: [] });
  void group.join(
    request({ memberId: follower.memberId, protocols: [{ name: 'range', metadata: Buffer.from('new') }] }),
  );
  expect(group.state).toBe('PreparingRebalance');
});

test('the protocol that all members know and most prefer is chosen', async () => {
  const protocols = (...names: string[]) => names.map((name) => ({ name, metadata: Buffer.from(name) }));
  const first = await stableAlone({ protocols: protocols('a', 'b') });
  const second = group.join(request({ protocols: protocols('b', 'a') }));
  const third = group.join(request({ protocols: protocols('c', 'b', 'a') }));
  const joined = await group.join(request({ memberId: first.memberId, protocols: protocols('a', 'b') }));
  expect(joined.protocol).toBe('b');
  expect(joined.members.map(({ metadata }) => String(metadata))).toEqual(['b', 'b', 'b']);
  await Promise.all([second, third]);
});

test.each([
  ['of another type', { protocolType: 'connect' }],
  ['that shares no protocol', { protocols: [{ name: 'other', metadata: Buffer.alloc(0) }] }],
  ['without protocols', { protocols: [] }],
])('a newcomer %s is refused, and the group goes on', async (_, more) => {
  const joined = await stableAlone();
  expect(refusalOf(() => group.join(request(more)))).toEqual(refused(errorCode.inconsistentGroupProtocol));
  group.heartbeat(identity(joined));
});

describe('a static member', () => {
  const instanceId = 'instance-1';

  test('that comes back takes up its assignment, and nobody else notices', async () => {
    const before = await stableAlone({ instanceId });
    const back = await group.join(request({ instanceId }));
    expect(back.memberId).not.toBe(before.memberId);
    expect(back).toMatchObject({ generation: before.generation, members: [], leader: before.memberId });
    expect(group.state).toBe('Stable');
    expect(String(await group.sync(identity(back, instanceId), new Map()))).toBe('all');
  });

  test('fences who had its name before', async () => {
    const before = await stableAlone({ instanceId });
    const back = await group.join(request({ instanceId }));
    expect(refusalOf(() => group.heartbeat(identity(before, instanceId)))).toEqual(refused(errorCode.fencedInstanceId));
    expect(refusalOf(() => group.checkMayCommit(identity(before, instanceId)))).toEqual(
      refused(errorCode.fencedInstanceId),
    );
    expect(refusalOf(() => group.join(request({ instanceId, memberId: before.memberId })))).toEqual(
      refused(errorCode.fencedInstanceId),
    );
    group.heartbeat(identity(back, instanceId));
  });

  test('with other topics than before starts a rebalance', async () => {
    await stableAlone({ instanceId });
    const back = await group.join(
      request({ instanceId, protocols: [{ name: 'range', metadata: Buffer.from('new') }] }),
    );
    expect(back).toMatchObject({ generation: 2, leader: back.memberId });
  });

  test('may be sent away by its name', async () => {
    await stableAlone({ instanceId });
    group.leave('', instanceId);
    expect(group.members.size).toBe(0);
  });

  test('keeps its place in a rebalance that it misses', async () => {
    const absent = await stableAlone({ instanceId, sessionTimeoutMs: 10 * REBALANCE });
    const joining = group.join(request());
    clock.pass(REBALANCE);
    const joined = await joining;
    expect(joined.leader).toBe(joined.memberId);
    expect(joined.members.map(({ memberId }) => memberId)).toEqual([absent.memberId, joined.memberId]);
  });
});

test('a refusal is of the protocol, never a crash', () => {
  const stranger = { memberId: 'x', instanceId: null, generation: 1 };
  for (const act of [
    () => group.heartbeat(stranger),
    () => group.sync(stranger, new Map()),
    () => group.leave('x', null),
    () => group.checkMayCommit(stranger),
    () => group.join(request({ memberId: 'x' })),
  ]) {
    expect(refusalOf(act)).toBeInstanceOf(KafkaError);
  }
});
