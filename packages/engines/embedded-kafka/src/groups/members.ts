import { type ErrorCode, KafkaError, errorCode } from '../errors.ts';
import type { JoinRequest, Member } from './member.ts';

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
