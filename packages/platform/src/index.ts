export { createClockGuard, type OtherClock, type OwnClocks, steadyNowMs } from './clock/clock-guard.ts';
export { type Bounds, LIMIT_MS } from './clock/verdict.ts';
export { wallClock, wallClockMs } from './clock/own-clocks.ts';
export { CommaSeparatedList } from './config/values.ts';
export {
  AddressList,
  ConfigError,
  EventStoreConfig,
  FatalStartError,
  Flag,
  invalidFile,
  KafkaConfig,
  Port,
  PortList,
  readConfig,
  readJsonFile,
  ServiceConfig,
} from './config/config.ts';
export { eventStoreOptions, HttpUrl } from './config/connection-urls.ts';
export { type SecretBox, secretBox, webhookRow } from './config/secret-box.ts';
export { isGuessable, Secret, SecretList } from './config/secrets.ts';
export { type CatalogueEntry, errorCatalogue, renderErrorCatalogue } from './error-catalogue/page.ts';
export { groupBy } from './group-by.ts';
export { createApp } from './http/app.ts';
export { type CallContext, newContext, readCallContext } from './http/callers.ts';
export { onDrain } from './http/drain.ts';
export { healthRoutes, type ReadinessChecks } from './http/health.ts';
export { BODY_LIMIT_BYTES, errorBody } from './http/http-errors.ts';
export { internalApp, type InternalAppOptions } from './http/internal-app.ts';
export { type InternalClient, internalClient } from './http/internal-client.ts';
export {
  createStartGate,
  createStartupTasks,
  type StartGate,
  type StartupTasks,
  waitForStartGate,
} from './start/startup.ts';
export { describeIssue, validationDetails } from './config/validation-messages.ts';
export { newId, newRequestId, newUlid } from './ids.ts';
export { type ConcurrencyLimit, createConcurrencyLimit } from './load/concurrency-limit.ts';
export { refuseAfterDeadline } from './http/time-limits.ts';
export { type LoadClass, type LoadLimits, refuseOverload } from './load/refuse-overload.ts';
export { createLogger, type Logger } from './log/logger.ts';
export { createOutages, createServiceLog, type Outages } from './outages/outages.ts';
export { alignedColumns, printable, writeErrorLine, writeFailure, writeLine } from './log/write-line.ts';
export {
  computedMetric,
  counterMetric,
  createServiceMetrics,
  lagMetric,
  type MetricsRegistry,
  metricsRoute,
  type ServedMetrics,
} from './metrics.ts';
export {
  clientNetwork,
  createAddressMatcher,
  hideInternalAddresses,
  isAddressOrCidr,
  isBlockWithin,
  isPublicAddress,
  isWebhookPort,
} from './network/addresses.ts';
export { createHostResolver, isLocalName, NO_SUCH_HOST, type ResolveHost } from './network/resolve-host.ts';
export { retry, untilAborted, untilBack, type Wait, withTimeout, withTimeoutSignal } from './outages/retry.ts';
export { whenNpmEnds } from './start/npm-parent.ts';
export { runService } from './start/run-service.ts';
