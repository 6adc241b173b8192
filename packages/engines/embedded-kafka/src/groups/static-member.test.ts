import { errorCode } from '../errors.ts';
import { REBALANCE_MS, errorOf, identityOf, joinAlone, joinRequest, manualClock } from '../testing/groups.ts';
import { Group } from './group.ts';

let clock: ReturnType<typeof manualClock>;
let group: Group;
beforeEach(() => {
  clock = manualClock();
  group = new Group('g', clock);
});

const instanceId = 'instance-1';
const refused = (code: number) => expect.objectContaining({ code });

test('a restarted static member keeps its assignment without a rebalance', async () => {
  const before = await joinAlone(group, { instanceId });
  const back = await group.join(joinRequest({ instanceId }));
  expect(back.memberId).not.toBe(before.memberId);
  expect(back).toMatchObject({ generation: before.generation, members: [], leader: before.memberId });
  expect(group.state).toBe('Stable');
  expect(String(await group.sync(identityOf(back, instanceId), new Map()))).toBe('all');
});

test('a restarted static member fences its predecessor', async () => {
  const before = await joinAlone(group, { instanceId });
  const back = await group.join(joinRequest({ instanceId }));
  expect(errorOf(() => group.heartbeat(identityOf(before, instanceId)))).toEqual(refused(errorCode.fencedInstanceId));
  expect(errorOf(() => group.checkMayCommit(identityOf(before, instanceId)))).toEqual(
    refused(errorCode.fencedInstanceId),
  );
  expect(errorOf(() => group.join(joinRequest({ instanceId, memberId: before.memberId })))).toEqual(
    refused(errorCode.fencedInstanceId),
  );
  group.heartbeat(identityOf(back, instanceId));
});

test('a restarted static member with other protocol metadata starts a rebalance', async () => {
  await joinAlone(group, { instanceId });
  const back = await group.join(
    joinRequest({ instanceId, protocols: [{ name: 'range', metadata: Buffer.from('new') }] }),
  );
  expect(back).toMatchObject({ generation: 2, leader: back.memberId });
});

test('a static member can be removed by its instance id', async () => {
  await joinAlone(group, { instanceId });
  group.leave('', instanceId);
  expect(group.members.size).toBe(0);
});

test('a static member stays in the group when it misses a rebalance', async () => {
  const absent = await joinAlone(group, { instanceId, sessionTimeoutMs: 10 * REBALANCE_MS });
  const joining = group.join(joinRequest());
  clock.advance(REBALANCE_MS);
  const joined = await joining;
  expect(joined.leader).toBe(joined.memberId);
  expect(joined.members.map(({ memberId }) => memberId)).toEqual([absent.memberId, joined.memberId]);
});
