export { leadWhileAlone, type LeadOptions } from './leader.ts';
export { migrate, type Migrations, migrateWithin } from './migrate.ts';
export { isDatabaseOutage } from './outage.ts';
export { createPool, type Pool, type PoolOptions, type Queryable } from './pool.ts';
export { holdRole, RoleTakenError, type SessionOptions } from './session.ts';
export { testDatabase } from './testing.ts';
export { transaction, transactionOn } from './transaction.ts';
