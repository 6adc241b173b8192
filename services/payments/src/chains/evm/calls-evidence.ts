import type { Transfer } from '../chain-source.ts';
import type { TransactionCalls } from './internal-calls.ts';

/** The calls inside the transactions of a block, as one node shows them. No hash proves them. */
export interface ShownCalls {
  readonly node: number;
  /** Those that pay watched addresses. */
  readonly transfers: readonly Transfer[];
  /** All calls that move coins. A watched address may also pay: then its balance grows by less. */
  readonly calls: TransactionCalls;
}

/** How much the balances of the paid addresses changed in a block, as one node says. */
export interface Growth {
  readonly node: number;
  /** In wei, by address in lower case. Without addresses whose balance changes for other reasons. */
  readonly units: ReadonlyMap<string, bigint>;
}

export interface CallsEvidence {
  readonly shown: readonly ShownCalls[];
  readonly growths: readonly Growth[];
  /** The sum, in wei, that transactions sent directly to an address in lower case. */
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

/** Decides which calls to believe. If all nodes show the same, they are believed if two nodes show them, if they pay no
 *  watched address, or if no balances are known. Otherwise each known growth has to fit one answer, and always the
 *  same. If nodes differ, a node does not prove its own answer: one growth has to come from a node that gave
 *  another. */
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

/** Whether `believedCalls` needs balances: nodes show different transfers, or only one node shows some. */
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
    // Answers that pay watched addresses the same are one side. The calls of the first stand for all.
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
