import { errorCode } from '../errors.ts';
import {
  REBALANCE_MS,
  SESSION_MS,
  assignments,
  errorOf,
  identityOf,
  joinAlone,
  joinPair,
  joinRequest,
  manualClock,
} from '../testing/groups.ts';
import { Group } from './group.ts';

let clock: ReturnType<typeof manualClock>;
let group: Group;
beforeEach(() => {
  clock = manualClock();
  group = new Group('g', clock);
});

const refused = (code: number) => expect.objectContaining({ code });

test('the first member leads the group and assigns to itself', async () => {
  const joined = await group.join(joinRequest());
  expect(joined).toMatchObject({ generation: 1, protocol: 'range', leader: joined.memberId });
  expect(joined.members).toEqual([{ memberId: joined.memberId, instanceId: null, metadata: Buffer.from('m') }]);
  expect(String(await group.sync(identityOf(joined), assignments([joined.memberId, 'all'])))).toBe('all');
  expect(group.state).toBe('Stable');
});

test('a new member starts a rebalance, and each member gets the assignment of the leader', async () => {
  const { leader, follower } = await joinPair(group);
  expect(leader.generation).toBe(2);
  expect(leader.members.map(({ memberId }) => memberId)).toEqual([leader.memberId, follower.memberId]);
  expect(follower).toMatchObject({ generation: 2, leader: leader.memberId, members: [] });
  expect(group.state).toBe('Stable');
});

test('a heartbeat, sync or commit during a rebalance is refused', async () => {
  const first = await joinAlone(group);
  void group.join(joinRequest());
  expect(errorOf(() => group.heartbeat(identityOf(first)))).toEqual(refused(errorCode.rebalanceInProgress));
  expect(errorOf(() => group.sync(identityOf(first), new Map()))).toEqual(refused(errorCode.rebalanceInProgress));
  group.checkMayCommit(identityOf(first)); // offsets of the previous generation may still be committed
  await group.join(joinRequest({ memberId: first.memberId }));
  const current = { ...identityOf(first), generation: 2 };
  group.heartbeat(current);
  expect(errorOf(() => group.checkMayCommit(current))).toEqual(refused(errorCode.rebalanceInProgress));
});

test('a rebalance waits for silent members until the rebalance timeout only', async () => {
  const { leader, follower } = await joinPair(group);
  const joining = group.join(joinRequest({ memberId: leader.memberId }));
  for (let passed = 0; passed < REBALANCE_MS; passed += SESSION_MS / 2) {
    clock.advance(SESSION_MS / 2);
    if (passed + SESSION_MS / 2 < REBALANCE_MS)
      expect(errorOf(() => group.heartbeat(identityOf(follower)))).toEqual(refused(27));
  }
  expect((await joining).members.map(({ memberId }) => memberId)).toEqual([leader.memberId]);
});

test('another member leads when the leader leaves', async () => {
  const { leader, follower } = await joinPair(group);
  group.leave(leader.memberId, null);
  const joined = await group.join(joinRequest({ memberId: follower.memberId }));
  expect(joined).toMatchObject({ leader: follower.memberId, generation: 3 });
});

test('a leader that never assigns is removed after the rebalance timeout, despite its heartbeats', async () => {
  const first = await joinAlone(group);
  const joining = group.join(joinRequest());
  const leader = await group.join(joinRequest({ memberId: first.memberId }));
  const follower = await joining;
  const waiting = group.sync(identityOf(follower), new Map());
  const failed = expect(waiting).rejects.toEqual(refused(errorCode.rebalanceInProgress));
  for (let passed = 0; passed < REBALANCE_MS; passed += SESSION_MS / 2) {
    group.heartbeat(identityOf(leader));
    clock.advance(SESSION_MS / 2);
  }
  await failed;
  expect((await group.join(joinRequest({ memberId: follower.memberId }))).leader).toBe(follower.memberId);
});

test('a follower that rejoins unchanged keeps the generation; a changed one starts a rebalance', async () => {
  const { follower } = await joinPair(group);
  expect(await group.join(joinRequest({ memberId: follower.memberId }))).toMatchObject({ generation: 2, members: [] });
  void group.join(
    joinRequest({ memberId: follower.memberId, protocols: [{ name: 'range', metadata: Buffer.from('new') }] }),
  );
  expect(group.state).toBe('PreparingRebalance');
});

test('the group uses the protocol that all members support and most prefer', async () => {
  const protocols = (...names: string[]) => names.map((name) => ({ name, metadata: Buffer.from(name) }));
  const first = await joinAlone(group, { protocols: protocols('a', 'b') });
  const second = group.join(joinRequest({ protocols: protocols('b', 'a') }));
  const third = group.join(joinRequest({ protocols: protocols('c', 'b', 'a') }));
  const joined = await group.join(joinRequest({ memberId: first.memberId, protocols: protocols('a', 'b') }));
  expect(joined.protocol).toBe('b');
  expect(joined.members.map(({ metadata }) => String(metadata))).toEqual(['b', 'b', 'b']);
  await Promise.all([second, third]);
});
