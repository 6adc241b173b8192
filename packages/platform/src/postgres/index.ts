export { AdvisoryLockTakenError, withAdvisoryLock } from './own-session.ts';
export { joinGroup, type Membership } from './group-membership.ts';
export { type IsLeader, startLeaderElection } from './leader-election.ts';
export { type Environment, isReadable, stampSchemas, stampsOf, WrongEnvironmentError } from './environment.ts';
export {
  migrate,
  migrateInTransaction,
  type Migrations,
  prepareSchema,
  runMigrateCommand,
  withoutTimeout,
} from './migrate.ts';
export { batchWriter } from './batch-writer.ts';
export { databaseClocks, newestBlocks } from './clocks.ts';
export { databaseDependency, isTransientDatabaseError, POSTGRES } from './errors.ts';
export { createPool, type Pool, type Queryable, transaction, transactionOnConnection } from './pool.ts';
