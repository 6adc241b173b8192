export { type OwnCommandContext, runAdminCommand } from './commands/admin-command.ts';
export { runEnvironmentCommand } from './commands/environment-command.ts';
export { startEventSourcedService } from './service/event-sourced-service.ts';
export { internalApp, type InternalAppOptions } from './service/internal-app.ts';
export { rebuild } from './read-models/rebuild.ts';
export { recount, verify, verifyCounts } from './read-models/verify.ts';
