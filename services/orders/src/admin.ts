import { TOPICS } from '@cpg/contracts';
import { addEnvironmentCommands, runServiceCommands, serviceCommands } from '@cpg/operations';
import { addDeadLetterCommands } from '@cpg/platform/kafka';
import { MIGRATIONS } from './migrations.ts';
import { orderProjection } from './read/order-projection.ts';

const { env } = process;
const program = serviceCommands({
  service: 'orders',
  env,
  projectionOf: orderProjection,
  migrations: MIGRATIONS.folder,
  published: { topic: TOPICS.orders.name, objectType: 'order' },
});
addDeadLetterCommands(program, env);
addEnvironmentCommands(program, env);
process.exitCode = await runServiceCommands(program, process.argv.slice(2));
