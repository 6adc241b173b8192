import { type ErrorCode, KafkaError, errorCode } from '../errors.ts';
import {
  EMPTY_ASSIGNMENT,
  type MemberIdentity,
  type JoinRequest,
  type JoinResult,
  type Member,
  MemberIdRequired,
  newMember,
  hasSameProtocols,
} from './member.ts';

export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable';

/** What a group needs of the world around it. */
export interface GroupEnvironment {
  readonly after: (ms: number, run: () => void) => () => void;
  readonly newMemberId: (prefix: string) => string;
}

/** The members of one consumer group and the generation that they share: the broker's half of the classic group protocol.
 *  A rebalance gathers all members (join), the leader hands out the work (sync), and the group is stable until someone comes,
 *  goes, or stays silent for its session time-out. It lives in memory: after a restart of the broker its members join anew. */
export class Group {
  readonly id: string;
  state: GroupState = 'Empty';
  generation = 0;
  protocolType = '';
  protocol = '';
  leader = '';
  readonly members = new Map<string, Member>();
  private readonly clock: GroupEnvironment;
  /** Ids given out with MEMBER_ID_REQUIRED that have not come back: how to stop waiting for each. */
  private readonly promised = new Map<string, () => void>();
  private cancelRebalance = () => {};

  constructor(id: string, clock: GroupEnvironment) {
    this.id = id;
    this.clock = clock;
  }

  /** Resolves when the group has a new generation. Rejects with KafkaError. */
  join(request: JoinRequest): Promise<JoinResult> {
    this.checkProtocols(request);
    const known = request.instanceId === null ? undefined : this.memberOfInstance(request.instanceId);
    if (request.memberId === '') {
      if (known) return this.replaceInstance(known, request);
      return this.welcome(request);
    }
    if (known && known.id !== request.memberId) throw refusal(errorCode.fencedInstanceId);
    const cancel = this.promised.get(request.memberId);
    if (cancel) {
      cancel();
      this.promised.delete(request.memberId);
      return this.add(request.memberId, request);
    }
    const member = this.members.get(request.memberId);
    if (!member) throw refusal(errorCode.unknownMemberId);
    return this.rejoin(member, request);
  }

  /** Resolves to the member's assignment. `assignments` come from the leader alone. */
  sync(identity: MemberIdentity, assignments: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const member = this.demand(identity);
    this.touch(member);
    if (this.state === 'PreparingRebalance') throw refusal(errorCode.rebalanceInProgress);
    if (this.state === 'Stable') return Promise.resolve(member.assignment);
    const answer = new Promise<Buffer>((resolve, reject) => {
      member.syncing = { resolve, reject };
    });
    if (member.id === this.leader) this.distribute(assignments);
    return answer;
  }

  heartbeat(identity: MemberIdentity): void {
    const member = this.demand(identity);
    this.touch(member);
    if (this.state === 'PreparingRebalance') throw refusal(errorCode.rebalanceInProgress);
  }

  /** Throws KafkaError unless the speaker may commit offsets now. A consumer without a group (generation below 0) may
   *  while nobody else consumes. */
  checkMayCommit(identity: MemberIdentity): void {
    if (identity.generation < 0 && this.state === 'Empty') return;
    const member = this.demand(identity);
    this.touch(member);
    if (this.state === 'CompletingRebalance') throw refusal(errorCode.rebalanceInProgress);
  }

  leave(memberId: string, instanceId: string | null): void {
    const promised = this.promised.get(memberId);
    if (promised) {
      promised();
      this.promised.delete(memberId);
      this.completeIfAllJoined();
      return;
    }
    const known = instanceId === null ? undefined : this.memberOfInstance(instanceId);
    if (known && memberId !== '' && known.id !== memberId) throw refusal(errorCode.fencedInstanceId);
    const member = known ?? this.members.get(memberId);
    if (!member) throw refusal(errorCode.unknownMemberId);
    this.remove(member);
  }

  /** Forgets all timers; nobody is answered any more. */
  close(): void {
    this.cancelRebalance();
    for (const cancel of this.promised.values()) cancel();
    for (const member of this.members.values()) member.cancelSession();
  }

