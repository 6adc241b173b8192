import type { Group } from '../groups/group.ts';
import type { JoinRequest, JoinResult } from '../groups/members.ts';

export const SESSION_MS = 10_000;
export const REBALANCE_MS = 60_000;

/** A clock that moves only by `advance`. */
export const manualClock = () => {
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
    advance: (ms: number) => {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && timers.delete(timer)) timer.run();
      }
    },
    pendingTimers: () => timers.size,
  };
};

export const joinRequest = (changes: Partial<JoinRequest> = {}): JoinRequest => ({
  memberId: '',
  instanceId: null,
  clientId: 'client',
  clientHost: '/127.0.0.1',
  sessionTimeoutMs: SESSION_MS,
  rebalanceTimeoutMs: REBALANCE_MS,
  protocolType: 'consumer',
  protocols: [{ name: 'range', metadata: Buffer.from('m') }],
  supportsMemberIdRequired: false,
  ...changes,
});

export const identityOf = ({ memberId, generation }: JoinResult, instanceId: string | null = null) => ({
  memberId,
  generation,
  instanceId,
});

export const assignments = (...pairs: [memberId: string, assignment: string][]) =>
  new Map(pairs.map(([memberId, assignment]) => [memberId, Buffer.from(assignment)]));

/** The error that `act` throws. Fails if it throws none. */
export const errorOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('expected a refusal');
};

/** A stable group of one member with the assignment `all`. */
export const joinAlone = async (group: Group, changes: Partial<JoinRequest> = {}): Promise<JoinResult> => {
  const joined = await group.join(joinRequest(changes));
  await group.sync(identityOf(joined, changes.instanceId ?? null), assignments([joined.memberId, 'all']));
  return joined;
};

/** A stable group of a leader and a follower, with the assignments `one` and `two`. */
export const joinPair = async (group: Group): Promise<{ leader: JoinResult; follower: JoinResult }> => {
  const first = await joinAlone(group);
  const joining = group.join(joinRequest({ clientId: 'other' }));
  const leader = await group.join(joinRequest({ memberId: first.memberId }));
  const follower = await joining;
  const followerSync = group.sync(identityOf(follower), new Map());
  await group.sync(identityOf(leader), assignments([leader.memberId, 'one'], [follower.memberId, 'two']));
  if (String(await followerSync) !== 'two') throw new Error('the follower did not get its assignment');
  return { leader, follower };
};
