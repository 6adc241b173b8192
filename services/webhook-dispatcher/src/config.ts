import {
  AddressList,
  CommaSeparatedList,
  Flag,
  HttpUrl,
  KafkaConfig,
  Port,
  PortList,
  readConfig,
  SecretList,
  ServiceConfig,
} from '@cpg/platform';
import { z } from 'zod';
import { DEFAULT_SCHEDULE } from './delivery/schedule.ts';
import { DISABLE_AFTER_MS } from './maintenance/maintenance.ts';
import { DEFAULT_RETENTION } from './queue/partitions.ts';

const Seconds = CommaSeparatedList.transform((parts) => parts.map(Number)).refine(
  (waits) => waits.every((wait) => Number.isFinite(wait) && wait > 0),
  { error: 'must be a comma-separated list of seconds' },
);

const Days = z.coerce.number().int().positive();

const Config = z
  .object({
    ...ServiceConfig.shape,
    ...KafkaConfig.shape,
    PORT: Port.default(4003),
    /** The tokens of the gateway, which alone calls the dispatcher. */
    GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN: SecretList,
    /** Decrypts webhook secrets: the keys of the gateway. */
    WEBHOOK_ENCRYPTION_KEY: SecretList,
    /** Replays read past events from these services. */
    ORDERS_URL: HttpUrl.optional(),
    PAYMENTS_URL: HttpUrl.optional(),
    /** The first one of each is sent. */
    WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN: SecretList.optional(),
    WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN: SecretList.optional(),
    /** Deliveries may go to loopback addresses, by http or with a self-signed certificate. Sandbox only. */
    WEBHOOK_ALLOW_LOCAL: Flag.default(false),
    /** Addresses and CIDR blocks that may receive deliveries although they are not public. */
    WEBHOOK_ALLOW_ADDRESSES: AddressList.optional(),
    /** Ports below 1024 that may receive deliveries, beside 443 and 80. */
    WEBHOOK_ALLOW_PORTS: PortList.optional(),
    /** The HTTP proxy for deliveries. */
    WEBHOOK_PROXY_URL: HttpUrl.optional(),
    /** Seconds before the second, third, ... attempt. */
    WEBHOOK_RETRY_SECONDS: Seconds.default([...DEFAULT_SCHEDULE]),
    /** Hours in which all attempts of a webhook must fail before it is disabled. */
    WEBHOOK_DISABLE_AFTER_HOURS: z.coerce
      .number()
      .positive()
      .default(DISABLE_AFTER_MS / 3_600_000),
    /** Days for which deliveries and their attempts are kept. */
    WEBHOOK_RETENTION_DAYS: Days.default(DEFAULT_RETENTION.metadataDays),
    /** Days for which the bodies of deliveries are kept. */
    WEBHOOK_BODY_RETENTION_DAYS: Days.default(DEFAULT_RETENTION.bodyDays),
  })
  .refine((config) => !(config.ENVIRONMENT === 'production' && config.WEBHOOK_ALLOW_LOCAL), {
    path: ['WEBHOOK_ALLOW_LOCAL'],
    error: 'is allowed in a sandbox only',
  })
  .refine((config) => config.WEBHOOK_BODY_RETENTION_DAYS <= config.WEBHOOK_RETENTION_DAYS, {
    path: ['WEBHOOK_BODY_RETENTION_DAYS'],
    error: 'must not be longer than WEBHOOK_RETENTION_DAYS',
  })
  .refine((config) => (config.ORDERS_URL === undefined) === (config.PAYMENTS_URL === undefined), {
    path: ['ORDERS_URL'],
    error: 'must be set together with PAYMENTS_URL, or neither: then replays are disabled',
  })
  .refine((config) => config.ORDERS_URL === undefined || config.WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN !== undefined, {
    path: ['WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN'],
    error: 'is required with ORDERS_URL',
  })
  .refine((config) => config.PAYMENTS_URL === undefined || config.WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN !== undefined, {
    path: ['WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN'],
    error: 'is required with PAYMENTS_URL',
  });
export type Config = z.infer<typeof Config>;

export const readDispatcherConfig = (env: NodeJS.ProcessEnv): Config => readConfig(Config, env);
