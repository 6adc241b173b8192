export {
  type ClockGuard,
  type ClockGuardOptions,
  createClockGuard,
  type OtherClock,
  type OwnClocks,
  steadyNowMs,
} from './clock/clock-guard.ts';
export { aheadMs, type Bounds, type Confirmation, LIMIT_MS } from './clock/verdict.ts';
export { wallClock, wallClockMs } from './clock/own-clocks.ts';
export { CommaSeparatedList } from './config/comma-separated-list.ts';
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
} from './config/config.ts';
export { eventStoreOptions, HttpUrl } from './config/connection-urls.ts';
export { FatalStartError } from './config/fatal-start-error.ts';
export { invalidFile, readJsonFile } from './config/json-file.ts';
export { type SecretBox, secretBox, webhookRow } from './config/secret-box.ts';
export { isGuessable, Secret, SecretList } from './config/secrets.ts';
export { type CatalogueEntry, errorCatalogue, renderErrorCatalogue } from './error-catalogue/page.ts';
export { groupBy } from './group-by.ts';
export { allowedCallers } from './testing/allowed-callers.ts';
export { parsePositiveAmount } from './http/amount.ts';
export type { AnyApp } from './http/any-app.ts';
export { createApp, type CreateAppOptions, INTERNAL_BODY_LIMIT_BYTES } from './http/app.ts';
export { type CallContext, contextHeaders, newContext, readCallContext } from './http/call-context.ts';
export { type Caller, type CallerTokens, requireCaller } from './http/callers.ts';
export { onDrain } from './http/drain.ts';
export { healthRoutes, type ReadinessChecks } from './http/health.ts';
export { BODY_LIMIT_BYTES, errorBody } from './http/http-errors.ts';
export { type InternalClient, internalClient } from './http/internal-client.ts';
export { createStartGate, type StartGate, waitForStartGate } from './start/start-gate.ts';
export { describeIssue, validationDetails } from './http/validation-messages.ts';
export { newId, newRequestId, newUlid } from './ids.ts';
export { type ConcurrencyLimit, createConcurrencyLimit } from './load/concurrency-limit.ts';
export { refuseAfterDeadline } from './http/deadline.ts';
export type { LoadClass, LoadLimits } from './load/load-class.ts';
export { refuseOverload } from './load/refuse-overload.ts';
export { createLogger, type Logger } from './log/logger.ts';
export { createServiceLog } from './outages/service-log.ts';
export { printable, writeErrorLine, writeFailure, writeLine } from './log/write-line.ts';
export {
  computedMetric,
  counterMetric,
  createServiceMetrics,
  lagMetric,
  type MetricsRegistry,
  metricsRoute,
  type ServedMetrics,
} from './metrics.ts';
export { createAddressMatcher, isAddressOrCidr } from './network/address-matcher.ts';
export { clientNetwork } from './network/client-network.ts';
export { hideInternalAddresses, isPublicAddress, isWebhookPort } from './network/public-address.ts';
export { createHostResolver, isLocalName, NO_SUCH_HOST, type ResolveHost } from './network/resolve-host.ts';
export type { Dependency, OutageTotals } from './outages/outage.ts';
export { createOutages, type Outages } from './outages/outages.ts';
export { retry, type RetryOptions, untilBack, type Wait } from './outages/retry.ts';
export { untilAborted } from './outages/until-aborted.ts';
export { withTimeout, withTimeoutSignal } from './outages/with-timeout.ts';
export { runService } from './start/run-service.ts';
export { createStartupTasks, type StartupTasks } from './start/startup-tasks.ts';
