import { TOPICS } from '@cpg/contracts';
import { runDeadLetterCommand } from '@cpg/platform/kafka';
import { runAdminCommand, runEnvironmentCommand } from '@cpg/operations';
import { MIGRATIONS } from './migrations.ts';
import { orderProjection } from './read/order-projection.ts';

const [noun, ...args] = process.argv.slice(2);

const run = (): Promise<number> => {
  if (noun === 'dlq') return runDeadLetterCommand(args, process.env);
  if (noun === 'environment') return runEnvironmentCommand(args, process.env);
  return runAdminCommand({
    args: process.argv.slice(2),
    env: process.env,
    projectionOf: orderProjection,
    migrations: MIGRATIONS.folder,
    published: { topic: TOPICS.orders.name, objectType: 'order' },
  });
};

process.exitCode = await run();
