export { runServiceCommands, serviceCommands, withStores } from './commands/admin-command.ts';
export { addEnvironmentCommands } from './commands/environment-command.ts';
export { ensureScale } from './service/currency-scales.ts';
export {
  eventSourcedApp,
  type EventSourcedAppOptions,
  type OpenedService,
  startEventSourcedService,
} from './service/event-sourced-service.ts';
export { rebuild } from './read-models/rebuild.ts';
export { recount, verify, verifyCounts } from './read-models/verify.ts';