  private checkProtocols({ protocolType, protocols }: JoinRequest): void {
    if (protocolType === '' || protocols.length === 0) throw refusal(errorCode.inconsistentGroupProtocol);
    if (this.members.size === 0) return;
    const fits = protocolType === this.protocolType && protocols.some(({ name }) => this.supportedByAll(name));
    if (!fits) throw refusal(errorCode.inconsistentGroupProtocol);
  }

  private supportedByAll(name: string): boolean {
    return [...this.members.values()].every(({ protocols }) => protocols.some((protocol) => protocol.name === name));
  }

  private memberOfInstance(instanceId: string): Member | undefined {
    return [...this.members.values()].find((member) => member.instanceId === instanceId);
  }

  private demand({ memberId, instanceId, generation }: MemberIdentity): Member {
    const known = instanceId === null ? undefined : this.memberOfInstance(instanceId);
    if (known && known.id !== memberId) throw refusal(errorCode.fencedInstanceId);
    const member = this.members.get(memberId);
    if (!member) throw refusal(errorCode.unknownMemberId);
    if (generation !== this.generation) throw refusal(errorCode.illegalGeneration);
    return member;
  }

  private welcome(request: JoinRequest): Promise<JoinResult> {
    const id = this.clock.newMemberId(request.instanceId ?? request.clientId);
    if (request.instanceId !== null || !request.supportsMemberIdRequired) return this.add(id, request);
    const forget = () => {
      this.promised.delete(id);
      this.completeIfAllJoined();
    };
    this.promised.set(id, this.clock.after(request.sessionTimeoutMs, forget));
    throw new MemberIdRequired(id);
  }

  private add(id: string, request: JoinRequest): Promise<JoinResult> {
    if (this.members.size === 0) this.protocolType = request.protocolType;
    const member = newMember(id, request);
    this.members.set(id, member);
    if (this.leader === '') this.leader = id;
    return this.await(member);
  }

  private rejoin(member: Member, request: JoinRequest): Promise<JoinResult> {
    const unchanged = hasSameProtocols(member.protocols, request.protocols);
    this.touch(member);
    // The answer to an earlier join was lost: it is given again.
    if (this.state === 'CompletingRebalance' && unchanged) return Promise.resolve(this.joined(member));
    if (this.state === 'Stable' && unchanged && member.id !== this.leader) return Promise.resolve(this.joined(member));
    member.protocols = request.protocols;
    member.sessionTimeoutMs = request.sessionTimeoutMs;
    member.rebalanceTimeoutMs = request.rebalanceTimeoutMs;
    return this.await(member);
  }

  /** A static member is back under a new id. The old id is fenced; unless what it can do has changed, nobody else notices. */
  private replaceInstance(old: Member, request: JoinRequest): Promise<JoinResult> {
    const member = newMember(this.clock.newMemberId(request.instanceId!), request);
    member.assignment = old.assignment;
    old.cancelSession();
    old.joining?.reject(refusal(errorCode.fencedInstanceId));
    old.syncing?.reject(refusal(errorCode.fencedInstanceId));
    this.members.delete(old.id);
    this.members.set(member.id, member);
    const oldLeader = this.leader;
    if (this.leader === old.id) this.leader = member.id;
    if (this.state === 'Stable' && hasSameProtocols(old.protocols, member.protocols)) {
      this.touch(member);
      // Told that another member leads, it takes up its assignment instead of making a new one.
      return Promise.resolve({ ...this.joined(member), leader: oldLeader, members: [] });
    }
    return this.await(member);
  }

  private await(member: Member): Promise<JoinResult> {
    member.joining?.reject(refusal(errorCode.unknownMemberId));
    member.cancelSession();
    const answer = new Promise<JoinResult>((resolve, reject) => {
      member.joining = { resolve, reject };
    });
    this.prepareRebalance();
    return answer;
  }

  private prepareRebalance(): void {
    if (this.state !== 'PreparingRebalance') {
      this.state = 'PreparingRebalance';
      for (const member of this.members.values()) {
        member.syncing?.reject(refusal(errorCode.rebalanceInProgress));
        if (member.syncing) this.touch(member);
        member.syncing = null;
      }
      this.restartRebalanceTimer();
    }
    this.completeIfAllJoined();
  }

