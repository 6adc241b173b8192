import type { Transfer } from '../chain-source.ts';
import type { TransactionCalls } from './internal-calls.ts';

/** The calls inside the transactions of a block, as one node shows them. No hash proves them. */
export interface ShownCalls {
  readonly node: number;
  /** Those that pay watched addresses. */
  readonly transfers: readonly Transfer[];
  /** All of them: watched addresses may pay too. */
  readonly calls: TransactionCalls;
}

/** By how much balances grew in a block, as one node says. */
export interface Growth {
  readonly node: number;
  /** By address in lower case. */
  readonly units: ReadonlyMap<string, bigint>;
}

export interface CallsEvidence {
  readonly shown: readonly ShownCalls[];
  readonly growths: readonly Growth[];
  /** Coins that transactions themselves brought to an address in lower case. */
  readonly brought: (address: string) => bigint;
}

export type CallsVerdict =
  | {
      readonly kind: 'believed';
      readonly transfers: readonly Transfer[];
      /** The nodes that showed them. */
      readonly nodes: readonly number[];
      /** The nodes that showed others. */
      readonly faulty: readonly number[];
    }
  | { readonly kind: 'undecided' };

/** Which calls are believed: those on which two nodes agree, or those that fit how balances grew. Where nodes differ, a
 *  node does not prove its own answer: at least one balance is from a node that showed other calls. */
export const believedCalls = ({ shown, growths, brought }: CallsEvidence): CallsVerdict => {
  const sides = sidesOf(shown);
  const [only] = sides;
  const believe = (side: Side): CallsVerdict => {
    const faulty = sides.filter((other) => other !== side).flatMap(({ nodes }) => nodes);
    return { kind: 'believed', transfers: side.transfers, nodes: side.nodes, faulty };
  };
  if (sides.length === 1 && (growths.length === 0 || isSure(only!))) return believe(only!);
  const fitting = growths.map(({ units }) => sides.filter((side) => fits(side, units, brought)));
  const [side] = fitting[0] ?? [];
  if (!side || fitting.some((found) => found.length !== 1 || found[0] !== side)) return { kind: 'undecided' };
  const isShownByOthers = sides.length === 1 || growths.some(({ node }) => !side.nodes.includes(node));
  return isShownByOthers ? believe(side) : { kind: 'undecided' };
};

/** Whether balances may decide: two nodes do not show the same. */
export const needsBalances = (shown: readonly ShownCalls[]): boolean => {
  const sides = sidesOf(shown);
  return sides.length > 1 || sides.some((side) => !isSure(side));
};

interface Side {
  readonly nodes: readonly number[];
  readonly transfers: readonly Transfer[];
  readonly calls: TransactionCalls;
}

const isSure = ({ nodes, transfers }: Side): boolean => nodes.length > 1 || transfers.length === 0;

const sidesOf = (shown: readonly ShownCalls[]): Side[] => {
  const byText = new Map<string, Side>();
  for (const { node, transfers, calls } of shown) {
    const text = transfers.map(({ id, address, units }) => `${id} ${address} ${units}`).join();
    const side = byText.get(text);
    byText.set(text, { transfers, calls, ...side, nodes: [...(side?.nodes ?? []), node] });
  }
  return [...byText.values()];
};

const fits = ({ calls }: Side, growth: ReadonlyMap<string, bigint>, brought: CallsEvidence['brought']): boolean => {
  const moved = new Map<string, bigint>();
  const add = (address: string, units: bigint) => void moved.set(address, (moved.get(address) ?? 0n) + units);
  for (const call of [...calls.values()].flat()) {
    add(call.to, call.value);
    add(call.from, -call.value);
  }
  return [...growth].every(([address, units]) => units === brought(address) + (moved.get(address) ?? 0n));
};
