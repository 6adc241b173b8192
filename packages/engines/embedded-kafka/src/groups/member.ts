import { KafkaError, errorCode } from '../errors.ts';

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
