export { leadWhileAlone, type LeadOptions } from './leader.ts';
export { migrate } from './migrate.ts';
export { isDatabaseOutage } from './outage.ts';
export { createPool, type Pool, type PoolOptions, type Queryable } from './pool.ts';
export { testDatabase } from './testing.ts';
export { transaction } from './transaction.ts';
