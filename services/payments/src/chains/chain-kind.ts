/** How chains of one kind are read. */
export interface ChainKind {
  /** Depth of the deepest reorganization that is followed without an operator. */
  readonly windowBlocks: number;
  /** The most confirmations that a payment can need: fewer than `windowBlocks`. */
  readonly mostConfirmations: number;
  /** Blocks that have to follow before an applied payment whose transfer a reorganization removed fails: the time in
   *  which nodes mine it again. */
  readonly graceBlocks: number;
  /** Blocks below the tip where the first start begins to read. Nodes still keep their state. */
  readonly startBlocks: number;
  /** Blocks that are fetched at once while one is read. Providers limit the calls at once. */
  readonly blocksAhead: number;
  /** How often the nodes are asked for new blocks. */
  readonly pollMs: number;
  /** How long after an instant the nodes know of all that was paid before it. */
  readonly settleMs: number;
  /** Whether no block has an earlier time than a block before it. Blocks of one second can share their time. */
  readonly hasOrderedTimes: boolean;
}

const BITCOIN: ChainKind = {
  windowBlocks: 144,
  mostConfirmations: 100,
  graceBlocks: 6,
  startBlocks: 144,
  blocksAhead: 4, // a block takes some MB
  pollMs: 10_000,
  settleMs: 120_000,
  hasOrderedTimes: false,
};
const EVM: ChainKind = {
  windowBlocks: 256,
  mostConfirmations: 200,
  graceBlocks: 6,
  startBlocks: 64,
  blocksAhead: 4,
  pollMs: 2_000,
  settleMs: 15_000,
  hasOrderedTimes: true,
};
/** Blocks every 2 s. Ethereum has made them final after about 600 blocks. */
const OP_STACK = { windowBlocks: 900, mostConfirmations: 800, graceBlocks: 30 };
/** Blocks every 2 s. In the past, up to 157 of them left the chain at once. */
const POLYGON = { windowBlocks: 1_024, mostConfirmations: 900, graceBlocks: 30 };
/** Blocks every 0.25 s. Ethereum has made them final after about 4,800 blocks. */
const ARBITRUM = { windowBlocks: 6_000, mostConfirmations: 5_400, graceBlocks: 240, blocksAhead: 16 };
/** Blocks every 0.45 s. Without votes of validators, they are safe after 240 blocks. */
const BNB = { windowBlocks: 1_024, mostConfirmations: 900, graceBlocks: 150, blocksAhead: 8 };

const OF_CHAIN: Readonly<Record<string, Partial<ChainKind>>> = {
  ...kindOfAll(OP_STACK, ['10', '11155420', '8453', '84532']), // Optimism, Base, and their testnets
  ...kindOfAll(POLYGON, ['137', '80002']),
  ...kindOfAll(ARBITRUM, ['42161', '421614']),
  ...kindOfAll(BNB, ['56', '97']),
};

/** Chains of one machine: anvil, hardhat, geth --dev, bitcoind -regtest. Nothing is on its way there. */
const LOCAL = { pollMs: 500, settleMs: 1_000 };

const LOCAL_CHAINS = ['eip155:31337', 'eip155:1337', 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328'];

/** How a chain is read, by its CAIP-2 id. `pollMs` overrides the interval. */
export const chainKindOf = (chainId: string, pollMs?: number): ChainKind => ({
  ...(isEvm(chainId) ? EVM : BITCOIN),
  ...OF_CHAIN[chainId],
  ...(LOCAL_CHAINS.includes(chainId) && LOCAL),
  ...(pollMs !== undefined && { pollMs }),
});

/** The most confirmations that a merchant can require of an asset. */
export const mostConfirmations = (chainId: string): number => chainKindOf(chainId).mostConfirmations;

const isEvm = (chainId: string): boolean => chainId.startsWith('eip155:');

function kindOfAll(kind: Partial<ChainKind>, chains: readonly string[]): Record<string, Partial<ChainKind>> {
  return Object.fromEntries(chains.map((id) => [`eip155:${id}`, kind]));
}
