import { join } from 'node:path';
import { EventStoreConfig, KafkaConfig, Port, readConfig, ServiceConfig } from '@cpg/runtime';
import { z } from 'zod';

const Config = z.object({
  ...ServiceConfig.shape,
  ...EventStoreConfig.shape,
  ...KafkaConfig.shape,
  PORT: Port.default(4001),
  PAYMENTS_URL: z.url(),
  /** The sandbox's table of rates. */
  RATES_FILE: z.string().default(join(import.meta.dirname, '../config/sandbox-rates.json')),
});
export type Config = z.infer<typeof Config>;

export const readOrdersConfig = (env: NodeJS.ProcessEnv): Config => readConfig(Config, env);
