import { createHash } from 'node:crypto';
import { type AssignedInstruction, decimalsOf, type PaymentCurrency } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { receivingPath } from './account-key.ts';
import { addressPool } from './address-pool.ts';
import type { Network } from './networks.ts';
import type { OrderToPay, Rail } from './rail.ts';

/** On-chain deposits: one address per order and network, derived from an account's public key. `pool` must commit
 *  durably, because an assigned address is never reused for another order. */
export const cryptoDeposit = ({ networks, pool }: { networks: readonly Network[]; pool: Pool }): Rail => {
  const deposits = networks.map((network) => networkDeposits(network, pool));
  const supporting = (currency: PaymentCurrency) =>
    deposits.filter(({ network }) => network.assets[currency] !== undefined);
  return {
    supports: (currency) => supporting(currency).length > 0,
    assignInstructions: (order) =>
      Promise.all(supporting(order.currency).map((deposit) => deposit.instructionFor(order))),
  };
};

/** The order that a deposit address was assigned to, or null. `address` is spelled as in the order's instructions. */
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

const networkDeposits = (network: Network, pool: Pool) => {
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
    addresses.release(next);
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

  const instructionFor = async ({ orderId, currency }: OrderToPay): Promise<AssignedInstruction> => {
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

  return { network, instructionFor };
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
