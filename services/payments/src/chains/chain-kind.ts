/** How chains of one kind are read. */
export interface ChainKind {
  /** Depth of the deepest reorganization that is followed without an operator. */
  readonly windowBlocks: number;
  /** Blocks below the tip where the first start begins to read. Nodes still keep their state. */
  readonly startBlocks: number;
  /** How often the nodes are asked for new blocks. */
  readonly pollMs: number;
  /** How long after an instant the nodes know of all that was paid before it. */
  readonly settleMs: number;
  /** Whether the time of a block is later than that of every block before it. */
  readonly hasOrderedTimes: boolean;
}

const BITCOIN: ChainKind = {
  windowBlocks: 144,
  startBlocks: 144,
  pollMs: 10_000,
  settleMs: 120_000,
  hasOrderedTimes: false,
};
const EVM: ChainKind = {
  windowBlocks: 256,
  startBlocks: 64,
  pollMs: 2_000,
  settleMs: 15_000,
  hasOrderedTimes: true,
};
/** Chains of one machine: anvil, hardhat, geth --dev, bitcoind -regtest. Nothing is on its way there. */
const LOCAL = { pollMs: 500, settleMs: 1_000 };

const LOCAL_CHAINS = ['eip155:31337', 'eip155:1337', 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328'];

/** How a chain is read, by its CAIP-2 id. `pollMs` overrides the interval. */
export const chainKindOf = (chainId: string, pollMs?: number): ChainKind => ({
  ...(isEvm(chainId) ? EVM : BITCOIN),
  ...(LOCAL_CHAINS.includes(chainId) && LOCAL),
  ...(pollMs !== undefined && { pollMs }),
});

const isEvm = (chainId: string): boolean => chainId.startsWith('eip155:');

/** Chains with the same spelling of addresses share those that are watched: money for one may arrive on another. */
export const addressSpaceOf = (chainId: string): string => (isEvm(chainId) ? 'eip155' : chainId);
