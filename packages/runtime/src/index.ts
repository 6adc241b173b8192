export { addressesIn, isAddressOrBlock } from './address-blocks.ts';
export {
  AddressBlocks,
  ConfigError,
  EventStoreConfig,
  Flag,
  KafkaConfig,
  List,
  Port,
  readConfig,
  Secret,
  ServiceConfig,
} from './config.ts';
export { type CallContext, contextHeaders, contextOf } from './context.ts';
export { errorCatalogue } from './error-catalogue/page.ts';
export { healthRoutes, type ReadinessChecks } from './health.ts';
export {
  type AnyApp,
  type AppOptions,
  BODY_LIMIT_BYTES,
  createApp,
  errorBody,
  faultsOf,
  INTERNAL_BODY_LIMIT_BYTES,
  invalid,
  requireInternalToken,
} from './http.ts';
export { newId, newRequestId, newUlid } from './ids.ts';
export { type InternalClient, internalClient } from './internal-client.ts';
export { createLogger, type Logger } from './logger.ts';
export { type Preparation, preparation } from './preparation.ts';
export { isPublicAddress } from './public-address.ts';
export { retry, type RetryOptions } from './retry.ts';
export { type SecretBox, secretBox } from './secret-box.ts';
export { runService } from './shutdown.ts';
export { within } from './within.ts';
export { writeLine } from './write-line.ts';
