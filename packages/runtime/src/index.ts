export { allowedCallers } from './allowed-callers.ts';
export { createAddressMatcher, isAddressOrCidr } from './address-matcher.ts';
export { parsePositiveAmount } from './amount.ts';
export type { AnyApp } from './any-app.ts';
export { type Caller, type CallerTokens, requireCaller } from './callers.ts';
export { type CallContext, contextHeaders, newContext, readCallContext } from './call-context.ts';
export { clientNetwork } from './client-network.ts';
export {
  AddressList,
  ConfigError,
  EventStoreConfig,
  Flag,
  KafkaConfig,
  Port,
  PortList,
  readConfig,
  ServiceConfig,
} from './config.ts';
export { type CatalogueEntry, errorCatalogue, renderErrorCatalogue } from './error-catalogue/page.ts';
export { onDrain } from './drain.ts';
export { FatalStartError } from './fatal-start-error.ts';
export { healthRoutes, type ReadinessChecks } from './health.ts';
export { BODY_LIMIT_BYTES, errorBody } from './http-errors.ts';
export { createApp, type CreateAppOptions, INTERNAL_BODY_LIMIT_BYTES } from './http.ts';
export { newId, newRequestId, newUlid, ulidOf } from './ids.ts';
export { type InternalClient, internalClient } from './internal-client.ts';
export {
  type ClockGuard,
  type ClockGuardOptions,
  createClockGuard,
  type OtherClock,
  type OwnClocks,
  steadyNowMs,
} from './clock/guard.ts';
export { aheadMs, type Bounds, type Confirmation, LIMIT_MS } from './clock/verdict.ts';
export { CommaSeparatedList } from './comma-separated-list.ts';
export { eventStoreOptions, HttpUrl } from './connection-urls.ts';
export { isGuessable, Secret, SecretList } from './secrets.ts';
export { invalidFile, readJsonFile } from './json-file.ts';
export { type ConcurrencyLimit, createConcurrencyLimit } from './load/concurrency-limit.ts';
export { refuseAfterDeadline } from './load/deadline.ts';
export type { LoadClass, LoadLimits } from './load/load-class.ts';
export { refuseOverload } from './load/refuse-overload.ts';
export { createLogger, type Logger } from './logger.ts';
export type { Dependency, OutageTotals } from './outage.ts';
export {
  computedMetric,
  counterMetric,
  createServiceMetrics,
  lagMetric,
  metricsRoute,
  type MetricsRegistry,
  type ServedMetrics,
} from './metrics.ts';
export { createOutages, type Outages } from './outages.ts';
export { hideInternalAddresses, isPublicAddress, isWebhookPort } from './public-address.ts';
export { createHostResolver, isLocalName, NO_SUCH_HOST, type ResolveHost } from './resolve-host.ts';
export { retry, type RetryOptions, untilBack, type Wait } from './retry.ts';
export { type SecretBox, secretBox, webhookRow } from './secret-box.ts';
export { createServiceLog } from './service-log.ts';
export { runService } from './shutdown.ts';
export { createStartGate, waitForStartGate, type StartGate } from './start-gate.ts';
export { createStartupTasks, type StartupTasks } from './startup-tasks.ts';
export { untilAborted } from './until-aborted.ts';
export { withTimeout, withTimeoutSignal } from './with-timeout.ts';
export { printable, writeErrorLine, writeFailure, writeLine } from './write-line.ts';
export { describeIssue, validationDetails } from './validation-messages.ts';
