import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The root folder of the checkout. */
export const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));

const portByDefault = (port: number) =>
  z.coerce.number({ error: 'must be a port number' }).int().min(1).max(65_535).default(port);

const Config = z.object({
  DATA_DIR: z.string().default('.data'),
  HOST: z.string().default('127.0.0.1'),
  PORT_OFFSET: z.coerce.number({ error: 'must be a whole number' }).int().default(0),
  /** For tests with a proxy between the processes: clients connect to each port plus this offset. */
  VIA_PORT_OFFSET: z.coerce.number({ error: 'must be a whole number' }).int().default(0),
  /** For tests: services find the event store by gossip, as in a cluster. */
  EVENTSTORE_DISCOVER: z.stringbool().default(false),
  GATEWAY_PORT: portByDefault(4000),
  ORDERS_PORT: portByDefault(4001),
  PAYMENTS_PORT: portByDefault(4002),
  WEBHOOK_DISPATCHER_PORT: portByDefault(4003),
  EVENTSTORE_PORT: portByDefault(2113),
  KAFKA_PORT: portByDefault(9092),
  POSTGRES_PORT: portByDefault(5433),
  CHAIN_PORT: portByDefault(8545),
  /** Whether to run an EVM chain on which orders can be paid. */
  CHAIN: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  /** A Bitcoin node on its regtest chain. */
  BITCOIND_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  EVENTSTORE_URL: z.string().optional(),
  KAFKA_BROKERS: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  ENVIRONMENT: z.literal('sandbox', { error: 'must be sandbox: npm start does not run in production' }).optional(),
  LOG_LEVEL: z.string().default('info'),
  SANDBOX_API_KEY: z
    .string()
    .regex(/^ak_sandbox_[A-Za-z0-9]{32,128}$/, {
      error: 'must be ak_sandbox_ followed by 32 to 128 letters and digits',
    })
    .optional(),
});

/** The variables that the launcher itself reads. DATA_DIR is absolute. */
export type Config = z.output<typeof Config>;

/** Empty values count as absent. A relative DATA_DIR is relative to the checkout. Throws LaunchError with every invalid
 *  variable. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { success, data, error } = Config.safeParse(present);
  if (success) return { ...data, DATA_DIR: resolve(CHECKOUT, data.DATA_DIR) };
  const faults = error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new LaunchError(`invalid environment variables:\n${faults.join('\n')}`);
};

/** The stack cannot start or continue. The message tells the user the reason and the remedy. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
