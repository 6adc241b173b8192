import type { ChainNode } from './node-process.ts';

export interface BitcoinNodeOptions {
  /** Address that gets the coins of blocks that btcd mines by `generate`. */
  readonly miningAddress: string;
  /** `regtest` unless given. A `signet` without peers stays at its block 0. */
  readonly chain?: 'regtest' | 'signet';
  readonly onOutput?: (text: string) => void;
}

export interface BitcoinNode extends ChainNode {
  /** Where other nodes connect: `host:port`. */
  readonly peer: string;
}
