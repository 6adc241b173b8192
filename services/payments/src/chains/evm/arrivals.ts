import type { Asset } from '@cpg/assets';
import type { Transfer } from '../chain-source.ts';
import type { NodeAnswer, Nodes } from '../nodes/nodes.ts';
import { tokensAt } from './balances.ts';
import { TRANSFER_TOPIC } from './block.ts';
import type { Body } from './body.ts';

export interface Arrivals {
  readonly transfers: readonly Transfer[];
  /** The hash of a block proves what logs say, and nothing about balances. */
  readonly isProven: boolean;
}

/** Reduces the transfers of a block to the units that arrived: some tokens keep a part of each transfer as a fee and log
 *  the whole. Balances of the payee say so, if all nodes agree that have the state of the block. Without state, what the
 *  logs say counts. */
export const arrivalsReader = (nodes: Nodes, assets: readonly Asset[]): ((body: Body) => Promise<Arrivals>) => {
  const contractOf = new Map(assets.map(({ id, contract }) => [id, contract]));
  const withFees = new Set<string>();

  const arrivedAt = async (
    { block: { header }, receipts }: Body,
    contract: string,
    address: string,
  ): Promise<Arrived> => {
    const { paid, received } = loggedUnits(receipts, contract.toLowerCase(), address.toLowerCase());
    const answers = await nodes.each(async (node) => {
      const before = await tokensAt(node, header.parentHash, { contract, address });
      const after = before === null ? null : await tokensAt(node, header.hash, { contract, address });
      return after === null ? null : after - before! + paid;
    });
    return { received, arrived: mostOf(answers, received) };
  };

  return async (body) => {
    const found = new Map<string, Arrived>();
    for (const { address, asset } of body.transfers) {
      const contract = contractOf.get(asset);
      const key = `${asset} ${address}`;
      if (contract === undefined || found.has(key)) continue;
      const arrived = await arrivedAt(body, contract, address);
      if (arrived.arrived < arrived.received) withFees.add(asset);
      found.set(key, arrived);
    }
    const transfers = body.transfers.flatMap((transfer) => {
      const { received, arrived } = found.get(`${transfer.asset} ${transfer.address}`) ?? WHOLE;
      const units = (transfer.units * arrived) / received;
      return units > 0n ? [{ ...transfer, units }] : [];
    });
    return { transfers, isProven: body.isProven && !body.transfers.some(({ asset }) => withFees.has(asset)) };
  };
};

/** Units of a token that came to an address in a block: as the logs say, and as balances say. */
interface Arrived {
  readonly received: bigint;
  readonly arrived: bigint;
}
const WHOLE: Arrived = { received: 1n, arrived: 1n };

/** The most that a node says, so no single one takes units away; never more than the logs say. */
const mostOf = (answers: readonly NodeAnswer<bigint | null>[], received: bigint): bigint => {
  const known = answers.flatMap(({ answer }) => answer ?? []);
  if (known.length === 0) return received;
  const most = known.reduce((one, other) => (one > other ? one : other), 0n);
  return most < received ? most : received;
};

const loggedUnits = (receipts: Body['receipts'], contract: string, address: string) => {
  const topic = `0x${address.slice(2).padStart(64, '0')}`;
  const logs = receipts
    .filter(({ status }) => status === '0x1')
    .flatMap((receipt) => receipt.logs)
    .filter((log) => log.address === contract && log.topics[0] === TRANSFER_TOPIC && log.data.length === 66);
  const sum = (position: 1 | 2) =>
    logs.filter(({ topics }) => topics[position] === topic).reduce((total, { data }) => total + BigInt(data), 0n);
  return { paid: sum(1), received: sum(2) };
};
