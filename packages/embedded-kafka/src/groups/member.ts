import { KafkaError, errorCode } from '../errors.ts';

export interface Protocol {
  readonly name: string;
  readonly metadata: Buffer;
}

export interface JoinRequest {
  /** Empty for a consumer that has no id yet. */
  readonly memberId: string;
  /** Of a static member (KIP-345). */
  readonly instanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocolType: string;
  readonly protocols: readonly Protocol[];
  /** The client knows MEMBER_ID_REQUIRED (JoinGroup 4 and later). */
  readonly supportsMemberIdRequired: boolean;
}

export interface JoinResult {
  readonly generation: number;
  readonly protocol: string;
  readonly leader: string;
  readonly memberId: string;
  /** All members for the leader, which assigns; none for the others. */
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
  joining: Pending<JoinResult> | null;
  syncing: Pending<Buffer> | null;
  cancelSession: () => void;
}

/** Who speaks: the claims of a heartbeat, sync or commit. */
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

/** A new consumer has to join again with this id, so that a lost answer does not leave a member behind (KIP-394). */
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
