import {
  AddressList,
  CommaSeparatedList,
  EventStoreConfig,
  Flag,
  HttpUrl,
  isAddressOrCidr,
  Port,
  PortList,
  readConfig as read,
  SecretList,
  ServiceConfig,
} from '@cpg/platform';
import { noteSigner } from '@cpg/transparency-log';
import { z } from 'zod';

const TRUST_PROXY_ERROR =
  'must be false, a number of proxies from 1 to 9, or a list of addresses and CIDR blocks (true only in a sandbox)';
const Limit = z.coerce.number().int().min(0);

/** Proxies whose `X-Forwarded-For` is trusted: none, all, the nearest ones, or a list of addresses and CIDR blocks. */
const TrustProxy = z.union([
  Flag,
  z
    .string()
    .regex(/^[1-9]$/)
    .transform(Number),
  CommaSeparatedList.refine((list) => list.every(isAddressOrCidr), { error: TRUST_PROXY_ERROR }),
]);

const OIDC = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_NAME'] as const;

/** A private key for signed notes. */
const SigningKey = z.string().transform((text, { addIssue }) => {
  try {
    return noteSigner(text);
  } catch (error) {
    addIssue({
      code: 'custom',
      message: `${(error as Error).message}: make one with "admin secrets new-audit-log-key"`,
    });
    return z.NEVER;
  }
});

const GatewayConfig = ServiceConfig.extend({
  PORT: Port.default(4000),
  /** Changes of merchants are appended there. The gateway works without it, and they wait. */
  EVENTSTORE_URL: EventStoreConfig.shape.EVENTSTORE_URL,
  ORDERS_URL: HttpUrl,
  PAYMENTS_URL: HttpUrl,
  WEBHOOK_DISPATCHER_URL: HttpUrl,
  /** The first one of each is sent. */
  GATEWAY_TO_ORDERS_TOKEN: SecretList,
  GATEWAY_TO_PAYMENTS_TOKEN: SecretList,
  GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN: SecretList,
  /** The first one hashes new secrets; all verify. */
  API_KEY_PEPPER: SecretList,
  /** The first key encrypts; all keys decrypt. */
  WEBHOOK_ENCRYPTION_KEY: SecretList,
  /** Signs the checkpoints of the transparency log. Without it, none is kept. */
  AUDIT_LOG_KEY: SigningKey.optional(),
  /** Requests of an API key, or without a key of a client address (IPv6: /64). 0 for either is no limit. */
  RATE_LIMIT_PER_SECOND: Limit.default(100),
  RATE_LIMIT_BURST: Limit.default(200),
  /** Failed authentications of a client address (IPv6: /64). 0 is no limit. */
  RATE_LIMIT_AUTH_PER_MINUTE: Limit.default(10),
  /** Webhooks may use loopback addresses with http and any port; URLs for browsers may use http too. Sandbox only. The
   *  dispatcher needs the same value. */
  WEBHOOK_ALLOW_LOCAL: Flag.default(false),
  /** Private addresses that webhooks may use. The dispatcher needs the same value. */
  WEBHOOK_ALLOW_ADDRESSES: AddressList.optional(),
  /** Ports below 1024 that webhooks may use, beside 443 and 80. The dispatcher needs the same value. */
  WEBHOOK_ALLOW_PORTS: PortList.optional(),
  TRUST_PROXY: TrustProxy.default(false),
  /** How long merchants see their requests. With 0, requests are not stored. */
  REQUEST_LOG_DAYS: Limit.max(365).default(7),
  /** Payment pages that can be open on this gateway with a stream of events. Further ones poll; with 0, all poll. */
  PAY_PAGE_STREAMS: Limit.default(20_000),
  /** The same per client address (IPv6: /64), which customers of a mobile carrier can share. */
  PAY_PAGE_STREAMS_PER_ADDRESS: Limit.default(200),
  /** The provider of OpenID Connect that users can sign in with. All are set, or none but PUBLIC_URL. */
  OIDC_ISSUER: HttpUrl.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** What the button of the sign-in page calls the provider. */
  OIDC_NAME: z.string().max(60).optional(),
  /** Public address of the gateway: the provider sends browsers back there. */
  PUBLIC_URL: HttpUrl.optional(),
  /** A local EVM node. Payment pages offer to pay with the test money of its first account. */
  TEST_WALLET_URL: HttpUrl.optional(),
})
  .refine((config) => !(config.ENVIRONMENT === 'production' && config.TRUST_PROXY === true), {
    path: ['TRUST_PROXY'],
    error: 'true lets any client choose its own address: list the addresses of your proxies, or give their number',
  })
  .refine((config) => !(config.ENVIRONMENT === 'production' && config.WEBHOOK_ALLOW_LOCAL), {
    path: ['WEBHOOK_ALLOW_LOCAL'],
    error: 'is for sandboxes only',
  })
  .refine((config) => !(config.ENVIRONMENT === 'production' && config.TEST_WALLET_URL !== undefined), {
    path: ['TEST_WALLET_URL'],
    error: 'is for sandboxes only',
  })
  .superRefine((config, { addIssue }) => {
    if (OIDC.every((name) => config[name] === undefined)) return;
    for (const name of [...OIDC, 'PUBLIC_URL'] as const)
      if (config[name] === undefined)
        addIssue({
          code: 'custom',
          path: [name],
          message: `is missing: ${OIDC.join(', ')} and PUBLIC_URL belong together`,
        });
  });

export type GatewayConfig = z.infer<typeof GatewayConfig>;

/** Reads the environment of the gateway. Like each reader here, it throws ConfigError with every fault. */
export const readConfig = (env: NodeJS.ProcessEnv): GatewayConfig => read(GatewayConfig, env);

const AdminConfig = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true }).extend({
  API_KEY_PEPPER: SecretList,
});

export type AdminConfig = z.infer<typeof AdminConfig>;

/** The configuration of the `merchants` and `keys` commands. */
export const readAdminConfig = (env: NodeJS.ProcessEnv): AdminConfig => read(AdminConfig, env);

const AuditConfig = ServiceConfig.pick({ ENVIRONMENT: true }).extend({
  ORDERS_URL: HttpUrl,
  PAYMENTS_URL: HttpUrl,
  ADMIN_TO_ORDERS_TOKEN: SecretList,
  ADMIN_TO_PAYMENTS_TOKEN: SecretList,
});

/** The configuration of the `audit` commands. */
export const readAuditConfig = (env: NodeJS.ProcessEnv) => read(AuditConfig, env);

const DepositSettingsConfig = ServiceConfig.pick({
  ENVIRONMENT: true,
  DATABASE_URL: true,
}).extend({ PAYMENTS_URL: HttpUrl, ADMIN_TO_PAYMENTS_TOKEN: SecretList });

/** The configuration of the `accounts` and `confirmations` commands. */
export const readDepositSettingsConfig = (env: NodeJS.ProcessEnv) => read(DepositSettingsConfig, env);

const SecretsConfig = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true }).extend({
  API_KEY_PEPPER: SecretList,
  WEBHOOK_ENCRYPTION_KEY: SecretList,
  AUDIT_LOG_KEY: SigningKey.optional(),
});

/** The configuration of the `secrets` commands. */
export const readSecretsConfig = (env: NodeJS.ProcessEnv) => read(SecretsConfig, env);

/** The environment alone, for the `webhooks` commands. */
export const readEnvironment = (env: NodeJS.ProcessEnv) =>
  read(ServiceConfig.pick({ ENVIRONMENT: true }), env).ENVIRONMENT;
