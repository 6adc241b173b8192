import type { Queryable } from '@cpg/platform/postgres';

/** A transfer by its network and its id there. */
export interface TransferRef {
  readonly network: string;
  readonly id: string;
}

export interface TransferDepth extends TransferRef {
  readonly confirmations: number;
  readonly required: number | null;
}

/** Confirmations of transfers, counted from the last block that payments read. */
export const transferDepths = async (db: Queryable, refs: readonly TransferRef[]): Promise<TransferDepth[]> => {
  if (refs.length === 0) return [];
  const { rows } = await db.query<TransferRef & { confirmations: string; required: number | null }>({
    name: 'transfer-depths',
    text: `select network, id, required,
             case when transfer.height is null then 0 else greatest(0, cursor.height - transfer.height + 1) end as confirmations
           from unnest($1::text[], $2::text[]) as wanted (network, id)
           join payments.api_transfers as transfer using (network, id)
           join payments.api_chains as cursor using (network)`,
    values: [refs.map(({ network }) => network), refs.map(({ id }) => id)],
  });
  return rows.map((row) => ({ ...row, confirmations: Number(row.confirmations) }));
};
