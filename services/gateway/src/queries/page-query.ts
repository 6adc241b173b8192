import type { ListQuery } from '../list-query.ts';
import type { CountTable } from './counts.ts';

/** A column and the value it must have. An undefined value disables the filter. */
export type Filter = readonly [column: string, value: unknown];

export interface PageQuery {
  readonly table: string;
  /** Without `id` and `created_at`, which are always selected. */
  readonly columns: readonly string[];
  /** The column of the merchant or webhook whose items are listed. */
  readonly owner: readonly [column: string, id: string];
  /** A condition that all items of the list meet. */
  readonly only?: string;
  readonly filters: readonly Filter[];
  /** More conditions without their values, like `id >=`. An undefined value disables one. */
  readonly ranges?: readonly Filter[];
  readonly list: ListQuery;
  /** The counts of the rows, if there are any. */
  readonly counts?: CountTable | undefined;
  /** The columns to sort by. */
  readonly sortBy?: readonly string[];
}
