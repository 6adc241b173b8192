import { errorCode } from '../errors.ts';
import {
  EMPTY_ASSIGNMENT,
  hasSameProtocols,
  type JoinRequest,
  type JoinResult,
  type Member,
  type MemberIdentity,
  MemberIdRequired,
  Members,
  newMember,
  refusal,
  ReservedIds,
} from './members.ts';

type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable';

/** Timers and ids. Tests replace them. */
export interface GroupEnvironment {
  /** Calls `run` after `ms`. Returns a function that cancels the call. */
  readonly after: (ms: number, run: () => void) => () => void;
  readonly newMemberId: (prefix: string) => string;
}

/** The members of one consumer group and their generation: the broker side of the classic group protocol. In a
 *  rebalance, all members join, then the leader assigns the partitions (sync), and the group is stable. The next
 *  rebalance starts when a member joins, leaves, or misses its session timeout. The state is in memory: members rejoin
 *  after a restart. */
export class Group {
  readonly id: string;
  state: GroupState = 'Empty';
  generation = 0;
  protocolType = '';
  protocol = '';
  leader = '';
  readonly members = new Members();
  private readonly environment: GroupEnvironment;
  private readonly reservedIds: ReservedIds;
  private cancelRebalanceTimer = () => {};

  constructor(id: string, environment: GroupEnvironment) {
    this.id = id;
    this.environment = environment;
    this.reservedIds = new ReservedIds(environment.after, () => this.completeIfAllJoined());
  }

  /** Resolves when the next generation begins. Throws or rejects with KafkaError. */
  join(request: JoinRequest): Promise<JoinResult> {
    this.checkProtocols(request);
    const { memberId, instanceId } = request;
    if (memberId === '') {
      const previous = this.members.ofInstance(instanceId);
      return previous ? this.replaceStaticMember(previous, request) : this.joinWithoutId(request);
    }
    this.members.checkNotFenced(memberId, instanceId);
    if (this.reservedIds.release(memberId)) return this.addMember(memberId, request);
    return this.rejoin(this.members.require(memberId, instanceId), request);
  }

  /** Resolves to the assignment of the member. Only the leader sends `assignments`. */
  sync(identity: MemberIdentity, assignments: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const member = this.requireMember(identity);
    this.restartSession(member);
    if (this.state === 'PreparingRebalance') throw refusal(errorCode.rebalanceInProgress);
    if (this.state === 'Stable') return Promise.resolve(member.assignment);
    const assignment = new Promise<Buffer>((resolve, reject) => {
      member.syncing = { resolve, reject };
    });
    if (member.id === this.leader) this.assign(assignments);
    return assignment;
  }

  heartbeat(identity: MemberIdentity): void {
    this.restartSession(this.requireMember(identity));
    if (this.state === 'PreparingRebalance') throw refusal(errorCode.rebalanceInProgress);
  }

  /** Throws KafkaError unless the consumer may commit offsets now. A consumer outside of the group (generation below 0)
   *  may commit while the group has no members. */
  checkMayCommit(identity: MemberIdentity): void {
    if (identity.generation < 0 && this.state === 'Empty') return;
    this.restartSession(this.requireMember(identity));
    if (this.state === 'CompletingRebalance') throw refusal(errorCode.rebalanceInProgress);
  }

  /** Removes the member with the instance id, or else with the member id. */
  leave(memberId: string, instanceId: string | null): void {
    if (this.reservedIds.release(memberId)) return this.completeIfAllJoined();
    if (memberId !== '') this.members.checkNotFenced(memberId, instanceId);
    const member = this.members.ofInstance(instanceId) ?? this.members.get(memberId);
    if (!member) throw refusal(errorCode.unknownMemberId);
    return this.removeMember(member);
  }

  /** Cancels all timers. Waiting requests get no response any more. */
  close(): void {
    this.cancelRebalanceTimer();
    this.reservedIds.clear();
    for (const member of this.members.values()) member.cancelSession();
  }

  private checkProtocols(request: JoinRequest): void {
    const { protocolType, protocols } = request;
    const otherType = this.members.size > 0 && protocolType !== this.protocolType;
    if (protocolType === '' || protocols.length === 0 || otherType) throw refusal(errorCode.inconsistentGroupProtocol);
    this.members.checkProtocols(request);
  }

  private requireMember({ memberId, instanceId, generation }: MemberIdentity): Member {
    const member = this.members.require(memberId, instanceId);
    if (generation !== this.generation) throw refusal(errorCode.illegalGeneration);
    return member;
  }

  private joinWithoutId(request: JoinRequest): Promise<JoinResult> {
    const id = this.environment.newMemberId(request.instanceId ?? request.clientId);
    if (request.instanceId !== null || !request.supportsMemberIdRequired) return this.addMember(id, request);
    this.reservedIds.reserve(id, request.sessionTimeoutMs);
    throw new MemberIdRequired(id);
  }

  private addMember(id: string, request: JoinRequest): Promise<JoinResult> {
    if (this.members.size === 0) this.protocolType = request.protocolType;
    const member = newMember(id, request);
    this.members.set(id, member);
    if (this.leader === '') this.leader = id;
    return this.joinNextGeneration(member);
  }

  private rejoin(member: Member, request: JoinRequest): Promise<JoinResult> {
    const unchanged = hasSameProtocols(member.protocols, request.protocols);
    this.restartSession(member);
    // The response to an earlier join was lost, so it is sent again.
    if (this.state === 'CompletingRebalance' && unchanged) return Promise.resolve(this.joinResult(member));
    if (this.state === 'Stable' && unchanged && member.id !== this.leader)
      return Promise.resolve(this.joinResult(member));
    member.protocols = request.protocols;
    member.sessionTimeoutMs = request.sessionTimeoutMs;
    member.rebalanceTimeoutMs = request.rebalanceTimeoutMs;
    return this.joinNextGeneration(member);
  }

