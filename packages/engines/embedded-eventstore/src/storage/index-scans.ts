/** PostgreSQL settings that leave index scans only. Each statement of this package is a range scan of an index.
 *  Without statistics, for instance of a log that has just grown, PostgreSQL would sort or hash the whole log. */
export const INDEX_SCAN_SETTINGS: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_sort: 'off',
};
