type Row = Readonly<Record<string, unknown>>;

/** A live row that differs from its replay, or a count that differs from its rows. Null stands for a missing row. */
export interface Difference {
  readonly table: string;
  readonly id: string;
  readonly live: Row | null;
  readonly replayed: Row | null;
}

/** The number of differences that a verification reports in full. */
export const MAX_DIFFERENCES = 50;
