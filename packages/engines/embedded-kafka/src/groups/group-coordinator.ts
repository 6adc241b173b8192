import { randomUUID } from 'node:crypto';
import { KafkaError, errorCode } from '../errors.ts';
import type { CommittedOffset, OffsetStore } from '../storage/offset-store.ts';
import { Group, type GroupEnvironment } from './group.ts';
import type { JoinRequest, JoinResult, MemberIdentity } from './members.ts';

/** Longer ids do not fit into a PostgreSQL index. */
const MAX_ID_LENGTH = 1_000;

export interface SessionLimits {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/** Coordinates all consumer groups. Their members are in memory, their offsets in the database. */
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
    // PostgreSQL cannot store a NUL character.
    if (request.protocolType.includes('\0'))
      throw new KafkaError(errorCode.inconsistentGroupProtocol, 'the protocol type is invalid');
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.limits;
    if (request.sessionTimeoutMs < minSessionTimeoutMs || request.sessionTimeoutMs > maxSessionTimeoutMs) {
      throw new KafkaError(
        errorCode.invalidSessionTimeout,
        `a session timeout is ${minSessionTimeoutMs} to ${maxSessionTimeoutMs} ms`,
      );
    }
    const group = this.groups.get(groupId) ?? new Group(groupId, environment);
    if (request.memberId !== '' && !this.groups.has(groupId))
      throw new KafkaError(errorCode.unknownMemberId, 'the member does not exist');
    this.groups.set(groupId, group);
    return group.join(request);
  }

  async sync(groupId: string, identity: MemberIdentity, assignments: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    return this.requireGroup(groupId).sync(identity, assignments);
  }

  heartbeat = (groupId: string, identity: MemberIdentity): void => this.requireGroup(groupId).heartbeat(identity);

  leave = (groupId: string, memberId: string, instanceId: string | null): void =>
    this.requireGroup(groupId).leave(memberId, instanceId);

  /** Resolves once the offsets are stored. Throws KafkaError unless the consumer is a member of the current
   *  generation. */
  async commitOffsets(groupId: string, identity: MemberIdentity, offsets: readonly CommittedOffset[]): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group) group.checkMayCommit(identity);
    // A consumer that manages its partitions itself commits with a generation below 0 and joins no group.
    else if (identity.generation >= 0) throw new KafkaError(errorCode.illegalGeneration, 'the group has no members');
    const protocolType = group?.protocolType ?? '';
    await this.offsets.commit(offsets.map((offset) => ({ ...offset, groupId, protocolType })));
  }

  async committedOffsets(groupId: string): Promise<CommittedOffset[]> {
    checkId(groupId);
    return this.offsets.committedOffsets(groupId);
  }

  findGroup = (groupId: string): Group | undefined => this.groups.get(groupId);

  /** The groups with members and the groups with committed offsets. */
  async listGroups(): Promise<{ id: string; protocolType: string }[]> {
    const all = new Map((await this.offsets.listGroups()).map(({ id, protocolType }) => [id, protocolType]));
    for (const { id, protocolType } of this.groups.values()) all.set(id, protocolType);
    return [...all].map(([id, protocolType]) => ({ id, protocolType }));
  }

  /** Deletes the group and its offsets. Throws KafkaError if it has members or does not exist. */
  async deleteGroup(groupId: string): Promise<void> {
    checkId(groupId);
    const group = this.groups.get(groupId);
    if (group && group.state !== 'Empty') throw new KafkaError(errorCode.nonEmptyGroup, `${groupId} has members`);
    this.groups.delete(groupId);
    group?.close();
    await this.offsets.deleteGroup(groupId).catch((error: unknown) => {
      // A group that never committed has no row.
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

/** Throws KafkaError for an id that PostgreSQL cannot store. */
const checkId = (groupId: string): void => {
  if (groupId !== '' && groupId.length <= MAX_ID_LENGTH && !groupId.includes('\0')) return;
  throw new KafkaError(errorCode.invalidGroupId, `a group id has 1 to ${MAX_ID_LENGTH} characters`);
};

const environment: GroupEnvironment = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  newMemberId: (prefix) => `${prefix}-${randomUUID()}`,
};
