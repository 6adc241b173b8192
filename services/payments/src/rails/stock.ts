import type { LeasedAddress, LeasedReference, Stock, StockCall } from '@cpg/contracts';

export interface StockSources {
  /** Addresses that no order has yet. Nobody else gets them before their lease ends, or once an order has them. Null for
   *  a network that is not configured. */
  readonly leaseAddresses: (network: string, count: number) => Promise<LeasedAddress[] | null>;
  /** `count` references of each provider. Null if a provider has to register each order. */
  readonly leaseReferences: (count: number) => Record<string, LeasedReference[]> | null;
}

/** Leases payables that orders puts into new orders without a call for each. References are random and need no lease of
 *  their own. */
export const stockFrom =
  ({ leaseAddresses, leaseReferences }: StockSources) =>
  async ({ addresses: wanted, references }: StockCall): Promise<Stock> => {
    const asked = Object.entries(wanted).map(
      async ([network, count]) => [network, await leaseAddresses(network, count)] as const,
    );
    const leased = (await Promise.all(asked)).flatMap(([network, lease]) => (lease ? [[network, lease] as const] : []));
    return {
      addresses: Object.fromEntries(leased),
      references: leaseReferences(references),
    };
  };
