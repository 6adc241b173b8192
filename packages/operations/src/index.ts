export { type OwnCommandContext, runAdminCommand } from './admin-command.ts';
export { startBackgroundWork } from './background-work.ts';
export { openConnections } from './connections.ts';
export {
  recordScale,
  requireConfiguredScale,
  requireRecordedScales,
  withRecordedScales,
  WrongScaleError,
} from './currency-scales.ts';
export { runEnvironmentCommand } from './environment-command.ts';
export { rebuild } from './rebuild.ts';
export { recount, verifyCounts } from './verify-counts.ts';
export { verify } from './verify.ts';
