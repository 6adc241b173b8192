import type { Queryable } from '@cpg/platform/postgres';

/** The reference of an order at an outside provider. */
export interface AssignedReference {
  readonly orderId: string;
  readonly provider: string;
  readonly reference: string;
}

export interface AssignedSearch {
  readonly providers: readonly string[];
  /** When they were assigned: after `from`, up to `to`. */
  readonly windows: readonly { readonly from: Date; readonly to: Date }[];
  readonly limit: number;
}

/** The references that were assigned within one of the windows, to orders that are not deleted. */
export const assignedReferences = async (
  db: Queryable,
  { providers, windows, limit }: AssignedSearch,
): Promise<AssignedReference[]> => {
  // The condition of the index payables_of_outside_providers.
  const { rows } = await db.query<{ order_id: string; provider: string; reference: string }>(
    `select distinct order_id, provider, reference
     from unnest($2::timestamptz[], $3::timestamptz[]) as search (after, up_to)
     join payments.payables on assigned_at > search.after and assigned_at <= search.up_to
     where reference is not null and provider not in ('hosted', 'sandbox') and provider = any($1)
     limit $4`,
    [providers, windows.map(({ from }) => from), windows.map(({ to }) => to), limit],
  );
  return rows.map(({ order_id: orderId, ...row }) => ({ orderId, ...row }));
};
