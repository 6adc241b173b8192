export { createAddressMatcher, isAddressOrCidr } from './address-matcher.ts';
export {
  AddressList,
  ConfigError,
  EventStoreConfig,
  Flag,
  KafkaConfig,
  CommaSeparatedList,
  Port,
  readConfig,
  Secret,
  ServiceConfig,
} from './config.ts';
export { type CallContext, contextHeaders, readCallContext } from './call-context.ts';
export { renderErrorCatalogue } from './error-catalogue/page.ts';
export { healthRoutes, type ReadinessChecks } from './health.ts';
export {
  type AnyApp,
  type CreateAppOptions,
  BODY_LIMIT_BYTES,
  createApp,
  errorBody,
  validationDetails,
  INTERNAL_BODY_LIMIT_BYTES,
  invalidRequest,
  requireInternalToken,
} from './http.ts';
export { newId, newRequestId, newUlid } from './ids.ts';
export { type InternalClient, internalClient } from './internal-client.ts';
export { createLogger, type Logger } from './logger.ts';
export { type StartupTasks, createStartupTasks } from './startup-tasks.ts';
export { isPublicAddress } from './public-address.ts';
export { retry, type RetryOptions } from './retry.ts';
export { type SecretBox, secretBox } from './secret-box.ts';
export { runService } from './shutdown.ts';
export { withTimeout } from './with-timeout.ts';
export { writeLine } from './write-line.ts';
