export { type AdvisoryLockOptions, AdvisoryLockTakenError, withAdvisoryLock } from './advisory-lock.ts';
export { type LeaderElectionOptions, startLeaderElection } from './leader-election.ts';
export { type Environment, isReadable, stampSchemas, stampsOf, WrongEnvironmentError } from './environment.ts';
export { migrate, migrateInTransaction, type Migrations, prepareSchema } from './migrate.ts';
export { databaseDependency, POSTGRES } from './outage.ts';
export { createPool, type Pool, type PoolOptions, type Queryable } from './pool.ts';
export { testDatabase } from './testing.ts';
export { transaction, transactionOnConnection } from './transaction.ts';
export { isTransientDatabaseError } from './transient-errors.ts';
