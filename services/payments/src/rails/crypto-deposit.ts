import { createHash } from 'node:crypto';
import { type Asset, depositInstruction, requirePayable } from '@cpg/assets';
import type { AssignedInstruction, LeasedAddress, PaymentCurrency } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { type AddressLease, LEASE_MS, type StockSources } from '../stock.ts';
import { receivingPath } from './account-key.ts';
import { addressPool } from './address-pool.ts';
import type { DepositNetwork } from './networks.ts';
import type { Rail } from './rail.ts';

/** On-chain deposits: one address per order and network, derived from an account's public key. `pool` must commit
 *  durably, because an assigned address is never reused for another order. */
export const cryptoDeposit = ({
  networks,
  pool,
}: {
  networks: readonly DepositNetwork[];
  pool: Pool;
}): Rail & Pick<StockSources, 'leaseAddresses'> => {
  const byNetwork = new Map(networks.map((network) => [network.name, networkDeposits(network, pool)]));
  const deposits = networks.flatMap((network) => {
    const { instructionFor } = byNetwork.get(network.name)!;
    return network.assets.map((asset) => ({
      asset,
      instructionFor: (orderId: string) => instructionFor(orderId, asset),
    }));
  });
  const supporting = (currency: PaymentCurrency) => deposits.filter(({ asset }) => asset.currency === currency);
  return {
    supports: (currency) => supporting(currency).length > 0,
    requirePayable: ({ currency, amountMinor }) => {
      if (amountMinor !== undefined)
        requirePayable({ assets: deposits.map(({ asset }) => asset) }, currency, amountMinor);
    },
    assignInstructions: ({ orderId, currency, amountMinor }) => {
      const payable = supporting(currency).filter(
        ({ asset }) => amountMinor === undefined || amountMinor >= asset.smallestPayableMinor,
      );
      return Promise.all(payable.map(({ instructionFor }) => instructionFor(orderId)));
    },
    leaseAddresses: async (network, count) => (await byNetwork.get(network)?.lease(count)) ?? null,
  };
};

interface Assigned {
  readonly index: number;
  readonly address: string;
}

const networkDeposits = (network: DepositNetwork, pool: Pool) => {
  const account = createHash('sha256').update(network.account.xpub).digest('hex');
  const pooled = addressPool({ reserve: (count) => reserve(pool, account, count), addressAt: network.addressAt });

  const assign = async (orderId: string): Promise<Assigned> => {
    const next = await pooled.take();
    const inserted = await pool.query({
      name: 'assign-address',
      text: `insert into payments.deposit_addresses (order_id, network, account, index, address) values ($1, $2, $3, $4, $5)
             on conflict (order_id, network) do nothing`,
      values: [orderId, network.name, account, next.index, next.address],
    });
    if (inserted.rowCount === 1) return next;
    pooled.release(next);
    return existing(orderId);
  };

  const existing = async (orderId: string): Promise<Assigned> => {
    const { rows } = await pool.query<{ account: string; index: string; address: string }>(
      'select account, index, address from payments.deposit_addresses where order_id = $1 and network = $2',
      [orderId, network.name],
    );
    const { account: assignedAccount, index, address } = rows[0]!;
    if (assignedAccount !== account)
      throw new Error(`${orderId} has an address on ${network.name} from an account key that is no longer configured`);
    if (network.addressAt(Number(index)) !== address)
      throw new Error(`the address of ${orderId} on ${network.name} does not match its account key`);
    return { index: Number(index), address };
  };

  const instructionFor = async (orderId: string, asset: Asset): Promise<AssignedInstruction> =>
    depositInstruction(asset, leasedAddress(await assign(orderId)));

  const lease = async (count: number): Promise<AddressLease> => {
    const addresses: Assigned[] = [];
    while (addresses.length < count) addresses.push(await pooled.take());
    return { addresses: addresses.map(leasedAddress), leaseMs: LEASE_MS };
  };

  const leasedAddress = ({ index, address }: Assigned): LeasedAddress => ({
    address,
    derivation: { fingerprint: network.account.fingerprint, path: receivingPath(index) },
  });

  return { instructionFor, lease };
};

/** Reserves `count` indexes of an account durably. Resolves to the first. */
const reserve = async (pool: Pool, account: string, count: number): Promise<number> => {
  const { rows } = await pool.query<{ first: string }>(
    `insert into payments.deposit_accounts as existing (account, next_index) values ($1, $2)
     on conflict (account) do update set next_index = existing.next_index + $2
     returning next_index - $2 as first`,
    [account, count],
  );
  return Number(rows[0]!.first);
};
