import { parseArgs } from 'node:util';
import { createKafka } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { createLogger, KafkaConfig, readConfig, ServiceConfig } from '@cpg/platform';
import { type Published, reconcile } from '../reconcile/reconcile.ts';
import { republish } from '../reconcile/republish.ts';
import type { Projection } from '@cpg/event-sourcing';
import { ProjectionError, type ShadowTableOptions } from '../read-models/shadow-tables.ts';

const USAGE = `  store reconcile [--apply] [--folder F]  shows which rows, deliveries and Kafka messages have no event in the event store, and
                                          lists them in a file; --apply makes the service follow this store
  store republish --since TIME            publishes every event that was recorded since then again, under the same ids`;

const Config = ServiceConfig.pick({ CAZ_DECIMALS: true }).extend(KafkaConfig.shape);

export interface StoreCommandOptions extends ShadowTableOptions {
  readonly moreProjections: readonly Projection[];
  readonly published: Published;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
}

/** Runs an operator's command on the event store and what follows it. Resolves to the exit code: 0, or 1 for
 *  differences. */
export const runStoreCommand = async (args: readonly string[], options: StoreCommandOptions): Promise<number> => {
  const { projection, databaseUrl, print } = options;
  const { verb, since, apply, folder } = parse(args);
  const log = createLogger({ name: 'admin', level: 'silent' });
  const pool = createPool({ url: databaseUrl, name: 'admin', max: 2, log });
  try {
    if (verb === 'republish') {
      if (!since || Number.isNaN(since.getTime())) throw new ProjectionError(USAGE);
      const isMoved = await republish({ ...options, pool, since });
      const done = isMoved ? `publishes again what was recorded since ${since.toISOString()}` : 'has that still to do';
      print(`${projection.schema}: the relay ${done}`);
      return 0;
    }
    const kafka = createKafka(readConfig(Config, options.env), { clientId: 'admin', log });
    return (await reconcile({ ...options, pool, kafka, folder, apply })) ? 0 : 1;
  } finally {
    await pool.end();
  }
};

const parse = (args: readonly string[]) => {
  const options = {
    apply: { type: 'boolean', default: false },
    folder: { type: 'string', default: '.' },
    since: { type: 'string' },
  } as const;
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, ...rest] = positionals;
    if ((verb === 'reconcile' || verb === 'republish') && rest.length === 0)
      return { ...values, verb, since: values.since === undefined ? null : new Date(values.since) };
  } catch {
    // The usage tells.
  }
  throw new ProjectionError(USAGE);
};