  private restartRebalanceTimer(): void {
    this.cancelRebalance();
    const longest = Math.max(0, ...[...this.members.values()].map((member) => member.rebalanceTimeoutMs));
    this.cancelRebalance = this.clock.after(longest, () => this.completeWithoutTheMissing());
  }

  private completeIfAllJoined(): void {
    if (this.state !== 'PreparingRebalance' || this.promised.size > 0) return;
    if ([...this.members.values()].every(({ joining }) => joining)) this.complete();
  }

  private completeWithoutTheMissing(): void {
    for (const member of [...this.members.values()]) {
      if (!member.joining && member.instanceId === null) this.forget(member);
    }
    const joined = [...this.members.values()].filter(({ joining }) => joining);
    // Static members may come back: with nobody else there, the group waits for them.
    if (joined.length === 0 && this.members.size > 0) this.restartRebalanceTimer();
    else this.complete();
  }

  private complete(): void {
    this.cancelRebalance();
    this.generation += 1;
    if (this.members.size === 0) {
      this.state = 'Empty';
      this.leader = '';
      this.protocol = '';
      return;
    }
    const members = [...this.members.values()];
    if (!this.members.get(this.leader)?.joining) this.leader = members.find(({ joining }) => joining)!.id;
    this.protocol = this.vote();
    this.state = 'CompletingRebalance';
    for (const member of members) {
      member.assignment = EMPTY_ASSIGNMENT;
      this.touch(member);
      member.joining?.resolve(this.joined(member));
      member.joining = null;
    }
    const longest = Math.max(...members.map((member) => member.rebalanceTimeoutMs));
    this.cancelRebalance = this.clock.after(longest, () => this.dropUnsynced());
  }

  /** A member that joined but never asks for its assignment must not hold up the others for ever. */
  private dropUnsynced(): void {
    for (const member of [...this.members.values()]) if (!member.syncing) this.forget(member);
    this.prepareRebalance();
  }

  private distribute(assignments: ReadonlyMap<string, Buffer>): void {
    this.cancelRebalance();
    this.state = 'Stable';
    for (const member of this.members.values()) {
      member.assignment = assignments.get(member.id) ?? EMPTY_ASSIGNMENT;
      this.touch(member);
      member.syncing?.resolve(member.assignment);
      member.syncing = null;
    }
  }

  /** The protocol that most members prefer, of those that all of them know. */
  private vote(): string {
    const votes = new Map<string, number>();
    for (const { protocols } of this.members.values()) {
      const choice = protocols.find(({ name }) => this.supportedByAll(name))!.name;
      votes.set(choice, (votes.get(choice) ?? 0) + 1);
    }
    return [...votes].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
  }

  private joined(member: Member): JoinResult {
    const metadata = ({ protocols }: Member) => protocols.find(({ name }) => name === this.protocol)!.metadata;
    const all = [...this.members.values()].map((m) => ({
      memberId: m.id,
      instanceId: m.instanceId,
      metadata: metadata(m),
    }));
    return {
      generation: this.generation,
      protocol: this.protocol,
      leader: this.leader,
      memberId: member.id,
      members: member.id === this.leader ? all : [],
    };
  }

  /** A sign of life: the session runs anew. */
  private touch(member: Member): void {
    member.cancelSession();
    member.cancelSession = this.clock.after(member.sessionTimeoutMs, () => {
      // Who waits for an answer from the group cannot speak up meanwhile.
      if (!member.joining && !member.syncing) this.remove(member);
    });
  }

  private remove(member: Member): void {
    this.forget(member);
    if (this.state === 'PreparingRebalance') this.completeIfAllJoined();
    else this.prepareRebalance();
  }

  private forget(member: Member): void {
    member.cancelSession();
    member.joining?.reject(refusal(errorCode.unknownMemberId));
    member.syncing?.reject(refusal(errorCode.unknownMemberId));
    this.members.delete(member.id);
    if (this.leader === member.id) this.leader = this.members.keys().next().value ?? '';
  }
}

const refusal = (errorCode: ErrorCode) => new KafkaError(errorCode, `group refused with ${errorCode}`);
