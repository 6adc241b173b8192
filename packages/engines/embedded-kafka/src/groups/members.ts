import { type ErrorCode, errorCode, KafkaError } from '../errors.ts';

/** The members of one group, by id, in the order of joining. */
export class Members extends Map<string, Member> {
  all = (): Member[] => [...this.values()];

  /** The static member with this instance id. */
  ofInstance(instanceId: string | null): Member | undefined {
    return instanceId === null ? undefined : this.all().find((member) => member.instanceId === instanceId);
  }

  /** Throws KafkaError if the id is unknown, or if another member has replaced it under its instance id. */
  require(memberId: string, instanceId: string | null): Member {
    this.checkNotFenced(memberId, instanceId);
    const member = this.get(memberId);
    if (!member) throw refusal(errorCode.unknownMemberId);
    return member;
  }

  /** Throws KafkaError if another member has the instance id. */
  checkNotFenced(memberId: string, instanceId: string | null): void {
    const current = this.ofInstance(instanceId);
    if (current && current.id !== memberId) throw refusal(errorCode.fencedInstanceId);
  }

  /** Throws KafkaError unless one protocol of the request is supported by all members. */
  checkProtocols({ protocols }: JoinRequest): void {
    if (this.size > 0 && !protocols.some(({ name }) => this.supportProtocol(name)))
      throw refusal(errorCode.inconsistentGroupProtocol);
  }

  /** Of the protocols that all members support, the one that most of them prefer. */
  preferredProtocol(): string {
    const votes = new Map<string, number>();
    for (const { protocols } of this.values()) {
      const choice = protocols.find(({ name }) => this.supportProtocol(name))!.name;
      votes.set(choice, (votes.get(choice) ?? 0) + 1);
    }
    return [...votes].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
  }

  longestRebalanceTimeoutMs = (): number =>
    Math.max(0, ...this.all().map(({ rebalanceTimeoutMs }) => rebalanceTimeoutMs));

  private supportProtocol = (name: string): boolean =>
    this.all().every(({ protocols }) => protocols.some((protocol) => protocol.name === name));
}

export const refusal = (code: ErrorCode) => new KafkaError(code, `the group refused the request with error ${code}`);

/** An assignment strategy that a member supports, with the data that the leader needs for it. */
export interface Protocol {
  readonly name: string;
  readonly metadata: Buffer;
}

export interface JoinRequest {
  /** Empty for a consumer without an id. */
  readonly memberId: string;
  /** The fixed name of a static member (KIP-345), or null. */
  readonly instanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocolType: string;
  /** In the order of preference. */
  readonly protocols: readonly Protocol[];
  /** Whether the client understands MEMBER_ID_REQUIRED (JoinGroup 4 and later). */
  readonly supportsMemberIdRequired: boolean;
}

export interface JoinResult {
  readonly generation: number;
  readonly protocol: string;
  readonly leader: string;
  readonly memberId: string;
  /** All members for the leader, which assigns the partitions. Empty for the others. */
  readonly members: readonly { memberId: string; instanceId: string | null; metadata: Buffer }[];
}

export interface Member {
  readonly id: string;
  readonly instanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  protocols: readonly Protocol[];
  sessionTimeoutMs: number;
  rebalanceTimeoutMs: number;
  assignment: Buffer;
  /** The unanswered JoinGroup request. */
  joining: Pending<JoinResult> | null;
  /** The unanswered SyncGroup request. */
  syncing: Pending<Buffer> | null;
  cancelSession: () => void;
}

/** The member that a heartbeat, sync or commit claims to come from. */
export interface MemberIdentity {
  readonly memberId: string;
  readonly instanceId: string | null;
  readonly generation: number;
}

interface Pending<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: KafkaError) => void;
}

export const EMPTY_ASSIGNMENT = Buffer.alloc(0);

/** The consumer must join again with `memberId`. Without this step, a lost response would leave an unknown member
 *  (KIP-394). */
export class MemberIdRequired extends KafkaError {
  readonly memberId: string;

  constructor(memberId: string) {
    super(errorCode.memberIdRequired, `join again as ${memberId}`);
    this.memberId = memberId;
  }
}

export const newMember = (id: string, request: JoinRequest): Member => ({
  id,
  instanceId: request.instanceId,
  clientId: request.clientId,
  clientHost: request.clientHost,
  protocols: request.protocols,
  sessionTimeoutMs: request.sessionTimeoutMs,
  rebalanceTimeoutMs: request.rebalanceTimeoutMs,
  assignment: EMPTY_ASSIGNMENT,
  joining: null,
  syncing: null,
  cancelSession: () => {},
});

export const hasSameProtocols = (a: readonly Protocol[], b: readonly Protocol[]): boolean =>
  a.length === b.length && a.every(({ name, metadata }, n) => name === b[n]!.name && metadata.equals(b[n]!.metadata));

/** Member ids that were sent with MEMBER_ID_REQUIRED, until their consumers join with them or the time is over. */
export class ReservedIds {
  private readonly after: (ms: number, run: () => void) => () => void;
  private readonly onExpired: () => void;
  /** By id: cancels the expiry. */
  private readonly cancelExpiry = new Map<string, () => void>();

  constructor(after: (ms: number, run: () => void) => () => void, onExpired: () => void) {
    this.after = after;
    this.onExpired = onExpired;
  }

  get size(): number {
    return this.cancelExpiry.size;
  }

  reserve(id: string, ms: number): void {
    const expire = () => {
      this.cancelExpiry.delete(id);
      this.onExpired();
    };
    this.cancelExpiry.set(id, this.after(ms, expire));
  }

  /** Ends the reservation. Returns whether the id was reserved. */
  release(id: string): boolean {
    this.cancelExpiry.get(id)?.();
    return this.cancelExpiry.delete(id);
  }

  clear(): void {
    for (const cancel of this.cancelExpiry.values()) cancel();
    this.cancelExpiry.clear();
  }
}
