import { createHash } from 'node:crypto';
import { type AssignedInstruction, decimalsOf, type PaymentCurrency } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { receivingPath } from './account-key.ts';
import { addressPool } from './address-pool.ts';
import type { Network } from './networks.ts';
import type { OrderToPay, Rail } from './rail.ts';

/** Deposits on chains: an address of its own for each order and network, derived from an account's public key. `pool` must be durable:
 *  an address that was handed out is never given to another order. */
export const cryptoDeposit = ({ networks, pool }: { networks: readonly Network[]; pool: Pool }): Rail => {
  const deposits = networks.map((network) => depositsOn(network, pool));
  const on = (currency: PaymentCurrency) => deposits.filter(({ network }) => network.assets[currency] !== undefined);
  return {
    rail: 'crypto_deposit',
    supports: (currency) => on(currency).length > 0,
    open: (order) => Promise.all(on(order.currency).map((deposit) => deposit.open(order))),
  };
};

/** The order that an address was given to, as it is written in its instructions; null when it was given to none. */
export const orderOfAddress = async (pool: Pool, address: string): Promise<string | null> => {
  const { rows } = await pool.query<{ order_id: string }>(
    'select order_id from payments.deposit_addresses where address = $1',
    [address],
  );
  return rows[0]?.order_id ?? null;
};

interface Assigned {
  readonly index: number;
  readonly address: string;
}

const depositsOn = (network: Network, pool: Pool) => {
  const account = createHash('sha256').update(network.account.xpub).digest('hex');
  const addresses = addressPool({ reserve: (count) => reserve(pool, account, count), addressAt: network.addressAt });

  const assign = async (orderId: string): Promise<Assigned> => {
    const next = await addresses.take();
    const inserted = await pool.query({
      name: 'assign-address',
      text: `insert into payments.deposit_addresses (order_id, network, account, index, address) values ($1, $2, $3, $4, $5)
             on conflict (order_id, network) do nothing`,
      values: [orderId, network.name, account, next.index, next.address],
    });
    if (inserted.rowCount === 1) return next;
    addresses.giveBack(next);
    return assignedBefore(orderId);
  };

  const assignedBefore = async (orderId: string): Promise<Assigned> => {
    const { rows } = await pool.query<{ account: string; index: string; address: string }>(
      'select account, index, address from payments.deposit_addresses where order_id = $1 and network = $2',
      [orderId, network.name],
    );
    const { account: of, index, address } = rows[0]!;
    if (of !== account)
      throw new Error(`${orderId} has an address on ${network.name} of an account key that is not configured any more`);
    if (network.addressAt(Number(index)) !== address)
      throw new Error(`the address of ${orderId} on ${network.name} is not what its key makes`);
    return { index: Number(index), address };
  };

  const open = async ({ orderId, currency }: OrderToPay): Promise<AssignedInstruction> => {
    const { index, address } = await assign(orderId);
    return {
      rail: 'crypto_deposit',
      currency,
      network: network.name,
      chainId: network.chainId,
      asset: network.assets[currency]!,
      address,
      decimals: decimalsOf(currency),
      requiredConfirmations: network.requiredConfirmations,
      derivation: { fingerprint: network.account.fingerprint, path: receivingPath(index) },
    };
  };

  return { network, open };
};

/** Moves an account's counter on by `count`, and resolves to what it was. */
const reserve = async (pool: Pool, account: string, count: number): Promise<number> => {
  const { rows } = await pool.query<{ first: string }>(
    `insert into payments.deposit_accounts as held (account, next_index) values ($1, $2)
     on conflict (account) do update set next_index = held.next_index + $2
     returning next_index - $2 as first`,
    [account, count],
  );
  return Number(rows[0]!.first);
};
