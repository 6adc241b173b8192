export { type OwnCommandContext, runAdminCommand } from './admin-command.ts';
export { recordScale, requireConfiguredScale, requireRecordedScales, WrongScaleError } from './currency-scales.ts';
export { runEnvironmentCommand } from './environment-command.ts';
export { startEventSourcedService } from './event-sourced-service.ts';
export { internalApp, type InternalAppOptions } from './internal-app.ts';
export { rebuild } from './rebuild.ts';
export { recount, verifyCounts } from './verify-counts.ts';
export { verify } from './verify.ts';
