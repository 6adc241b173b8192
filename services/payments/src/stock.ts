import type { LeasedAddress, LeasedReference, Stock, StockCall } from '@cpg/contracts';
import { LEASE_MS } from './accounts/leases.ts';

/** Addresses that no order has yet. */
export interface AddressLease {
  readonly addresses: LeasedAddress[];
  /** How long they may still be put into an order. Nobody else gets them before that, or once an order has them. */
  readonly leaseMs: number;
}

export interface StockSources {
  /** Null for a network that is not configured. */
  readonly leaseAddresses: (network: string, count: number) => Promise<AddressLease | null>;
  /** `count` references of each provider. Null if a provider has to register each order. */
  readonly leaseReferences: (count: number, addsDeposits?: boolean) => Record<string, LeasedReference[]> | null;
}

/** Leases payables that orders puts into new orders without a call for each. References are random and need no lease of
 *  their own. */
export const stockFrom =
  ({ leaseAddresses, leaseReferences }: StockSources) =>
  async ({ addresses: wanted, references, adds_deposits: addsDeposits }: StockCall): Promise<Stock> => {
    const asked = Object.entries(wanted).map(
      async ([network, count]) => [network, await leaseAddresses(network, count)] as const,
    );
    const leased = (await Promise.all(asked)).flatMap(([network, lease]) => (lease ? [{ network, ...lease }] : []));
    return {
      lease_ms: Math.floor(Math.max(0, Math.min(LEASE_MS, ...leased.map(({ leaseMs }) => leaseMs)))),
      addresses: Object.fromEntries(leased.map(({ network, addresses }) => [network, addresses])),
      references: leaseReferences(references, addsDeposits),
    };
  };
