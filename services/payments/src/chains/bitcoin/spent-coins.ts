import { ChainNodeError, type ChainSource } from '../chain-source.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { ToAddress } from './addresses.ts';
import { eachOutput } from './block.ts';
import { fetchSpentScripts, fetchTransaction } from './transactions.ts';

/** Finds where the coins of a transaction come from. The block proves which outputs it spends, and an earlier
 *  transaction is proven by its id, so a node with an index of transactions cannot lie about their addresses. Where no
 *  node has that, the word of a node that keeps undo data counts. */
export const spendsFrom =
  (nodes: Nodes, toAddress: ToAddress): NonNullable<ChainSource['spendsFrom']> =>
  async ({ txHash, spends, block }, addresses) => {
    const isAmong = (script: Buffer | null): boolean => {
      const address = script && toAddress(script);
      return address !== null && addresses.includes(address);
    };
    for (const output of spends) {
      const earlier = await provenScript(nodes, output);
      if (earlier === 'unknown') return (await toldScripts(nodes, { txHash, block })).some(isAmong);
      if (isAmong(earlier)) return true;
    }
    return false;
  };

/** The script of an output `<txid>:<vout>`, or `unknown` where no node has its transaction. */
const provenScript = async (nodes: Nodes, output: string): Promise<Buffer | 'unknown'> => {
  const [txid, vout] = output.split(':') as [string, string];
  const found = await nodes.first((node) => fetchTransaction(node, txid));
  if (!found) return 'unknown';
  const { bytes, transaction } = found.answer;
  let script: Buffer | null = null;
  eachOutput(bytes, transaction, (at, _units, start, length) => {
    if (at === Number(vout)) script = bytes.subarray(start, start + length);
  });
  // A block that spends an output proves that it exists.
  if (!script) throw new Error(`transaction ${txid} has no output ${vout}`);
  return script;
};

const toldScripts = async (
  nodes: Nodes,
  { txHash, block }: { readonly txHash: string; readonly block: { readonly hash: string } },
): Promise<readonly Buffer[]> => {
  const found = await nodes.first((node) => fetchSpentScripts(node, txHash, block.hash));
  if (found) return found.answer;
  throw new ChainNodeError(
    'refused',
    `no node says whose coins transaction ${txHash} spends: run Bitcoin Core 26.0 or newer, or any node with txindex`,
  );
};
