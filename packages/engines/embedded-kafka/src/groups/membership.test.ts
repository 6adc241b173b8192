import { KafkaError, errorCode } from '../errors.ts';
import { SESSION_MS, errorOf, identityOf, joinAlone, joinPair, joinRequest, manualClock } from '../testing/groups.ts';
import { Group } from './group.ts';
import { MemberIdRequired } from './members.ts';

let clock: ReturnType<typeof manualClock>;
let group: Group;
beforeEach(() => {
  clock = manualClock();
  group = new Group('g', clock);
});

const refused = (code: number) => expect.objectContaining({ code });

test('a client that supports MEMBER_ID_REQUIRED gets an id first and joins with it', async () => {
  const error = errorOf(() => group.join(joinRequest({ supportsMemberIdRequired: true }))) as MemberIdRequired;
  expect(error).toBeInstanceOf(MemberIdRequired);
  expect(group.members.size).toBe(0);
  const joined = await group.join(joinRequest({ supportsMemberIdRequired: true, memberId: error.memberId }));
  expect(joined.memberId).toBe(error.memberId);
});

test('an unused member id expires after the session timeout, and the rebalance continues', async () => {
  const first = await joinAlone(group);
  const { memberId } = errorOf(() => group.join(joinRequest({ supportsMemberIdRequired: true }))) as MemberIdRequired;
  const joining = group.join(joinRequest());
  const again = group.join(joinRequest({ memberId: first.memberId }));
  expect(group.state).toBe('PreparingRebalance');
  clock.advance(SESSION_MS);
  expect((await again).generation).toBe(2);
  await joining;
  expect(errorOf(() => group.join(joinRequest({ memberId })))).toEqual(refused(errorCode.unknownMemberId));
});

test('a member without heartbeats is removed after its session timeout', async () => {
  const { leader, follower } = await joinPair(group);
  clock.advance(SESSION_MS - 1);
  group.heartbeat(identityOf(leader));
  clock.advance(1);
  expect(group.state).toBe('PreparingRebalance');
  expect(errorOf(() => group.heartbeat(identityOf(follower)))).toEqual(refused(errorCode.unknownMemberId));
  const alone = await group.join(joinRequest({ memberId: leader.memberId }));
  expect(alone.members.map(({ memberId }) => memberId)).toEqual([leader.memberId]);
});

test('a group without members is empty and keeps its generation', async () => {
  const joined = await joinAlone(group);
  group.leave(joined.memberId, null);
  expect(group).toMatchObject({ state: 'Empty', generation: 2, protocolType: 'consumer' });
  expect(clock.pendingTimers()).toBe(0);
  expect((await group.join(joinRequest())).generation).toBe(3);
});

test('requests of an earlier generation are refused', async () => {
  const { leader } = await joinPair(group);
  const old = { ...identityOf(leader), generation: 1 };
  expect(errorOf(() => group.heartbeat(old))).toEqual(refused(errorCode.illegalGeneration));
  expect(errorOf(() => group.checkMayCommit(old))).toEqual(refused(errorCode.illegalGeneration));
  expect(errorOf(() => group.sync(old, new Map()))).toEqual(refused(errorCode.illegalGeneration));
});

test('a consumer outside of the group may commit only while the group has no members', async () => {
  const outsider = { memberId: '', instanceId: null, generation: -1 };
  group.checkMayCommit(outsider);
  await joinAlone(group);
  expect(errorOf(() => group.checkMayCommit(outsider))).toEqual(refused(errorCode.unknownMemberId));
});

test.each([
  ['with another protocol type', { protocolType: 'connect' }],
  ['without a common protocol', { protocols: [{ name: 'other', metadata: Buffer.alloc(0) }] }],
  ['without protocols', { protocols: [] }],
])('a new member %s is refused, and the group stays stable', async (_, more) => {
  const joined = await joinAlone(group);
  expect(errorOf(() => group.join(joinRequest(more)))).toEqual(refused(errorCode.inconsistentGroupProtocol));
  group.heartbeat(identityOf(joined));
});

test('requests of an unknown member are refused with an error of the protocol', () => {
  const stranger = { memberId: 'x', instanceId: null, generation: 1 };
  for (const act of [
    () => group.heartbeat(stranger),
    () => group.sync(stranger, new Map()),
    () => group.leave('x', null),
    () => group.checkMayCommit(stranger),
    () => group.join(joinRequest({ memberId: 'x' })),
  ]) {
    expect(errorOf(act)).toBeInstanceOf(KafkaError);
  }
});
