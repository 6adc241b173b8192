import type { ListQuery } from './list-query.ts';

/** A column and the value it must have. An undefined value disables the filter. */
type Filter = readonly [column: string, value: unknown];

/** Which page of which list. */
export interface PageQuery {
  readonly table: string;
  /** The column of the merchant or webhook whose items are listed. */
  readonly owner: readonly [column: string, id: string];
  readonly filters: readonly Filter[];
  readonly list: ListQuery;
}
