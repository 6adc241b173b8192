import type { AssetTable } from '@cpg/assets';
import { depositNetworkOf } from '@cpg/payments/networks.js';
import { watchedAddresses } from '@cpg/payments/watched-addresses.js';
import { mib, type Row } from '../report.ts';
import { type BenchedChain, openBenched } from './benched-chain.ts';

const MAX_BYTES = 150 * 2 ** 20;
const ROUNDS = 5;

/** The first addresses of the account of a table with one network, as payments watches them. */
export const watchedIn = (table: AssetTable, count: number) => {
  const { account, addressAt } = depositNetworkOf(table, table.networks[0]!, undefined);
  const { refresh } = watchedAddresses({
    accounts: async () => [{ fingerprint: account.fingerprint, addressAt }],
    nextIndex: async () => count,
    earlierAddresses: async () => [],
  });
  return refresh();
};

/** Memory of this process: the growth by many watched addresses, and then by reading blocks. */
export const measureMemory = async (chain: BenchedChain, count: number): Promise<Row[]> => {
  const { source, refs } = await openBenched(chain);
  const read = async (watched: Parameters<typeof source.block>[1]) => {
    for (let round = 0; round < ROUNDS; round += 1) for (const ref of refs) await source.block(ref, watched);
  };
  try {
    await read(await watchedIn(chain.table, 10));
    const before = process.memoryUsage.rss();
    const watched = await watchedIn(chain.table, count);
    await read(watched);
    const after = process.memoryUsage.rss();
    await read(watched);
    const later = process.memoryUsage.rss();
    return [
      {
        measure: `memory that ${count} watched addresses add`,
        measured: mib(after - before),
        goal: { text: '< 150 MiB', met: after - before < MAX_BYTES },
      },
      { measure: `memory that ${ROUNDS * refs.length} more blocks add`, measured: mib(later - after) },
    ];
  } finally {
    await source.close();
  }
};
