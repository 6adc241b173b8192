import type { AssetTable } from '@cpg/assets';
import { openChainSource } from '@cpg/payments/open-chain-source.js';
import type { Call } from './fetch-only.ts';

export interface BenchedChain {
  readonly name: string;
  readonly url: string;
  readonly table: AssetTable;
  /** Height of the first block to read. */
  readonly first: number;
  readonly blocks: number;
  /** The calls that fetch everything about one block. */
  readonly calls: (ref: { hash: string; height: number }) => readonly Call[];
}

/** The source of a chain, and the blocks to read. */
export const openBenched = async ({ url, table, first, blocks }: BenchedChain) => {
  const source = openChainSource(table.networks[0]!, table.assets, { urls: [url] });
  await source.verify();
  const refs = await Promise.all(Array.from({ length: blocks }, (_, index) => source.at(first + index)));
  return { source, refs: refs.map((ref) => ref!) };
};