  /** A static member restarted. It gets a new id and the old one is fenced. Without a change of protocols there is no
   *  rebalance. */
  private replaceStaticMember(old: Member, request: JoinRequest): Promise<JoinResult> {
    const member = newMember(this.environment.newMemberId(request.instanceId!), request);
    member.assignment = old.assignment;
    old.cancelSession();
    old.joining?.reject(refusal(errorCode.fencedInstanceId));
    old.syncing?.reject(refusal(errorCode.fencedInstanceId));
    this.members.delete(old.id);
    this.members.set(member.id, member);
    const oldLeader = this.leader;
    if (this.leader === old.id) this.leader = member.id;
    if (this.state === 'Stable' && hasSameProtocols(old.protocols, member.protocols)) {
      this.restartSession(member);
      // With the old leader in the response, the member fetches its assignment and does not assign anew.
      return Promise.resolve({ ...this.joinResult(member), leader: oldLeader, members: [] });
    }
    return this.joinNextGeneration(member);
  }

  private joinNextGeneration(member: Member): Promise<JoinResult> {
    member.joining?.reject(refusal(errorCode.unknownMemberId));
    member.cancelSession();
    const result = new Promise<JoinResult>((resolve, reject) => {
      member.joining = { resolve, reject };
    });
    this.prepareRebalance();
    return result;
  }

  private prepareRebalance(): void {
    if (this.state !== 'PreparingRebalance') {
      this.state = 'PreparingRebalance';
      for (const member of this.members.values()) {
        member.syncing?.reject(refusal(errorCode.rebalanceInProgress));
        if (member.syncing) this.restartSession(member);
        member.syncing = null;
      }
      this.restartRebalanceTimer(() => this.completeWithoutMissing());
    }
    this.completeIfAllJoined();
  }

  private restartRebalanceTimer(onTimeout: () => void): void {
    this.cancelRebalanceTimer();
    this.cancelRebalanceTimer = this.environment.after(this.members.longestRebalanceTimeoutMs(), onTimeout);
  }

  private completeIfAllJoined(): void {
    if (this.state !== 'PreparingRebalance' || this.reservedIds.size > 0) return;
    if (this.members.all().every(({ joining }) => joining)) this.startGeneration();
  }

  /** Drops the dynamic members that did not rejoin in time. Static members keep their place. */
  private completeWithoutMissing(): void {
    for (const member of this.members.all()) if (!member.joining && member.instanceId === null) this.dropMember(member);
    const anyJoined = this.members.all().some(({ joining }) => joining);
    // Only static members are left, and they may still come back.
    if (!anyJoined && this.members.size > 0) this.restartRebalanceTimer(() => this.completeWithoutMissing());
    else this.startGeneration();
  }

  private startGeneration(): void {
    this.cancelRebalanceTimer();
    this.generation += 1;
    if (this.members.size === 0) {
      this.state = 'Empty';
      this.leader = '';
      this.protocol = '';
      return;
    }
    const members = this.members.all();
    if (!this.members.get(this.leader)?.joining) this.leader = members.find(({ joining }) => joining)!.id;
    this.protocol = this.members.preferredProtocol();
    this.state = 'CompletingRebalance';
    for (const member of members) {
      member.assignment = EMPTY_ASSIGNMENT;
      this.restartSession(member);
      member.joining?.resolve(this.joinResult(member));
      member.joining = null;
    }
    this.restartRebalanceTimer(() => this.dropUnsynced());
  }

  /** Drops the members that joined but never asked for their assignment: they would block the group for ever. */
  private dropUnsynced(): void {
    for (const member of this.members.all()) if (!member.syncing) this.dropMember(member);
    this.prepareRebalance();
  }

  private assign(assignments: ReadonlyMap<string, Buffer>): void {
    this.cancelRebalanceTimer();
    this.state = 'Stable';
    for (const member of this.members.values()) {
      member.assignment = assignments.get(member.id) ?? EMPTY_ASSIGNMENT;
      this.restartSession(member);
      member.syncing?.resolve(member.assignment);
      member.syncing = null;
    }
  }

  private joinResult(member: Member): JoinResult {
    const { generation, protocol, leader } = this;
    const metadataOf = ({ protocols }: Member) => protocols.find(({ name }) => name === protocol)!.metadata;
    const forLeader = () =>
      this.members.all().map((m) => ({ memberId: m.id, instanceId: m.instanceId, metadata: metadataOf(m) }));
    return { generation, protocol, leader, memberId: member.id, members: member.id === leader ? forLeader() : [] };
  }

  private restartSession(member: Member): void {
    member.cancelSession();
    member.cancelSession = this.environment.after(member.sessionTimeoutMs, () => {
      // A member that waits for a response of the group cannot send heartbeats.
      if (!member.joining && !member.syncing) this.removeMember(member);
    });
  }

  private removeMember(member: Member): void {
    this.dropMember(member);
    if (this.state === 'PreparingRebalance') this.completeIfAllJoined();
    else this.prepareRebalance();
  }

  private dropMember(member: Member): void {
    member.cancelSession();
    member.joining?.reject(refusal(errorCode.unknownMemberId));
    member.syncing?.reject(refusal(errorCode.unknownMemberId));
    this.members.delete(member.id);
    if (this.leader === member.id) this.leader = this.members.keys().next().value ?? '';
  }
}
