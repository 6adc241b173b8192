/** Connection options: every statement of this package is meant to be a range scan of an index, also while
 *  PostgreSQL has no statistics of a log that has just grown and would rather sort or hash all of it. */
export const INDEX_SCANS = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((plan) => `-c enable_${plan}=off`)
  .join(' ');
