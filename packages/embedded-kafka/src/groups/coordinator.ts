import { randomUUID } from 'node:crypto';
import { KafkaError, code } from '../protocol/errors.ts';
import type { CommittedOffset, Offsets } from '../storage/offsets.ts';
import { Group, type GroupClock } from './group.ts';
import type { Identity, JoinRequest, Joined } from './member.ts';

/** Longer ids do not fit an index of PostgreSQL. */
const LONGEST_ID = 1_000;

export interface SessionLimits {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/** All consumer groups: their members in memory, their offsets in the database. */
export class Coordinator {
  private readonly groups = new Map<string, Group>();
  private readonly offsets: Offsets;
  private readonly limits: SessionLimits;

  constructor(offsets: Offsets, limits: SessionLimits) {
    this.offsets = offsets;
    this.limits = limits;
  }

  async join(groupId: string, request: JoinRequest): Promise<Joined> {
    checkId(groupId);
    if (request.protocolType.includes('\0')) throw new KafkaError(code.inconsistentGroupProtocol, 'no protocol type');
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.limits;
    if (request.sessionTimeoutMs < minSessionTimeoutMs || request.sessionTimeoutMs > maxSessionTimeoutMs) {
      throw new KafkaError(
        code.invalidSessionTimeout,
        `${minSessionTimeoutMs} to ${maxSessionTimeoutMs} ms are allowed`,
      );
    }
    const group = this.groups.get(groupId) ?? new Group(groupId, clock);
    if (request.memberId !== '' && !this.groups.has(groupId))
      throw new KafkaError(code.unknownMemberId, 'no such member');
    this.groups.set(groupId, group);
    return group.join(request);
  }

  async sync(groupId: string, identity: Identity, assignments: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    return this.demand(groupId).sync(identity, assignments);
  }

  heartbeat = (groupId: string, identity: Identity): void => this.demand(groupId).heartbeat(identity);

  leave = (groupId: string, memberId: string, instanceId: string | null): void =>
    this.demand(groupId).leave(memberId, instanceId);

  /** Refuses a consumer that is no member of the group's generation; otherwise resolves once the offsets are stored. */
  async commit(groupId: string, identity: Identity, offsets: readonly CommittedOffset[]): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group) group.checkCommit(identity);
    else if (identity.generation >= 0) throw new KafkaError(code.illegalGeneration, 'the group starts anew');
    const protocolType = group?.protocolType ?? '';
    await this.offsets.commit(offsets.map((offset) => ({ ...offset, groupId, protocolType })));
  }

  async committed(groupId: string): Promise<CommittedOffset[]> {
    checkId(groupId);
    return this.offsets.of(groupId);
  }

  find = (groupId: string): Group | undefined => this.groups.get(groupId);

  /** Groups with members and groups with offsets. */
  async list(): Promise<{ id: string; protocolType: string }[]> {
    const all = new Map((await this.offsets.groups()).map(({ id, protocolType }) => [id, protocolType]));
    for (const { id, protocolType } of this.groups.values()) all.set(id, protocolType);
    return [...all].map(([id, protocolType]) => ({ id, protocolType }));
  }

  async remove(groupId: string): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group && group.state !== 'Empty') throw new KafkaError(code.nonEmptyGroup, `${groupId} has members`);
    this.groups.delete(groupId);
    group?.close();
    await this.offsets.removeGroup(groupId).catch((error: unknown) => {
      // A group that never committed lived in memory alone.
      if (!(group && error instanceof KafkaError)) throw error;
    });
  }

  close(): void {
    for (const group of this.groups.values()) group.close();
  }

  private demand(groupId: string): Group {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (!group) throw new KafkaError(code.unknownMemberId, `${groupId} has no members`);
    return group;
  }
}

const checkId = (groupId: string): void => {
  if (groupId !== '' && groupId.length <= LONGEST_ID && !groupId.includes('\0')) return;
  throw new KafkaError(code.invalidGroupId, `a group id has 1 to ${LONGEST_ID} characters`);
};

const clock: GroupClock = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  newMemberId: (prefix) => `${prefix}-${randomUUID()}`,
};
