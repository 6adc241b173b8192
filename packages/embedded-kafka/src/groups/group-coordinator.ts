import { randomUUID } from 'node:crypto';
import { KafkaError, errorCode } from '../errors.ts';
import type { CommittedOffset, OffsetStore } from '../storage/offset-store.ts';
import { Group, type GroupEnvironment } from './group.ts';
import type { MemberIdentity, JoinRequest, JoinResult } from './member.ts';

/** Longer ids do not fit an index of PostgreSQL. */
const LONGEST_ID = 1_000;

export interface SessionLimits {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/** All consumer groups: their members in memory, their offsets in the database. */
export class GroupCoordinator {
  private readonly groups = new Map<string, Group>();
  private readonly offsets: OffsetStore;
  private readonly limits: SessionLimits;

  constructor(offsets: OffsetStore, limits: SessionLimits) {
    this.offsets = offsets;
    this.limits = limits;
  }

  async join(groupId: string, request: JoinRequest): Promise<JoinResult> {
    checkId(groupId);
    if (request.protocolType.includes('\0'))
      throw new KafkaError(errorCode.inconsistentGroupProtocol, 'no protocol type');
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.limits;
    if (request.sessionTimeoutMs < minSessionTimeoutMs || request.sessionTimeoutMs > maxSessionTimeoutMs) {
      throw new KafkaError(
        errorCode.invalidSessionTimeout,
        `${minSessionTimeoutMs} to ${maxSessionTimeoutMs} ms are allowed`,
      );
    }
    const group = this.groups.get(groupId) ?? new Group(groupId, clock);
    if (request.memberId !== '' && !this.groups.has(groupId))
      throw new KafkaError(errorCode.unknownMemberId, 'no such member');
    this.groups.set(groupId, group);
    return group.join(request);
  }

  async sync(groupId: string, identity: MemberIdentity, assignments: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    return this.requireGroup(groupId).sync(identity, assignments);
  }

  heartbeat = (groupId: string, identity: MemberIdentity): void => this.requireGroup(groupId).heartbeat(identity);

  leave = (groupId: string, memberId: string, instanceId: string | null): void =>
    this.requireGroup(groupId).leave(memberId, instanceId);

  /** Refuses a consumer that is no member of the group's generation; otherwise resolves once the offsets are stored. */
  async commitOffsets(groupId: string, identity: MemberIdentity, offsets: readonly CommittedOffset[]): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group) group.checkMayCommit(identity);
    else if (identity.generation >= 0) throw new KafkaError(errorCode.illegalGeneration, 'the group starts anew');
    const protocolType = group?.protocolType ?? '';
    await this.offsets.commit(offsets.map((offset) => ({ ...offset, groupId, protocolType })));
  }

  async committedOffsets(groupId: string): Promise<CommittedOffset[]> {
    checkId(groupId);
    return this.offsets.committedOffsets(groupId);
  }

  findGroup = (groupId: string): Group | undefined => this.groups.get(groupId);

  /** Groups with members and groups with offsets. */
  async listGroups(): Promise<{ id: string; protocolType: string }[]> {
    const all = new Map((await this.offsets.listGroups()).map(({ id, protocolType }) => [id, protocolType]));
    for (const { id, protocolType } of this.groups.values()) all.set(id, protocolType);
    return [...all].map(([id, protocolType]) => ({ id, protocolType }));
  }

  async deleteGroup(groupId: string): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group && group.state !== 'Empty') throw new KafkaError(errorCode.nonEmptyGroup, `${groupId} has members`);
    this.groups.delete(groupId);
    group?.close();
    await this.offsets.deleteGroup(groupId).catch((error: unknown) => {
      // A group that never committed lived in memory alone.
      if (!(group && error instanceof KafkaError)) throw error;
    });
  }

  close(): void {
    for (const group of this.groups.values()) group.close();
  }

  private requireGroup(groupId: string): Group {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (!group) throw new KafkaError(errorCode.unknownMemberId, `${groupId} has no members`);
    return group;
  }
}

const checkId = (groupId: string): void => {
  if (groupId !== '' && groupId.length <= LONGEST_ID && !groupId.includes('\0')) return;
  throw new KafkaError(errorCode.invalidGroupId, `a group id has 1 to ${LONGEST_ID} characters`);
};

const clock: GroupEnvironment = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  newMemberId: (prefix) => `${prefix}-${randomUUID()}`,
};
